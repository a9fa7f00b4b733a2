import type { OwnerScope } from '../../core/actor.ts'
import { dayNumber } from '../../core/clock.ts'
import { type Db, inScope, lock, prepared, type Tx, type WriteTransaction } from '../../db/index.ts'
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
    .where('metric', 'in', ['licenses', 'clients', 'activations', 'sign_ins', 'refusals'])
    .where('day', '>=', filter.firstDay)
    .groupBy(['day', 'metric'])
  const rows = await (filter.appId === undefined ? query : query.where('app_id', '=', filter.appId)).execute()
  return rows.map((row) => ({ ...row, n: Number(row.n) }))
}

const addToDay = prepared((db, row: { appId: string; ownerId: string; day: number; metric: DailyMetric }) =>
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
  write.last([addToDay.with(write.tx, row)])
}

export interface DailyRefusals {
  appId: string
  at: number
  times: number
}

/** Adds refusals to the counts of their days. An app that was deleted meanwhile has none. */
export async function countRefusals(tx: Tx, refusals: readonly DailyRefusals[]): Promise<void> {
  const counts = new Map<string, { appId: string; day: number; n: number }>()
  for (const { appId, at, times } of refusals) {
    const day = dayNumber(at)
    const key = `${appId} ${day}`
    counts.set(key, { appId, day, n: (counts.get(key)?.n ?? 0) + times })
  }
  if (counts.size === 0) return
  const ids = [...new Set(refusals.map(({ appId }) => appId))]
  // The lock holds until the commit, so that no deletion of an app fails the whole batch.
  const apps = await lock
    .shared(tx, tx.selectFrom('apps').select(['id', 'owner_id']).where('id', 'in', ids).orderBy('id'))
    .execute()
  const owners = new Map(apps.map((app) => [app.id, app.owner_id]))
  // Sorted, so that two nodes lock the counts in the same order.
  const rows = [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, { appId, day, n }]) => {
      const owner = owners.get(appId)
      return owner === undefined
        ? []
        : [{ app_id: appId, owner_id: owner, day, metric: 'refusals' as const, n }]
    })
  if (rows.length === 0) return
  await tx
    .insertInto('daily_counts')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['app_id', 'metric', 'day'])
        .doUpdateSet((eb) => ({ n: eb('daily_counts.n', '+', eb.ref('excluded.n')) })),
    )
    .execute()
}
