import { sql } from 'kysely'
import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { openDatabase } from '../../src/db/open.ts'
import { analyzeTables } from '../../src/db/postgres/engine.ts'
import { makeLicenses } from '../actors.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { makePostgresDatabase } from '../harness.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)

const pendingEntries = async (): Promise<number> => {
  const { rows } = await sql<{ pending: number }>`
    select pending_tuples::int as pending from pgstatginindex('licenses_key_search')`.execute(on.database.db)
  return rows[0]?.pending ?? Number.NaN
}

test('sorts new licenses into the search indexes soon after their commit, also those of a commit while it sorts', async () => {
  if (on.database.dialect !== 'postgres') throw new Error('not PostgreSQL')
  await sql`create extension if not exists pgstattuple`.execute(on.database.db)
  const { pool } = on.database
  const ask = pool.query.bind(pool) as (query: { text: string }) => Promise<unknown>
  const { promise: held, resolve: go } = Promise.withResolvers<void>()
  let begun = 0
  vi.spyOn(pool, 'query').mockImplementation((async (query: { text: string }) => {
    if (query.text.includes('gin_clean_pending_list')) {
      begun += 1
      await held
    }
    return ask(query)
  }) as never)
  await makeLicenses(on, owner, app, 100)
  await expect.poll(() => begun).toBe(1)
  // An earlier sorting, or autovacuum, may have sorted them, so licenses are made again.
  await expect
    .poll(async () => {
      await makeLicenses(on, owner, app, 100)
      return pendingEntries()
    })
    .toBeGreaterThan(0)
  go()
  await expect.poll(() => begun).toBeGreaterThan(1)
  await expect.poll(pendingEntries).toBe(0)
})

test('keeps running after PostgreSQL refused to sort', async () => {
  if (on.database.dialect !== 'postgres') throw new Error('not PostgreSQL')
  const query = vi.spyOn(on.database.pool, 'query').mockRejectedValueOnce(new Error('refused'))
  query.mockClear()
  await makeLicenses(on, owner, app)
  await expect.poll(() => query.mock.calls.length).toBe(1)
  await makeLicenses(on, owner, app)
  await expect.poll(() => query.mock.calls.length).toBe(2)
})

test('leaves tables alone whose owner the account is a member of without its rights', async () => {
  const url = new URL(await makePostgresDatabase())
  const admin = new pg.Client({ connectionString: `${url}` })
  await admin.connect()
  const name = url.pathname.slice(1)
  const [account, group] = [`${name}_account`, `${name}_group`]
  await admin.query(`create role "${account}" noinherit; create role "${group}"`)
  const make = (table: string, owner: string) =>
    admin.query(`create table ${table} (words integer[]); alter table ${table} owner to "${owner}";
      create index ${table}_search on ${table} using gin (words);
      insert into ${table} select array[n] from generate_series(1, 20000) n`)
  try {
    await admin.query(`grant "${group}" to "${account}"`)
    await make('a_foreign', group)
    await make('own', account)
    url.searchParams.set('options', `-c role=${account}`)
    const database = openDatabase({ url: `${url}`, dataDir: '' })
    if (database.dialect !== 'postgres') throw new Error('not PostgreSQL')
    const query = vi.spyOn(database.pool, 'query')
    database.pool.pending.noteWrite()
    await expect.poll(() => query.mock.results.length).toBe(1)
    await query.mock.results[0]?.value
    expect(await analyzeTables(database.db)).toEqual(['own'])
    await database.close()
    const { rows } = await admin.query("select gin_clean_pending_list('own_search') as pages")
    expect(rows).toEqual([{ pages: 0 }])
  } finally {
    await admin.query(`drop table if exists own, a_foreign; drop role "${account}"; drop role "${group}"`)
    await admin.end()
  }
})
