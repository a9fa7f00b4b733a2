import type { ChildProcess } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lockDataDir } from '../src/db/sqlite/data-dir.ts'
import { writeMoved } from '../src/db/sqlite/moved.ts'
import { runKeyward, runKeywardInHost } from './command-line.ts'
import { fillEveryTable } from './every-table.ts'
import { killedBefore } from './killed-before.ts'
import { copyMigratedFile, makeDataDir } from './migrated.ts'
import { createTargets, expectSameRows, type MoveTargets } from './move-targets.ts'
import { type ProgramApp, signed, signInProgram } from './program-process.ts'
import { rounds } from './rounds.ts'
import { callOver, startProcess } from './server-process.ts'

const names = [
  'keyward_move_first',
  'keyward_move_second',
  'keyward_move_third',
  'keyward_move_taken',
] as const
const [first, second, third, taken] = names
const bulk = rounds(1000, 5000)
let targets: MoveTargets
let dataDir: string
/** The data directory of a stopped server with two vendors, to be copied. */
let ofVendors: string

beforeAll(async () => {
  targets = await createTargets(names)
  dataDir = await makeDataDir('keyward-move-')
  ofVendors = mkdtempSync(join(tmpdir(), 'keyward-move-'))
})
afterAll(async () => {
  await targets.stop()
  for (const folder of [dataDir, ofVendors]) rmSync(folder, { recursive: true, force: true })
})

const urlOf = (name: string) => targets.urlOf(name)
const ask = <Row extends object>(name: string, text: string) => targets.ask<Row>(name, text)
const move = (to: string, ...options: string[]) =>
  runKeywardInHost(['move', urlOf(to), ...options], { DATA_DIR: dataDir })
const expiresAt = new Date(Date.now() + 30 * 86_400_000).toISOString()
const credentials = { email: 'ann@example.com', password: 'correct horse' }

/** Lets a program sign in with a new license; returns the headers of its session. */
async function signInNew(url: string, token: string, app: ProgramApp) {
  const { json } = await callOver(url, 'POST', '/licenses', { token, body: { app: app._id, expiresAt } })
  return signInProgram(url, app, json.data.license.key, 'computer-of-a-move')
}

/** Whether a server would start there, as a command would. */
const mayServe = async (environment: { DATA_DIR: string }) =>
  (await runKeywardInHost(['owner', 'list'], environment)).code === 0

/** Kills the command when it has begun to copy, and returns its exit code. */
const killedMove = () =>
  runKeyward(['move', urlOf(first)], { DATA_DIR: dataDir }, (started) =>
    started.stderr?.once('data', () => started.kill('SIGKILL')),
  )

