import { dayNumber } from '../../core/clock.ts'
import type { OwnerScope } from '../../core/ctx.ts'
import type { Db, Tx } from '../../db/open.ts'
import type { DailyMetric } from '../../db/tables/counts.ts'

/** Counts per UTC day since `firstDay`, of an owner or of one app that the caller has checked to be the owner's. */
export async function listDailyCounts(
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

async function addToDay(
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

/** Adds to today's count, in the transaction of the activation or sign-in. */
export const countToday = (
  tx: Tx,
  app: { id: string; owner_id: string },
  metric: 'activations' | 'sign_ins',
  now: number,
): Promise<void> => addToDay(tx, { appId: app.id, ownerId: app.owner_id, day: dayNumber(now), metric })
