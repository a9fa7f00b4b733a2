import type { OwnerScope } from '../../core/actor.ts'
import { foundInScope, inScope, isIn, type Tx } from '../../db/index.ts'
import { toAddedRights } from './rights.rules.ts'

/**
 * Stores with end users what the keys that `upgrade` added to them allow, so that checks read no further table. Run it
 * after each change of such keys, in the same transaction. The caller has locked the keys.
 */
export async function storeAddedRights(
  tx: Tx,
  scope: OwnerScope,
  clientIds: readonly string[],
): Promise<void> {
  if (clientIds.length === 0) return
  const users = await tx
    .selectFrom('clients as c')
    .leftJoin('licenses as l', (join) =>
      join
        .onRef('l.client_id', '=', 'c.id')
        .on('l.banned', '=', 0)
        .on(({ eb, or }) => or([eb('c.license_id', 'is', null), eb('l.id', '<>', eb.ref('c.license_id'))])),
    )
    .select(['c.id', 'l.devices', 'l.seats', 'l.seat_timeout_seconds', 'l.features'])
    .where(isIn(tx, 'c.id', clientIds))
    .where(foundInScope(scope, 'c'))
    .where(({ eb, or }) => or([eb('c.added_features', 'is not', null), eb('l.id', 'is not', null)]))
    .orderBy('l.used_at')
    .orderBy('l.id')
    .execute()
  for (const [id, rows] of [...Map.groupBy(users, (row) => row.id)].sort()) {
    const keys = rows.flatMap(({ devices, seats, seat_timeout_seconds, features }) =>
      devices === null || features === null || seat_timeout_seconds === null
        ? []
        : { devices, seats, seat_timeout_seconds, features },
    )
    await tx
      .updateTable('clients')
      .set(toAddedRights(keys))
      .where('id', '=', id)
      .where(inScope(scope))
      .execute()
  }
}
