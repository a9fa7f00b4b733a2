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

const pagesOf = async (index: string) => {
  const { rows } = await sql<{ pages: number }>`
    select gin_clean_pending_list(${index}::regclass) as pages`.execute(on.database.db)
  return rows[0]?.pages
}

test('sorts new licenses into the search indexes soon after their commit', async () => {
  if (on.database.dialect !== 'postgres') throw new Error('not PostgreSQL')
  const query = vi.spyOn(on.database.pool, 'query')
  await makeLicenses(on, owner, app, 100)
  const cleanings = () =>
    query.mock.results.filter((_, at) => query.mock.calls[at]?.[0].text.includes('gin_clean_pending_list'))
  await expect.poll(() => cleanings().length).toBeGreaterThan(0)
  await Promise.all(cleanings().map(({ value }) => value))
  const later = cleanings().length
  expect(await pagesOf('licenses_key_search')).toBe(0)
  expect(cleanings().length).toBe(later)

  // Without the server's own commit nothing is sorted: the check above can fail.
  await sql`insert into licenses (id, owner_id, app_id, key, key_normalized, expires_at, created_at)
    select 'lic_pending_' || n, ${owner.id}, ${app._id}, 'PENDING' || n, 'PENDING' || n, 1, 1
    from generate_series(1, 100) n`.execute(on.database.db)
  expect(await pagesOf('licenses_key_search')).toBeGreaterThan(0)
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
