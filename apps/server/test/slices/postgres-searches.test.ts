import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { inNote, textContains } from '../../src/db/lists/search.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { statementsOf } from '../statements.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)
const common = 400

beforeAll(async () => {
  const create = (count: number, note: string) =>
    owner.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(30), count, note })
  for (let made = 0; made < common; made += 100) await create(100, 'Summer sale 2026')
  for (const note of ['Partner Nordwind', 'Trial extended']) await create(100, note)
  await sql`analyze licenses`.execute(on.database.db)
})

interface Plan {
  'Plan Rows': number
  'Actual Rows': number
  'Rows Removed by Index Recheck'?: number
  Plans?: Plan[]
}

/** The plan of a search in notes by the index. */
const planOf = (text: string): Promise<Plan> =>
  on.database.db.transaction().execute(async (tx) => {
    await sql`set local enable_seqscan = off`.execute(tx)
    const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: Plan }] }>`
      explain (analyze, format json) select seq from licenses t where ${inNote('t.note', text)}`.execute(tx)
    return (rows[0] as NonNullable<(typeof rows)[0]>)['QUERY PLAN'][0].Plan
  })

test('a search for the words of a common note in another order reads none of its licenses', async () => {
  const plan = await planOf('2026 sale summer')
  expect(plan['Actual Rows']).toBe(0)
  expect(plan['Rows Removed by Index Recheck'] ?? 0).toBe(0)
  expect((await planOf('summer sale'))['Actual Rows']).toBe(common)
})

test('PostgreSQL knows how many licenses have a common note', async () => {
  const { 'Plan Rows': planned } = await planOf('sale 2026')
  expect(planned).toBeGreaterThan(common / 2)
  expect(planned).toBeLessThan(common * 2)
  expect((await planOf('nothing of this'))['Plan Rows']).toBeLessThan(common / 10)
})

test.each([
  ['/licenses', 'clients'],
  ['/clients', 'licenses'],
  ['/licenses/export?format=csv', 'clients'],
])('GET %s reads rows of %s by index, although reading all of them seems cheaper', async (path, other) => {
  const { db } = on.database
  await sql`insert into clients (id, owner_id, app_id, license_id, username, username_normalized, password_hash,
        expires_at, created_at)
      select 'usr_' || id, owner_id, app_id, id, 'user' || seq, 'user' || seq, 'x', expires_at, created_at from licenses
      on conflict do nothing`.execute(db)
  await sql`update licenses set used = 1, client_id = 'usr_' || id where client_id is null`.execute(db)
  await sql`analyze licenses, clients`.execute(db)
  const sent = await statementsOf(on.database, () => owner.call('GET', path))
  const page = sent.find(({ text }) => text.includes('app_public_id'))
  if (!page || on.database.dialect !== 'postgres') throw new Error('no statement reads the page')
  const { rows } = await on.database.pool.query({ text: `explain ${page.text}`, values: page.values ?? [] })
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toContain('SubPlan')
  expect(plan).not.toContain(`Seq Scan on ${other}`)
})

test.each([
  ['clients', 'email', 'clients_email_search'],
  ['devices', 'name', 'devices_name_search'],
])('a text in %s.%s is found through its index', async (table, column, index) => {
  const tx = await on.database.db.startTransaction().execute()
  await sql`set local enable_seqscan = off`.execute(tx)
  // With few rows, PostgreSQL prefers to read all of this one.
  await sql`drop index clients_email`.execute(tx)
  const { rows } = await sql<Record<'QUERY PLAN', string>>`explain select 1 from ${sql.table(table)} t
    where ${sql.ref(`t.${column}`)} is not null
      and ${textContains('trigrams', sql.ref(`t.${column}`), 'lovelace@engines')}`.execute(tx)
  await tx.rollback().execute()
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain(`Bitmap Index Scan on ${index}`)
})