test('a move brings every row of every table to PostgreSQL, after a kill too', async () => {
  const old = await startProcess({ DATA_DIR: dataDir })
  const joined = await callOver(old.url, 'POST', '/auth/register', { body: { ...credentials, name: 'Ann' } })
  const { token } = joined.json.data
  const other = { ...credentials, email: 'bea@example.com', name: 'Bea' }
  expect((await callOver(old.url, 'POST', '/auth/register', { body: other })).status).toBe(201)
  const made = await callOver(old.url, 'POST', '/apps', { token, body: { name: 'Été 𝄞' } })
  expect(made.status).toBe(201)
  const session = await signInNew(old.url, token, made.json.data.app)
  await old.end('SIGTERM')
  cpSync(dataDir, ofVendors, { recursive: true })

  const path = join(dataDir, 'keyward.db')
  fillEveryTable(path, bulk)
  await ask(taken, 'create table of_somebody (id int)')
  const refused = await move(taken)
  expect(refused.stderr).toContain('is not empty: it has rows or a table in of_somebody')
  const withOtherKey = { DATA_DIR: dataDir, SECRET_KEY: 'k'.repeat(32) }
  const unsealed = await runKeywardInHost(['move', urlOf(first)], withOtherKey)
  expect(unsealed).toMatchObject({ code: 1, stderr: expect.stringContaining('SECRET_KEY') })

  const killed = await killedMove()
  expect(killed.code).not.toBe(0)
  expect(killed.stderr).toMatch(/^Copied /)
  expect((await runKeywardInHost(['migrate', '--status'], { DATA_DIR: dataDir })).code).toBe(0)
  const { code, stdout, stderr } = await move(first, '--json')
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`licenses: ${bulk + 1} rows`),
  })

  const report = JSON.parse(stdout)
  await expectSameRows(targets, first, path, report.tables)

  expect((await move(first)).stdout).toContain('An earlier run has moved everything')
  expect((await move(second)).stderr).toContain('was moved to')
  await expect(startProcess({ DATA_DIR: dataDir })).rejects.toThrow('set DATABASE_URL and SECRET_KEY')

  const SECRET_KEY = readFileSync(join(dataDir, 'secret.key'), 'utf8').trim()
  const server = await startProcess({
    DATABASE_URL: urlOf(first),
    SECRET_KEY,
    DATA_DIR: join(dataDir, 'node'),
    DEFAULT_PLAN: 'premium',
  })
  try {
    const profile = await callOver(server.url, 'GET', '/apps', { token })
    expect(profile.status).toBe(200)
    // The invented rows are Ann's, and no sign-in could read them.
    const entered = await callOver(server.url, 'POST', '/auth/login', {
      body: { ...credentials, email: 'bea@example.com' },
    })
    expect(entered.status).toBe(200)
    const ofProgram = await callOver(server.url, 'GET', '/client/session', { headers: signed(session) })
    expect(ofProgram.status).toBe(200)
    // Counts go on from the copied ones, numbers after the highest, and triggers work again.
    const app = made.json.data.app._id
    const [before] = await ask<{ n: number }>(
      first,
      `select license_count as n from apps where id = '${app}'`,
    )
    const [highest] = await ask<{ n: string }>(first, 'select max(seq) as n from licenses')
    const body = { app, expiresAt, count: 2 }
    const added = await callOver(server.url, 'POST', '/licenses', { token, body })
    expect(added.status).toBe(201)
    const [after] = await ask<{ n: number }>(first, `select license_count as n from apps where id = '${app}'`)
    const [next] = await ask<{ n: string }>(first, 'select max(seq) as n from licenses')
    expect(after?.n).toBe((before?.n ?? 0) + 2)
    expect(Number(next?.n)).toBe(Number(highest?.n) + 2)
  } finally {
    await server.end('SIGTERM')
  }
})

test('a row that differs in PostgreSQL stops the move, and nothing is kept', async () => {
  const directory = join(dataDir, 'another')
  cpSync(ofVendors, directory, { recursive: true })
  const moveIt = () => runKeywardInHost(['move', urlOf(second)], { DATA_DIR: directory })

  // An operator who started a server on the target has written to it.
  const seen = await startProcess({
    DATABASE_URL: urlOf(second),
    SECRET_KEY: 'k'.repeat(32),
    DATA_DIR: dataDir,
  })
  await seen.end('SIGTERM')
  const indexes = () =>
    ask(second, 'select indexdef from pg_indexes where schemaname = current_schema() order by 1')
  const before = await indexes()
  expect((await moveIt()).stderr).toContain('is not empty: it has rows or a table in meta')
  await ask(second, 'delete from meta')

  // Stands for whatever changes a row on its way.
  await ask(
    second,
    `create rule changed as on insert to accounts where new.name = 'Ann'
    do also update accounts set name = 'Bob'`,
  )
  const refused = await moveIt()
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('The rows of accounts are not the same in PostgreSQL')
  expect(await ask(second, 'select 1 from owners')).toEqual([])
  await ask(second, 'drop rule changed on accounts')
  expect(await mayServe({ DATA_DIR: directory })).toBe(true)

  const release = lockDataDir(directory)
  expect((await moveIt()).stderr).toContain('Another Keyward server is running')
  release()

  const url = Object.assign(new URL(urlOf(second)), { password: 'hidden', port: '1' }).href
  const away = await runKeywardInHost(['move', url], { DATA_DIR: directory })
  expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining('PostgreSQL: ') })
  expect(away.stderr).not.toContain('hidden')
  expect((await moveIt()).code).toBe(0)
  expect(before.length).toBeGreaterThan(50)
  expect(await indexes()).toEqual(before)
})

