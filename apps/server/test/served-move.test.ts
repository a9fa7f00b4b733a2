import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lockDataDir } from '../src/db/sqlite/data-dir.ts'
import { Serving } from '../src/db/sqlite/serving.ts'
import { changeEveryTable, fillEveryTable, listObjects } from './every-table.ts'
import { createTargets, expectSameRows, type MoveTargets } from './move-targets.ts'
import { signed } from './program-process.ts'
import { isFull } from './rounds.ts'
import { ServedInstallation } from './served-move.ts'
import { callOver, startProcess } from './server-process.ts'

const names = [
  'keyward_served_changes',
  'keyward_served_load',
  'keyward_served_kills',
  'keyward_served_commits',
  'keyward_served_crash',
] as const
const [changes, loaded, kills, commits, crash] = names
let targets: MoveTargets

beforeAll(async () => {
  targets = await createTargets(names)
})
afterAll(() => targets.stop())

const startMoved = (installation: ServedInstallation, database: string) =>
  startProcess({
    DATABASE_URL: targets.urlOf(database),
    SECRET_KEY: readFileSync(join(installation.dataDir, 'secret.key'), 'utf8').trim(),
    DATA_DIR: join(installation.dataDir, 'node'),
    DEFAULT_PLAN: 'premium',
  })

/** Starts the server on the moved data, and compares it with what callers were told. */
async function expectNothingLost(installation: ServedInstallation, database: string) {
  const { licenses, deletions, sessions, token } = installation
  const rows = await targets.ask<{ id: string }>(database, 'select id from licenses')
  const there = new Set(rows.map(({ id }) => id))
  const known = [...licenses.values()].filter((id) => id !== undefined)
  expect(known.length).toBeGreaterThan(0)
  // A deletion without an answer may have happened.
  expect(known.filter((id) => !there.has(id) && !deletions.has(id))).toEqual([])
  expect(known.filter((id) => there.has(id) && deletions.get(id))).toEqual([])
  const server = await startMoved(installation, database)
  try {
    installation.server = server
    // Calls that got no answer are repeated, and make one license each.
    for (const [key, id] of licenses) {
      if (id !== undefined) continue
      expect((await installation.makeLicense(key)).status).toBe(201)
    }
    const [counted] = await targets.ask<{ n: string }>(
      database,
      `select (select count(*) from licenses) - (select sum(license_count) from apps) as n`,
    )
    expect(Number(counted?.n)).toBe(0)
    for (const session of sessions) {
      const { status } = await callOver(server.url, 'GET', '/client/session', { headers: signed(session) })
      expect(status).toBe(200)
    }
    expect((await callOver(server.url, 'GET', '/apps', { token })).status).toBe(200)
    const invalid = await targets.ask(database, 'select 1 from pg_constraint where not convalidated')
    expect(invalid).toEqual([])
  } finally {
    await server.end('SIGTERM')
  }
}

test('every row that changes during a move arrives as it is at the end', async () => {
  const installation = new ServedInstallation()
  const { dataDir } = installation
  const path = join(dataDir, 'keyward.db')
  await installation.start()
  await installation.server.end('SIGTERM')
  fillEveryTable(path, 50)
  listObjects(path)
  // Stands for a server, whose background work would change the invented rows.
  const release = lockDataDir(dataDir)
  const serving = new Serving(dataDir)
  const seen: boolean[] = []
  serving.onAway(({ done }) => seen.push(done))
  try {
    let changed = 0
    const writer = installation.holdLock()
    const { code, stdout, stderr } = await installation.move(targets.urlOf(changes), /Copied /, () => {
      changed = changeEveryTable(writer)
      writer.exec('commit')
      writer.close()
    })
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('meanwhile') })
    expect(changed).toBeGreaterThan(50)
    await expect.poll(() => seen.at(-1)).toBe(true)
    expect(serving.isAway).toBe(true)
    await expectSameRows(targets, changes, path, JSON.parse(stdout).tables)
  } finally {
    serving.close()
    release()
    await installation.end()
  }
})

test('a move of a serving installation loses no acknowledged write, and ends its server', async () => {
  const installation = new ServedInstallation()
  try {
    await installation.start()
    const { server } = installation
    installation.load()
    await expect.poll(() => installation.sessions.length).toBeGreaterThan(3)
    const before = installation.licenses.size
    const ended = new Promise((resolve) => server.process.once('exit', resolve))
    const { code, stdout, stderr } = await installation.move(targets.urlOf(loaded))
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('Writes pause now') })
    expect(await ended).toBe(0)
    await installation.endLoad()
    expect(server.output()).toContain('set DATABASE_URL and SECRET_KEY')
    expect(installation.licenses.size).toBeGreaterThan(before)
    expect(installation.checks).toBeGreaterThan(0)
    expect(JSON.parse(stdout).pauseSeconds).toBeGreaterThan(0)
    await expectNothingLost(installation, loaded)
  } finally {
    await installation.end()
  }
})

