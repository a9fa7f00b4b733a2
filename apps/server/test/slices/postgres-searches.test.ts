import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { inNote } from '../../src/db/search.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

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
