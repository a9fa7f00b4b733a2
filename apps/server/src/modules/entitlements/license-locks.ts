import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { foundInScope, isIn, lockAll, type Tx, takeLocks } from '../../db/index.ts'

/** Licenses, and end users with theirs. */
export interface Which {
  licenses?: readonly string[]
  clients?: readonly string[]
}

/**
 * Locks licenses, those of end users, and the other licenses of their end users until the transaction ends: a change of one
 * can change the end of another.
 */
export const lockLicensesOf = (
  tx: Tx,
  scope: OwnerScope,
  { licenses = [], clients = [] }: Which,
): Promise<void> =>
  takeLocks(tx, () => {
    const users = tx
      .selectFrom('licenses as u')
      .select('u.client_id')
      .where(isIn(tx, 'u.id', licenses))
      .where('u.client_id', 'is not', null)
    const all = tx
      .selectFrom('licenses')
      .select('id')
      .where(({ or }) =>
        or([
          isIn(tx, 'id', licenses),
          isIn(tx, 'client_id', clients),
          sql<boolean>`client_id = any(array(${users}))`,
        ]),
      )
      .where(foundInScope(scope, 'licenses'))
    return lockAll(tx, all)
  })
