import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { prepared, type Tx, transactAsOperator } from '../../src/db/index.ts'
import { openDatabase } from '../../src/db/open.ts'
import { Batch } from '../../src/db/postgres/batch.ts'
import { transact } from '../../src/db/transact.ts'
import { makeApp, makeLicenses, makePremium, refusal, signUp, single, startProgram } from '../actors.ts'
import { openBreakingGate } from '../breaking-gate.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { makePostgresCopy, makePostgresDatabase, startServer } from '../harness.ts'
import { startPrivateCluster } from '../postgres-cluster.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const create = (fields = {}) =>
  owner.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(30), ...fields })

const countAudit = async () => {
  const { n } = await on.database.db
    .selectFrom('audit')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n
}

/** Records an action, and inserts a daily count last. */
const countDay = (day: number) =>
  transactAsOperator(on.database.db, { ownerId: owner.id, now: 1 }, async (write) => {
    write.record('license.deleted', null, { used: false, hint: 'A' }, null)
    const row = { app_id: app._id, owner_id: owner.id, metric: 'test' as never, day, n: 1 }
    write.last([prepared.insert(write.tx, 'daily_counts', [row])])
  })

/** What each round trip to the database sends. */
async function tripsOf(work: () => Promise<unknown>): Promise<string[][]> {
  if (on.database.dialect !== 'postgres') throw new Error('not PostgreSQL')
  const { pool } = on.database
  const run = pool.run.bind(pool) as (...args: unknown[]) => unknown
  const trips: string[][] = []
  pool.run = ((client: unknown, query: Batch | string | { text: string }, values: unknown) => {
    if (query instanceof Batch) trips.push(query.statements.map(({ text }) => text))
    else trips.push([typeof query === 'string' ? query : query.text])
    return run(client, query, values)
  }) as never
  await work().finally(() => {
    pool.run = run as never
  })
  // The change may have been sent to other nodes already.
  return trips.filter(([first]) => !first?.startsWith('select pg_notify'))
}

const committedEarly = [
  'set local synchronous_commit = off',
  'commit',
  expect.stringContaining('pg_logical_emit_message'),
]

test('sends the license, its record and the commit in one round trip', async () => {
  const trips = await tripsOf(async () => expect((await create()).status).toBe(201))
  expect(trips.at(-1)).toEqual([
    expect.stringContaining('insert into "audit"'),
    expect.stringContaining('insert into "audit_objects"'),
    expect.stringContaining('insert into "webhook_deliveries"'),
    expect.stringContaining('insert into "licenses"'),
    ...committedEarly,
  ])
})

test('counts an activation and its sign-in together with the commit: all of an app share these counts', async () => {
  const license = single(await makeLicenses(on, owner, app))
  const program = await startProgram(on, app)
  const body = { licenseKey: license.key, hwid: 'hw-1' }
  const trips = await tripsOf(async () => {
    expect((await program.call('POST', '/license', body)).status).toBe(200)
  })
  const counted = trips.filter((trip) => trip.some((text) => text.includes('insert into "daily_counts"')))
  expect(counted).toHaveLength(1)
  expect(counted[0]?.slice(-5)).toEqual([
    expect.stringContaining('insert into "daily_counts"'),
    expect.stringContaining('insert into "daily_counts"'),
    ...committedEarly,
  ])
})

test('rolls everything back and reports the error when a last statement fails', async () => {
  for (let day = 0; day < 12; day += 1) await countDay(day)
  const before = await countAudit()
  for (let again = 0; again < 3; again += 1) {
    await expect(countDay(0)).rejects.toMatchObject({ code: '23505' })
    expect(await countAudit()).toBe(before)
  }
  for (let day = 0; day < 12; day += 1) await countDay(100 + day)
  expect(await countAudit()).toBe(before + 12)
})

test.each([
  ['its first', [], { code: '23502' }, { code: '23502' }],
  ['a later', [1], { name: 'AbortedTransactionError' }, { code: '25P02' }],
])(
  'reports no commit after a caller ignored that %s statement failed',
  async (_which, before, alone, last) => {
    const work = async (tx: Tx) => {
      for (const value of before) await sql`select ${value}`.execute(tx)
      await tx
        .insertInto('daily_counts')
        .values({ app_id: 'none' } as never)
        .execute()
        .catch(() => {})
    }
    await expect(transact(on.database.db, work)).rejects.toMatchObject(alone)
    const recorded = transactAsOperator(on.database.db, { ownerId: owner.id, now: 1 }, async (write) => {
      write.record('license.deleted', null, { used: false, hint: 'A' }, null)
      await work(write.tx)
    })
    await expect(recorded).rejects.toMatchObject(last)
  },
)

test.each([
  ['a migration changes the types of its columns', 'alter table typed alter column id type bigint'],
  ['its prepared statements are gone', 'deallocate all'],
])('replaces a connection after %s', async (_why, change) => {
  const database = openDatabase({ url: await makePostgresDatabase(), dataDir: '' })
  try {
    await sql`create table typed as select 1 as id`.execute(database.db)
    const read = (tx: Tx) => sql`select id from typed where id = ${1}`.execute(tx)
    for (let use = 0; use < 10; use += 1) await transact(database.db, read)
    await sql.raw(change).execute(database.db)
    await expect(transact(database.db, read)).rejects.toThrow()
    expect((await transact(database.db, read)).rows).toEqual([{ id: 1 }])
  } finally {
    await database.close()
  }
})

