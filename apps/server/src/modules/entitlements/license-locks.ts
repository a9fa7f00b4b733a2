import type { OwnerScope } from '../../core/actor.ts'
import { isIn, needsLocks, ownerOf, type Tx } from '../../db/open.ts'

/** Locks the licenses of end users until the transaction ends, and one that is about to be added. */
export const lockLicensesOf = (
  tx: Tx,
  scope: OwnerScope,
  clientIds: readonly string[],
  licenseId?: string,
): Promise<void> => lock(tx, scope, licenseId === undefined ? [] : [licenseId], clientIds)

/**
 * Locks licenses and the other licenses of their end users until the transaction ends: a change of one can change the
 * end of another.
 */
export async function lockWithUsersLicenses(
  tx: Tx,
  scope: OwnerScope,
  ids: readonly string[],
): Promise<void> {
  if (!needsLocks(tx)) return
  const used = await tx
    .selectFrom('licenses')
    .select('client_id')
    .distinct()
    .where(isIn(tx, 'id', ids))
    .where('client_id', 'is not', null)
    .where('owner_id', '=', scope.ownerId)
    .execute()
  await lock(
    tx,
    scope,
    ids,
    used.map((row) => row.client_id).filter((id) => id !== null),
  )
}

async function lock(
  tx: Tx,
  scope: OwnerScope,
  ids: readonly string[],
  clientIds: readonly string[],
): Promise<void> {
  if (!needsLocks(tx) || ids.length + clientIds.length === 0) return
  await tx
    .selectFrom('licenses')
    .select('id')
    .where(({ or }) => or([isIn(tx, 'id', ids), isIn(tx, 'client_id', clientIds)]))
    .where(ownerOf('licenses'), '=', scope.ownerId)
    .orderBy('id')
    .forUpdate()
    .execute()
}
