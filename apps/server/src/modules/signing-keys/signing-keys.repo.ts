import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import type { Db, Tx } from '../../db/open.ts'
import type { AppRow, SigningKeyRow } from '../../db/tables.ts'

/** Locks the app until the transaction ends and announces a change of its keys; undefined if there is no such app. */
export const lockKeys = (tx: Tx, scope: OwnerScope, appId: string): Promise<AppRow | undefined> =>
  tx
    .updateTable('apps')
    .set({ signing_version: sql`signing_version + 1` })
    .where('owner_id', '=', scope.ownerId)
    .where('id', '=', appId)
    .returningAll()
    .executeTakeFirst()

/** The stored keys of an app, newest first; none while it has only its first one. */
export const listKeys = (db: Db, scope: OwnerScope, appId: string): Promise<SigningKeyRow[]> =>
  db
    .selectFrom('signing_keys')
    .selectAll()
    .where('owner_id', '=', scope.ownerId)
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
    .where('owner_id', '=', scope.ownerId)
    .where('app_id', '=', appId)
    .where('kid', '=', kid)
    .execute()

/** Sets the key that signs for programs that name none. */
export const setUsualKey = (tx: Tx, scope: OwnerScope, appId: string, key: SigningKeyRow) =>
  tx
    .updateTable('apps')
    .set({ signing_kid: key.kid, signing_public: key.public_key, signing_sealed: key.sealed })
    .where('owner_id', '=', scope.ownerId)
    .where('id', '=', appId)
    .execute()