/** What an installation answers while it is moved. */
function watch(installation: ServedInstallation) {
  const mark = join(installation.dataDir, 'moved.json')
  const idOfMark = () => (existsSync(mark) ? JSON.parse(readFileSync(mark, 'utf8')).id : undefined)
  const readStatus = async () => {
    const [session = {}] = installation.sessions
    const headers = signed(session)
    return (await callOver(installation.server.url, 'GET', '/client/session', { headers })).status
  }
  return {
    idOfMark,
    expectServing: async () => {
      await expect.poll(async () => (await installation.makeLicense()).status).toBe(201)
      await expect.poll(readStatus).toBe(200)
      expect(idOfMark()).toBeUndefined()
    },
    expectAway: async () => {
      await expect.poll(readStatus).toBe(503)
      const { status, json } = await installation.makeLicense()
      expect({ status, code: json.code }).toEqual({ status: 503, code: 'database_unavailable' })
      expect((await callOver(installation.server.url, 'GET', '/health')).status).toBe(200)
    },
  }
}

const endConnection = (database: string) =>
  targets.ask(
    database,
    `select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'keyward move' and datname = current_database()`,
  )

test.skipIf(!isFull)('a move that is killed or fails before its end leaves the server serving', async () => {
  const installation = new ServedInstallation()
  const { expectServing } = watch(installation)
  const url = targets.urlOf(kills)
  try {
    await installation.start()
    await installation.makeSession()
    for (const line of [/^Copied /, /Compared all rows/, /written meanwhile/, /Writes pause now/]) {
      await installation.killMove(url, line)
      await expectServing()
    }

    const lock = installation.holdLock()
    const broken = await installation.move(url, /Compared all rows/, async () => {
      await endConnection(kills)
      lock.close()
    })
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('PostgreSQL: ') })
    await expectServing()

    await onCommit(kills, fullDisk)
    const full = await installation.move(url)
    expect(full).toMatchObject({ code: 1, stderr: expect.stringContaining('PostgreSQL: no space left') })
    await expectServing()
  } finally {
    await installation.end()
  }
})

const fullDisk = `raise exception 'no space left' using errcode = '53100';`
const lockedCommit = 'perform pg_advisory_xact_lock(1);'

/** Runs statements at the commit of a move to a database that has tables. */
const onCommit = (database: string, does: string) =>
  targets.ask(
    database,
    `create or replace function at_commit() returns trigger language plpgsql as
      $$ begin ${does} return null; end $$;
    drop trigger if exists at_commit on meta;
    create constraint trigger at_commit after insert on meta deferrable initially deferred
      for each row execute function at_commit()`,
  )

test('a move that is killed during its commit leaves the data in one place', async () => {
  const installation = new ServedInstallation()
  const { idOfMark, expectServing, expectAway } = watch(installation)
  const url = targets.urlOf(commits)
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  try {
    await installation.start()
    await installation.makeSession()
    await installation.killMove(url, /^Copied /)
    await onCommit(commits, lockedCommit)
    await holder.query('select pg_advisory_lock(1)')
    const killDuringCommit = async () => {
      const earlier = idOfMark()
      const killed = await installation.move(url, /Writes pause now/, async (move) => {
        await expect.poll(() => [undefined, earlier].includes(idOfMark())).toBe(false)
        await expectAway()
        await expect
          .poll(async () => (await holder.query('select 1 from pg_locks where not granted')).rowCount)
          .toBe(1)
        move.kill('SIGKILL')
      })
      expect(killed.code).not.toBe(0)
    }
    await killDuringCommit()
    await endConnection(commits)
    await expectAway()
    // The next one finds that nothing was committed, and lets the server go on.
    await onCommit(commits, fullDisk)
    expect((await installation.move(url)).code).toBe(1)
    await expectServing()
    await onCommit(commits, lockedCommit)
    await killDuringCommit()
    await holder.query('select pg_advisory_unlock(1)')
    const find = () => targets.ask(commits, `select 1 from meta where name = 'moved'`)
    await expect.poll(find).toHaveLength(1)
    await expectAway()
    const ended = new Promise((resolve) => installation.server.process.once('exit', resolve))
    const repeated = await installation.move(url)
    expect(repeated).toMatchObject({ code: 0, stdout: expect.stringContaining('"tables": []') })
    expect(await ended).toBe(0)
    await expectNothingLost(installation, commits)
  } finally {
    await holder.end()
    await installation.end()
  }
})

test.skipIf(!isFull)('a move outlasts the end of the server', async () => {
  const installation = new ServedInstallation()
  const url = targets.urlOf(crash)
  try {
    await installation.start()
    installation.load()
    await expect.poll(() => installation.sessions.length).toBeGreaterThan(0)
    const moved = await installation.move(url, /Compared all rows/, () => installation.server.end('SIGKILL'))
    expect(moved.code, moved.stderr).toBe(0)
    await installation.endLoad()
    await expect(installation.start()).rejects.toThrow('set DATABASE_URL and SECRET_KEY')
    await expectNothingLost(installation, crash)
  } finally {
    await installation.end()
  }
})
