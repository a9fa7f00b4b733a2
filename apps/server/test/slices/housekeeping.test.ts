import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { tablesOf } from '../../src/db/owned-tables.ts'
import { modules } from '../../src/modules/index.ts'
import { tidy } from '../../src/modules/system/housekeeping.ts'
import type { Ctx } from '../../src/service/ctx.ts'
import { makeApp, makeLicenses } from '../actors.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { transactionsOn } from '../harness.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)

const ctx = () => {
  const parts: Partial<Ctx> = {
    clock: on.clock,
    config: on.config,
    database: on.database,
    db: on.database.db,
    seal: on.seal,
    tx: transactionsOn(on.database, on.clock),
  }
  return parts as Ctx
}

const counts = tablesOf(modules).filter(({ isCount }) => isCount)
const countTables = counts.map(({ name }) => name)

const size = async (table: string) => {
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.raw(table)}`.execute(
    on.database.db,
  )
  return Number(rows[0]?.n)
}

test('deletes thousands of empty counts in slices and keeps counts of existing rows', async () => {
  const app = await makeApp(owner)
  await makeLicenses(on, owner, app, 3)
  const many = Array.from({ length: 3000 }, (_, at) => 5_000_000 + at)
  for (const table of countTables) {
    const column = table.endsWith('counts') ? 'bucket' : 'block'
    const used = table.startsWith('license') ? ', used' : ''
    const rows = many.map((at) => sql`(${app._id}, ${owner.id}, ${at}, ${used ? sql`0, ` : sql``} 0, 0)`)
    await sql`insert into ${sql.raw(table)} (app_id, owner_id, ${sql.raw(column + used)}, banned, n)
      values ${sql.join(rows)}`.execute(on.database.db)
  }
  const slices: number[] = []
  const limited = vi.fn<Ctx['tx']>((actor, work, options) =>
    ctx().tx(
      actor,
      async (write) => {
        const before = (await Promise.all(countTables.map(size))).reduce((sum, n) => sum + n)
        const result = await work(write)
        slices.push(before)
        return result
      },
      options,
    ),
  )
  await tidy({ ...ctx(), tx: limited as Ctx['tx'] }, modules)
  const removed = slices.slice(1).map((before, at) => (slices[at] ?? 0) - before)
  expect(Math.max(...removed)).toBeLessThanOrEqual(1000)
  expect(await Promise.all(countTables.map(size))).toEqual([1, 1, 0, 0])
  expect((await owner.call('GET', `/apps/${app._id}/stats`)).json.data.stats.totalLicenses).toBe(3)
})

test('deletes expired attempt windows and keeps the others', async () => {
  const now = on.clock.now()
  const rows = Array.from({ length: 250 }, (_, at) => ({ key: `old-${at}`, count: 1, window_ends: now - at }))
  await on.database.db
    .insertInto('attempts')
    .values([...rows, { key: 'running', count: 1, window_ends: now + 1 }])
    .execute()
  await tidy(ctx(), modules)
  const left = await on.database.db.selectFrom('attempts').select('key').execute()
  expect(left).toEqual([{ key: 'running' }])
})