test('a move that is killed in its last phases leaves the data in one place', async () => {
  const directory = join(dataDir, 'third')
  cpSync(ofVendors, directory, { recursive: true })
  const environment = { DATA_DIR: directory }
  const url = urlOf(third)
  const moveIt = () => runKeywardInHost(['move', url, '--json'], environment)
  const kill = (step: number) => runKeyward(['move', url], { ...environment, ...killedBefore(step) })
  // Everything is copied, and nothing says so yet.
  expect((await kill(1)).stderr).toContain('Compared all rows')
  expect(await mayServe(environment)).toBe(true)

  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  const waiting = async () => (await holder.query('select 1 from pg_locks where not granted')).rowCount
  const killDuringCommit = async () => {
    await onCommit('perform pg_advisory_xact_lock(1);')
    let child: ChildProcess | undefined
    const killed = runKeyward(['move', url], environment, (started) => {
      child = started
    })
    await expect.poll(waiting).toBe(1)
    child?.kill('SIGKILL')
    expect((await killed).code).not.toBe(0)
    expect(await mayServe(environment)).toBe(false)
  }
  try {
    await holder.query('select pg_advisory_lock(1)')
    await killDuringCommit()
    await expect(startProcess(environment)).rejects.toThrow('was interrupted: repeat it')
    await ask(
      third,
      `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'keyward move' and datname = current_database()`,
    )
    // The next one finds that nothing was committed; its own commit fails, and a server may run.
    await onCommit(`raise exception 'no space left' using errcode = '53100';`)
    expect((await moveIt()).stderr).toContain('PostgreSQL: no space left')
    expect(await mayServe(environment)).toBe(true)

    await killDuringCommit()
    await holder.query('select pg_advisory_unlock(1)')
    const find = () => ask(third, `select 1 from meta where name = 'moved'`)
    await expect.poll(find).toHaveLength(1)
    expect(await mayServe(environment)).toBe(false)
    const repeated = await moveIt()
    expect(repeated).toMatchObject({ code: 0, stdout: expect.stringContaining('"tables": []') })
    expect(await mayServe(environment)).toBe(false)
    expect(await ask(third, 'select name from accounts order by 1')).toEqual([
      { name: 'Ann' },
      { name: 'Bea' },
    ])
    expect(await ask(third, 'select 1 from pg_constraint where not convalidated')).toEqual([])

    // It had said that everything is there, but not in the folder of the embedded database.
    const path = join(directory, 'moved.json')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"done":true', '"done":false'))
    expect((await kill(1)).code).not.toBe(0)
    expect(await mayServe(environment)).toBe(false)
    expect((await moveIt()).stdout).toContain('"tables": []')
  } finally {
    await holder.end()
  }
})

test.skipIf(!existsSync('/proc/self/fd'))('a command that waited for a move fails', async () => {
  const directory = join(dataDir, 'fourth')
  await copyMigratedFile(directory)
  const environment = { DATA_DIR: directory }
  const database = new DatabaseSync(join(directory, 'keyward.db'))
  database.exec('begin immediate')
  const waiting = runKeyward(['coupon', 'set', 'LATE', '--percent', '10'], environment, ({ pid }) => {
    const folder = `/proc/${pid}/fd`
    const isOpen = () => readdirSync(folder).some((name) => readlinkSync(join(folder, name)).endsWith('.db'))
    void expect
      .poll(isOpen)
      .toBe(true)
      .then(() => {
        writeMoved(directory, { id: 'a move', to: 'another place', done: true })
        database.close()
      })
  })
  expect(await waiting).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('was moved to another place'),
  })
})

/** Runs statements at the commit of a move to the third database, which has tables. */
const onCommit = (does: string) =>
  ask(
    third,
    `create or replace function at_commit() returns trigger language plpgsql as
      $$ begin ${does} return null; end $$;
    drop trigger if exists at_commit on meta;
    create constraint trigger at_commit after insert on meta deferrable initially deferred
      for each row execute function at_commit()`,
  )
