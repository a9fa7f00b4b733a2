import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { foundInScope, isIn, lockAll, type Tx, takeLocks } from '../../db/index.ts'

/** Locks the licenses of end users until the transaction ends, and one that is about to be added. */
export const lockLicensesOf = (
  tx: Tx,
  scope: OwnerScope,
  clientIds: readonly string[],
  licenseId?: string,
): Promise<void> =>
  lockLicenses(tx, scope, [
    isIn(tx, 'client_id', clientIds),
    ...(licenseId === undefined ? [] : [isIn(tx, 'id', [licenseId])]),
  ])

/**
 * Locks licenses and the other licenses of their end users until the transaction ends: a change of one can change the
 * end of another.
 */
export const lockWithUsersLicenses = (tx: Tx, scope: OwnerScope, ids: readonly string[]): Promise<void> =>
  lockLicenses(tx, scope, [
    isIn(tx, 'id', ids),
    sql<boolean>`client_id in (select u.client_id from licenses u where ${isIn(tx, 'u.id', ids)}
      and u.client_id is not null)`,
  ])

const lockLicenses = (tx: Tx, scope: OwnerScope, any: ReturnType<typeof isIn>[]): Promise<void> =>
  takeLocks(tx, () => {
    const licenses = tx
      .selectFrom('licenses')
      .select('id')
      .where(({ or }) => or(any))
      .where(foundInScope(scope, 'licenses'))
    return lockAll(tx, licenses).execute()
  })
