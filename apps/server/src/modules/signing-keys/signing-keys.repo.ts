import type { OwnerScope } from '../../core/actor.ts'
import { type Db, inScope, type Tx } from '../../db/index.ts'
import type { SigningKeyRow } from '../../db/tables.ts'

/** The stored keys of an app, newest first; none while it has only its first one. */
export const listKeys = (db: Db, scope: OwnerScope, appId: string): Promise<SigningKeyRow[]> =>
  db
    .selectFrom('signing_keys')
    .selectAll()
    .where(inScope(scope))
    .where('app_id', '=', appId)
    .orderBy('number', 'desc')
    .execute()

export const insertKey = (tx: Tx, row: SigningKeyRow) => tx.insertInto('signing_keys').values(row).execute()

export const setStatus = (
  tx: Tx,
  scope: OwnerScope,
  appId: string,
  kid: string,
  status: SigningKeyRow['status'],
) =>
  tx
    .updateTable('signing_keys')
    .set({ status })
    .where(inScope(scope))
    .where('app_id', '=', appId)
    .where('kid', '=', kid)
    .execute()
