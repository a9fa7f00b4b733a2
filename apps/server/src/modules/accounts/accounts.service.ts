import type { Updateable } from 'kysely'
import { type Db, lock, type Tx } from '../../db/index.ts'
import type { AccountRow, Tables } from '../../db/tables.ts'

// A person has no owner, so these functions take no scope: the caller has found the person by a session or a secret.

export const findAccountByEmail = (db: Db, emailNormalized: string): Promise<AccountRow | undefined> =>
  db.selectFrom('accounts').selectAll().where('email_normalized', '=', emailNormalized).executeTakeFirst()

export const getAccount = (db: Db, id: string): Promise<AccountRow> =>
  db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

/** Reads a person's account and locks the row until the transaction ends; undefined if it was deleted. */
export const lockAccount = (tx: Tx, id: string): Promise<AccountRow | undefined> =>
  lock(tx, tx.selectFrom('accounts').selectAll().where('id', '=', id)).executeTakeFirst()

export async function insertAccount(
  tx: Tx,
  account: Pick<AccountRow, 'id' | 'name' | 'email' | 'email_normalized' | 'password_hash' | 'created_at'>,
): Promise<void> {
  await tx
    .insertInto('accounts')
    .values({ ...account, last_owner_id: null })
    .execute()
}

/** Deletes a person's account, which owns no vendor account, with its memberships and sessions. */
export async function deleteAccount(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('accounts').where('id', '=', id).execute()
}

export async function updateAccount(
  tx: Tx,
  id: string,
  change: Updateable<Omit<Tables['accounts'], 'id' | 'created_at'>>,
): Promise<void> {
  await tx.updateTable('accounts').set(change).where('id', '=', id).execute()
}
