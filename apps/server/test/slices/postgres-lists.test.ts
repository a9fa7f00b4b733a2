import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { type OpenDatabase, openDatabase } from '../../src/db/open.ts'
import { analyzeTables } from '../../src/db/postgres/engine.ts'
import { transact } from '../../src/db/transact.ts'
import { makeApp, refusal, signUp } from '../actors.ts'
import { makePostgresDatabase, startServer } from '../harness.ts'
import { findPgBouncer, startPgBouncer } from '../pgbouncer.ts'

const settingsOf = async (db: OpenDatabase['db']) => {
  const { rows } = await sql<{ limit: string; workers: string; readOnly: string }>`
    select current_setting('statement_timeout') as limit, current_setting('transaction_read_only') as "readOnly",
      current_setting('max_parallel_workers_per_gather') as workers`.execute(db)
  return rows[0]
}

async function withDatabase(url: string, use: (database: OpenDatabase) => Promise<void>): Promise<void> {
  const database = openDatabase({ url, dataDir: '' })
  if (database.dialect === 'postgres') database.pool.waits.suspectAfterMs = 60_000
  try {
    await use(database)
  } finally {
    await database.close()
  }
}

const limited = { limit: '10s', workers: '0', readOnly: 'on' }
const free = { limit: '0', readOnly: 'off' }

test('limits the time of lists and searches alone', async () => {
  await withDatabase(await makePostgresDatabase(), async ({ lists, db }) => {
    for (let round = 0; round < 2; round += 1) {
      expect(await settingsOf(lists)).toEqual(limited)
      expect(await settingsOf(db)).toMatchObject(free)
    }
  })
})

test('keeps a lower limit of the operator, and lowers a higher one', async () => {
  for (const [timeout, kept] of [
    ['5s', '5s'],
    ['2min', '10s'],
  ] as const) {
    const url = new URL(await makePostgresDatabase())
    url.searchParams.set('options', `-c statement_timeout=${timeout}`)
    await withDatabase(`${url}`, async ({ lists }) => {
      expect((await settingsOf(lists))?.limit).toBe(kept)
    })
  }
})

test('a list leaves no open transaction after an error, and cannot write', async () => {
  await withDatabase(await makePostgresDatabase(), async ({ lists }) => {
    const failing = Array.from({ length: 12 }, () => sql`select 1 / 0`.execute(lists))
    for (const { status } of await Promise.allSettled(failing)) expect(status).toBe('rejected')
    await expect(sql`create table written (id integer)`.execute(lists)).rejects.toThrow(/read-only/)
    const values = ['plain', 'a "quoted", {one}', 'back\\slash', '']
    const { rows } = await sql`select unnest(${values}::text[]) as value`.execute(lists)
    expect(rows).toEqual(values.map((value) => ({ value })))
  })
})

test('a list that fails keeps its connection', async () => {
  await withDatabase(await makePostgresDatabase(), async ({ lists }) => {
    const find = () => sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(lists)
    const before = await find()
    await expect(sql`select 1 / 0`.execute(lists)).rejects.toThrow()
    expect((await find()).rows).toEqual(before.rows)
  })
})

test('the timer of a query_timeout in DATABASE_URL ends with the response', async () => {
  const url = new URL(await makePostgresDatabase())
  url.searchParams.set('query_timeout', '600000')
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  await withDatabase(`${url}`, async ({ db, lists }) => {
    const use = async () => {
      await sql`select 1`.execute(lists)
      await expect(sql`select 1 / 0`.execute(lists)).rejects.toThrow()
      await transact(db, (tx) => sql`select ${1}`.execute(tx))
    }
    await use()
    const before = timers()
    for (let round = 0; round < 10; round += 1) await use()
    expect(timers()).toBeLessThan(before + 10)
  })
})

const pgBouncer = findPgBouncer()

describe.skipIf(pgBouncer === undefined)('behind PgBouncer in transaction mode (needs pgbouncer)', () => {
  test('a list is limited, and leaves no limit to others', async () => {
    const pooler = await startPgBouncer(pgBouncer ?? '', await makePostgresDatabase())
    try {
      await withDatabase(pooler.url, async ({ lists, db }) => {
        const many = Array.from({ length: 24 }, async (_, at) =>
          at % 2 === 0
            ? expect(await settingsOf(lists)).toEqual(limited)
            : expect(await settingsOf(db)).toMatchObject(free),
        )
        await Promise.all(many)
      })
    } finally {
      await pooler.stop()
    }
  })
})

test('answers a list that takes too long with 503 and when to retry, and then lists again', async () => {
  const url = await makePostgresDatabase()
  const on = await startServer({ DATABASE_URL: url })
  const other = new pg.Client({ connectionString: url })
  try {
    const owner = await signUp(on)
    await makeApp(owner)
    await other.connect()
    await other.query(`alter database "${new URL(url).pathname.slice(1)}" set statement_timeout = '2s'`)
    await other.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`)
    await expect.poll(async () => (await on.call('GET', '/ready')).status).toBe(200)
    await other.query('begin')
    await other.query('lock table license_blocks in access exclusive mode')
    const refused = await owner.call('GET', '/licenses')
    expect(refused.status).toBe(503)
    expect(refusal(refused)).toBe('database_unavailable')
    expect(refused.headers['retry-after']).toBe('5')
    await other.query('rollback')
    expect((await owner.call('GET', '/licenses')).status).toBe(200)
  } finally {
    await other.end()
    await on.close()
  }
})

test('computes statistics of tables that have none, and of tables that have doubled', async () => {
  await withDatabase(await makePostgresDatabase(), async ({ db }) => {
    const add = sql`insert into loaded select n, 'some text of row ' || n from generate_series(1, 30000) n`
    await sql`create table loaded (id integer, text text)`.execute(db)
    await sql`create table small as select 1 as id`.execute(db)
    await add.execute(db)
    expect(await analyzeTables(db)).toEqual(['loaded'])
    expect(await analyzeTables(db)).toEqual([])
    await add.execute(db)
    await expect.poll(() => analyzeTables(db)).toEqual(['loaded'])
    const { rows } = await sql`select reltuples as n from pg_class where relname = 'loaded'`.execute(db)
    expect(rows).toEqual([{ n: 60_000 }])
  })
})
