import type { OwnerScope } from '../../core/actor.ts'
import { foundInScope, inScope, isIn, lockAll, type Tx, takeLocks } from '../../db/index.ts'

/** Locks the licenses of end users until the transaction ends, and one that is about to be added. */
export const lockLicensesOf = (
  tx: Tx,
  scope: OwnerScope,
  clientIds: readonly string[],
  licenseId?: string,
): Promise<void> => lockLicenses(tx, scope, licenseId === undefined ? [] : [licenseId], clientIds)

/**
 * Locks licenses and the other licenses of their end users until the transaction ends: a change of one can change the
 * end of another.
 */
export async function lockWithUsersLicenses(
  tx: Tx,
  scope: OwnerScope,
  ids: readonly string[],
): Promise<void> {
  await takeLocks(tx, async () => {
    const used = await tx
      .selectFrom('licenses')
      .select('client_id')
      .distinct()
      .where(isIn(tx, 'id', ids))
      .where('client_id', 'is not', null)
      .where(inScope(scope))
      .execute()
    const clientIds = used.map((row) => row.client_id).filter((id) => id !== null)
    await lockLicenses(tx, scope, ids, clientIds)
  })
}

async function lockLicenses(
  tx: Tx,
  scope: OwnerScope,
  ids: readonly string[],
  clientIds: readonly string[],
): Promise<void> {
  if (ids.length + clientIds.length === 0) return
  const licenses = tx
    .selectFrom('licenses')
    .select('id')
    .where(({ or }) => or([isIn(tx, 'id', ids), isIn(tx, 'client_id', clientIds)]))
    .where(foundInScope(scope, 'licenses'))
  await takeLocks(tx, () => lockAll(tx, licenses).execute())
}
