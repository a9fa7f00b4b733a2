import type { OwnerScope } from '../../core/actor.ts'
import { dayNumber } from '../../core/clock.ts'
import { type Db, inScope, query, type WriteTransaction } from '../../db/index.ts'
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
    .where(inScope(scope))
    .where('metric', 'in', ['licenses', 'clients', 'activations', 'sign_ins'])
    .where('day', '>=', filter.firstDay)
    .groupBy(['day', 'metric'])
  const rows = await (filter.appId === undefined ? query : query.where('app_id', '=', filter.appId)).execute()
  return rows.map((row) => ({ ...row, n: Number(row.n) }))
}

const addToDay = query((db, row: { appId: string; ownerId: string; day: number; metric: DailyMetric }) =>
  db
    .insertInto('daily_counts')
    .values({ app_id: row.appId, owner_id: row.ownerId, day: row.day, metric: row.metric, n: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['app_id', 'metric', 'day'])
        .doUpdateSet((eb) => ({ n: eb('daily_counts.n', '+', 1) })),
    ),
)

/** Adds to today's count at the end of the transaction, because all activations and sign-ins of an app lock the same row. */
export function countToday(
  write: WriteTransaction,
  app: { id: string; ownerId: string },
  metric: 'activations' | 'sign_ins',
): void {
  const row = { appId: app.id, ownerId: app.ownerId, day: dayNumber(write.now), metric }
  write.last(async function* () {
    yield addToDay.with(write.tx, row)
  })
}