test('stores texts of many rows like those of one', async () => {
  const { db } = on.database
  const texts = ['a "quote", a \\ and\t\n', 'ünïcödé 🔑 \u2028', 'half \ud83d.', '{"a":[1]}', '']
  const rows = texts.map((target_id, at) => ({
    id: `aud_text${at}`,
    owner_id: owner.id,
    actor_kind: 'operator' as const,
    actor_id: 'test',
    action: 'license.deleted' as const,
    target_id,
    created_at: 1_792_000_000_000,
  }))
  const find = async () => {
    const found = db.selectFrom('audit').selectAll().where('id', 'like', 'aud_text%').orderBy('id')
    return (await found.execute()).map(({ seq, ...row }) => row)
  }
  const clear = () => db.deleteFrom('audit').where('id', 'like', 'aud_text%').execute()
  await db.transaction().execute((tx) => tx.executeQuery(prepared.insert(tx, 'audit', rows)))
  const together = await find()
  await clear()
  for (const row of rows) await db.insertInto('audit').values(row).execute()
  expect(together).toEqual(await find())
  expect(together.map((row) => row.target_id)).toEqual(texts.map((text) => text.toWellFormed()))
  await clear()
})

test('a revoked permission to confirm commits fails one call; later commits confirm themselves', async () => {
  const direct = new URL(await makePostgresDatabase())
  const name = direct.pathname.slice(1)
  const admin = new pg.Client({ connectionString: direct.toString() })
  await admin.connect()
  await admin.query(
    `create role "${name}" login password 'secret'; alter database "${name}" owner to "${name}"`,
  )
  const url = Object.assign(new URL(direct), { username: name, password: 'secret' }).toString()
  const node = await startServer({ DATABASE_URL: url })
  try {
    const vendor = await signUp(node)
    await makePremium(node, vendor)
    const own = await makeApp(vendor)
    const body = { app: own._id, expiresAt: node.clock.inDays(30) }
    expect((await vendor.call('POST', '/licenses', body)).status).toBe(201)
    const revoke = "format('revoke execute on function %s from public', found::regprocedure)"
    await admin.query(`do $$ declare found oid; begin
      for found in select oid from pg_proc where proname = 'pg_logical_emit_message' loop execute ${revoke};
      end loop; end $$`)
    expect(refusal(await vendor.call('POST', '/licenses', body))).toBe('database_unavailable')
    for (let more = 0; more < 3; more += 1) {
      expect((await vendor.call('POST', '/licenses', body)).status).toBe(201)
    }
    expect((await vendor.call('GET', '/licenses')).json.data.pagination.total).toBe(5)
  } finally {
    await node.close()
    await admin.query(
      `reassign owned by "${name}" to current_user; drop owned by "${name}"; drop role "${name}"`,
    )
    await admin.end()
  }
})

describe('a connection that breaks', () => {
  test.each([
    ['before the last statements arrive', 'before', 0],
    ['after the commit, before its confirmation', 'after', 1],
  ] as const)('%s answers 503 and leaves all or nothing', async (_which, when, stored) => {
    const gate = await openBreakingGate(
      new URL(await makePostgresCopy()),
      'pg_logical_emit_message(true',
      when,
    )
    const node = await startServer({ DATABASE_URL: gate.url })
    try {
      const vendor = await signUp(node)
      await makePremium(node, vendor)
      const own = await makeApp(vendor)
      const body = { app: own._id, expiresAt: node.clock.inDays(30) }
      gate.arm()
      expect(refusal(await vendor.call('POST', '/licenses', body))).toBe('database_unavailable')
      const { json } = await vendor.call('GET', '/licenses')
      expect(json.data.pagination.total).toBe(stored)
      const records = await node.database.db
        .selectFrom('audit')
        .select('id')
        .where('action', '=', 'licenses.created')
        .execute()
      expect(records).toHaveLength(stored)
      expect((await vendor.call('POST', '/licenses', body)).status).toBe(201)
    } finally {
      await node.close()
      gate.close()
    }
  })
})

test('a crash of PostgreSQL right after the confirmation loses no license', async () => {
  // Commits that nothing confirms would stay in memory for ten seconds.
  const cluster = await startPrivateCluster({ synchronous_commit: 'on', wal_writer_delay: '10s' })
  const node = await startServer({ DATABASE_URL: cluster.url })
  try {
    const vendor = await signUp(node)
    await makePremium(node, vendor)
    const own = await makeApp(vendor)
    const made = await Promise.all(Array.from({ length: 12 }, () => makeLicenses(node, vendor, own)))
    await cluster.crash()
    await cluster.restart()
    const read = () => vendor.call('GET', '/licenses?limit=200')
    await expect.poll(async () => (await read()).status).toBe(200)
    const { json } = await read()
    const kept = json.data.licenses.map((license: { key: string }) => license.key)
    expect(new Set(kept)).toEqual(new Set(made.map((licenses) => single(licenses).key)))
  } finally {
    await node.close()
    await cluster.stop()
  }
})
