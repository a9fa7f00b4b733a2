import { sql } from 'kysely'
import { hour } from '../../core/clock.ts'
import type { OwnerScope } from '../../core/ctx.ts'
import type { Db, Tx } from '../../db/open.ts'
import type { DailyMetric } from '../../db/tables.ts'

/** Counts per UTC day from `firstDay` on, of an owner or of one app that is known to be the owner's. */
export async function dailyCounts(
  db: Db,
  scope: OwnerScope,
  filter: { appId?: string | undefined; firstDay: number },
): Promise<{ day: number; metric: DailyMetric; n: number }[]> {
  const query = db
    .selectFrom('daily_counts')
    .select((eb) => ['day', 'metric', eb.fn.sum<number>('n').as('n')])
    .where('owner_id', '=', scope.ownerId)
    .where('metric', 'in', ['licenses', 'clients', 'activations', 'sign_ins'])
    .where('day', '>=', filter.firstDay)
    .groupBy(['day', 'metric'])
  const rows = await (filter.appId === undefined ? query : query.where('app_id', '=', filter.appId)).execute()
  return rows.map((row) => ({ ...row, n: Number(row.n) }))
}

export async function addToDay(
  tx: Tx,
  row: { appId: string; ownerId: string; day: number; metric: DailyMetric },
): Promise<void> {
  await tx
    .insertInto('daily_counts')
    .values({ app_id: row.appId, owner_id: row.ownerId, day: row.day, metric: row.metric, n: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['app_id', 'metric', 'day'])
        .doUpdateSet((eb) => ({ n: eb('daily_counts.n', '+', 1) })),
    )
    .execute()
}

/** How many used licenses end after `from` and until `to`: whole hours from their counts, the two broken ones row by row. */
export async function countEnding(
  db: Db,
  scope: OwnerScope,
  span: { from: number; to: number },
): Promise<number> {
  const [first, last] = [Math.floor(span.from / hour), Math.floor(span.to / hour)]
  const { n } = await db
    .selectFrom('license_counts')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('n'), eb.lit(0)).as('n'))
    .where('owner_id', '=', scope.ownerId)
    .where('used', '=', 1)
    .where('bucket', '>', first)
    .where('bucket', '<=', last)
    .executeTakeFirstOrThrow()
  const before = await countRows(db, scope, { from: first * hour, to: span.from })
  const after = await countRows(db, scope, { from: last * hour, to: span.to })
  return Number(n) - before + after
}

async function countRows(db: Db, scope: OwnerScope, span: { from: number; to: number }): Promise<number> {
  const { n } = await db
    .selectFrom('licenses')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('owner_id', '=', scope.ownerId)
    .where('used', '=', 1)
    .where('expires_at', '>', span.from)
    .where('expires_at', '<=', span.to)
    .executeTakeFirstOrThrow()
  return Number(n)
}

export async function countResellers(
  db: Db,
  scope: OwnerScope,
  span: { from: number; to: number },
): Promise<{ total: number; within: number; before: number }> {
  const length = span.to - span.from
  const count = (from: number, to: number) =>
    sql<number>`coalesce(sum(case when created_at > ${from} and created_at <= ${to} then 1 else 0 end), 0)`
  const { total, within, before } = await db
    .selectFrom('resellers')
    .select((eb) => [
      eb.fn.countAll<number>().as('total'),
      count(span.from, span.to).as('within'),
      count(span.from - length, span.from).as('before'),
    ])
    .where('owner_id', '=', scope.ownerId)
    .executeTakeFirstOrThrow()
  return { total, within, before }
}
