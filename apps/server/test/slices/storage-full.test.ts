// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { randomBytes } from 'node:crypto'
import { chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { day, hour } from '../../src/core/clock.ts'
import { activateKey, makeApp, makeLicenses, makePremium, type Owner, refusal, signUp } from '../actors.ts'
import { type Answer, makePostgresDatabase, startServer, type TestServer } from '../harness.ts'
import { unprivilegedAccount } from '../postgres-cluster.ts'
import { mountSmallDisk, type SmallDisk } from '../small-disk.ts'

const isPostgres = process.env.TEST_DATABASE === 'postgres'
const isPrivate = process.env.DATABASE_URL_TEST === undefined

interface Limited {
  environment: Record<string, string>
  /** Leaves a few bytes. */
  fill(on: TestServer, spare?: number): void
  empty(on: TestServer): void
  remove(): Promise<void>
}

/** A database on a small file system; without permission to mount one, an embedded database with a page limit. */
async function limitedStorage(): Promise<Limited | undefined> {
  if (isPostgres) return isPrivate ? postgresOn(mountSmallDisk(64)) : undefined
  const disk = mountSmallDisk(32)
  if (!disk) return limitedPages
  return {
    environment: { DATA_DIR: join(disk.path, 'data') },
    fill: (_, spare) => disk.fill(spare),
    empty: disk.empty,
    remove: async () => disk.unmount(),
  }
}

const limitedPages: Limited = {
  environment: {},
  fill: (on, spare = 0) => setPages(on, 1, spare / 4096),
  empty: (on) => setPages(on, 1_000_000_000),
  remove: async () => {},
}

function setPages({ database }: TestServer, most: number, spare = 0): void {
  if (database.dialect !== 'sqlite') return
  const { database: file } = database.handles.writer
  // SQLite accepts no limit below the current size, so the database cannot grow further than `spare`.
  const { max_page_count: pages } = file.prepare(`pragma max_page_count = ${most}`).get() ?? {}
  if (spare > 0) file.exec(`pragma max_page_count = ${Number(pages) + spare}`)
}

async function postgresOn(disk: SmallDisk | undefined): Promise<Limited | undefined> {
  if (!disk) return undefined
  const { uid = 0, gid = 0 } = unprivilegedAccount()
  const location = join(disk.path, 'space')
  mkdirSync(location)
  chownSync(location, uid, gid)
  const tablespace = `small_${randomBytes(4).toString('hex')}`
  const admin = async (statement: string) => {
    const client = new pg.Client({ connectionString: inject('postgresUrl') })
    await client.connect()
    await client.query(statement)
    await client.end()
  }
  await admin(`create tablespace ${tablespace} location '${location}'`)
  const url = await makePostgresDatabase(tablespace)
  return {
    environment: { DATABASE_URL: url },
    fill: (_, spare) => disk.fill(spare),
    empty: disk.empty,
    remove: async () => {
      await admin(`drop database ${new URL(url).pathname.slice(1)} with (force)`)
      await admin(`drop tablespace ${tablespace}`)
      disk.unmount()
    },
  }
}

const storage = await limitedStorage()

describe.skipIf(storage === undefined)('a full disk', () => {
  let on: TestServer
  let owner: Owner
  let app: Awaited<ReturnType<typeof makeApp>>
  const limited = storage ?? limitedPages

  beforeAll(async () => {
    on = await startServer(limited.environment)
    owner = await signUp(on)
    await makePremium(on, owner)
    app = await makeApp(owner)
  })
  afterAll(async () => {
    await on.close()
    await limited.remove()
  })

  afterEach(() => limited.empty(on))

  const write = () =>
    owner.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(30), count: 100 })

  /** Writes until the disk is full, including space that the database has reserved. */
  async function fillDisk(before: () => unknown = () => {}) {
    for (let writes = 0; writes < 200; writes += 1) {
      await before()
      limited.fill(on)
      const answer = await write()
      if (answer.status !== 201) return answer
    }
    throw new Error('the disk did not fill up')
  }

  test('on a filling disk every concurrent writer gets a correct response', async () => {
    const noteOf = (at: number) => `writer ${at} ${randomBytes(80).toString('hex')}`
    const create = (note: string, count: number) =>
      owner.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(30), note, count })
    const acknowledged = new Map<string, boolean>()
    // On SQLite, those of more than 50 are written by another thread.
    const counts = [40, 60]
    limited.fill(on)
    for (let round = 0; round < 40; round += 1) {
      const notes = Array.from({ length: 16 }, (_, at) => noteOf(100 * round + at))
      const answers = await Promise.all(notes.map((note, at) => create(note, counts[at % 2] ?? 0)))
      for (const [at, answer] of answers.entries()) {
        // PostgreSQL may end a connection that finds no space; whether its write was stored stays open.
        if (answer.status === 503 && on.database.dialect === 'postgres') continue
        if (answer.status !== 201) expect(refusal(answer)).toBe('storage_full')
        acknowledged.set(notes[at] ?? '', answer.status === 201)
      }
      if (answers.every(({ status }) => status !== 201)) break
      limited.fill(on)
    }
    const rows = await on.database.db
      .selectFrom('licenses')
      .select(['note', ({ fn }) => fn.countAll<number>().as('n')])
      .groupBy('note')
      .execute()
    const stored = new Map(rows.map(({ note, n }) => [note, Number(n)]))
    for (const [note, isAcknowledged] of acknowledged) {
      const count = counts[Number(note.split(' ')[1]) % 2]
      expect(stored.get(note)).toBe(isAcknowledged ? count : undefined)
    }
    expect([...acknowledged.values()]).toContain(false)
    limited.empty(on)
    await expect.poll(async () => (await on.call('GET', '/ready')).status).toBe(200)
  })

  test('an import on a filling disk is stored as a whole or not at all, and completed soon after there is space', async () => {
    const own = await makeApp(owner)
    const rows = 400
    const csv = `expiresAt,note\n${`2027-01-31,${'n'.repeat(180)}\n`.repeat(rows)}`
    let [accepted, rejected] = [0, 0]
    for (let round = 0; round < 60 && rejected < 6; round += 1) {
      // Sometimes enough to store the import, but not its licenses.
      limited.fill(on, (round % 4) * 524_288)
      const answer = await owner.call('POST', '/licenses/import', { app: own._id, csv, dryRun: false })
      if (answer.status === 200) accepted += 1
      else {
        if (answer.status !== 503) expect(refusal(answer)).toBe('storage_full')
        rejected += 1
      }
    }
    expect(rejected).toBe(6)
    limited.empty(on)
    await expect.poll(async () => (await on.call('GET', '/ready')).status).toBe(200)
    const { db } = on.database
    const interrupted = () =>
      db.selectFrom('data_imports').select('id').where('claimed_until', 'is not', null).execute()
    await expect.poll(interrupted).toEqual([])
    const { total } = (await owner.call('GET', `/licenses?app=${own._id}&limit=1`)).json.data.stats
    const records = await db
      .selectFrom('audit')
      .select('id')
      .where('action', '=', 'licenses.imported')
      .where('target_id', '=', own._id)
      .execute()
    expect(total).toBe(records.length * rows)
    expect(records.length).toBeGreaterThanOrEqual(accepted)
  })

  test('requests with an Idempotency-Key on a filling disk are done once by their repeats', async () => {
    const own = await makeApp(owner)
    const send = (at: number) =>
      on.call('POST', '/licenses', {
        token: owner.token,
        body: { app: own._id, expiresAt: on.clock.inDays(30), count: 60, note: 'n'.repeat(180) },
        headers: { 'idempotency-key': `full-${at}` },
      })
    const first: Answer[] = []
    for (let refused = 0; refused < 6 && first.length < 200; ) {
      // Sometimes enough to store the change, but not its answer.
      limited.fill(on, (first.length % 4) * 32_768)
      const answer = await send(first.length)
      if (answer.status !== 201) refused += 1
      if (answer.status !== 201 && answer.status !== 503) expect(refusal(answer)).toBe('storage_full')
      first.push(answer)
    }
    limited.empty(on)
    await expect.poll(async () => (await on.call('GET', '/ready')).status).toBe(200)
    for (const [at, answer] of first.entries()) {
      const repeated = await send(at)
      expect(repeated.status).toBe(201)
      if (answer.status === 201) expect(repeated.json).toEqual(answer.json)
    }
    const { stats } = (await owner.call('GET', `/licenses?app=${own._id}&limit=1`)).json.data
    expect(stats.total).toBe(first.length * 60)
  })

  test('answers writes with storage_full, keeps reads and checks working, and recovers without a restart', async () => {
    const { program, license } = await activateKey(on, owner, app)
    const count = async () => (await owner.call('GET', '/licenses?limit=1')).json.data.stats.total
    expect((await on.call('GET', '/ready')).status).toBe(200)

    expect(refusal(await fillDisk())).toBe('storage_full')
    let before = 0
    // PostgreSQL reuses space of refused writes, so another one may succeed.
    const again = await fillDisk(async () => {
      before = await count()
    })
    expect(refusal(again)).toBe('storage_full')
    expect(await count()).toBe(before)
    let ready = await on.call('GET', '/ready')
    for (; ready.status === 200; ready = await on.call('GET', '/ready')) await fillDisk()
    expect(refusal(ready)).toBe('unavailable')
    expect(ready.json.message).toContain('storage')
    expect((await on.call('GET', '/ready?for=checks')).status).toBe(200)
    expect((await on.call('GET', '/health')).status).toBe(200)

    // Both sessions are due for extension, which cannot be written.
    on.clock.advance(2 * hour)
    expect((await program.call('GET', '/session')).status).toBe(200)
    const check = { appId: app.appId, licenseKey: license.key }
    expect((await on.call('POST', '/client/validate', { body: check })).status).toBe(200)
    expect((await owner.call('GET', '/licenses?search=a')).status).toBe(200)

    limited.empty(on)
    await expect.poll(async () => (await on.call('GET', '/ready')).status).toBe(200)
    expect((await write()).status).toBe(201)
    expect(await count()).toBe(before + 100)
    expect(await makeLicenses(on, owner, app)).toHaveLength(1)
    on.clock.advance(day / 2)
    expect((await program.call('GET', '/session')).status).toBe(200)
  })
})
