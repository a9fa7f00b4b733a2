import type { Db, Tx } from '../../db/open.ts'
import type { ClientRow } from '../../db/tables.ts'

export async function insertClient(tx: Tx, client: NewClient): Promise<void> {
  await tx.insertInto('clients').values(client).execute()
}

export const findByUsername = (
  db: Db,
  appId: string,
  usernameNormalized: string,
): Promise<ClientRow | undefined> =>
  db
    .selectFrom('clients')
    .selectAll()
    .where('app_id', '=', appId)
    .where('username_normalized', '=', usernameNormalized)
    .executeTakeFirst()

/** An end user of an app, for the programs of that app. */
export const findById = (db: Db, appId: string, id: string): Promise<ClientRow | undefined> =>
  db.selectFrom('clients').selectAll().where('app_id', '=', appId).where('id', '=', id).executeTakeFirst()

/** Locks the row until the transaction ends. */
export const lockClient = (tx: Tx, id: string): Promise<ClientRow | undefined> =>
  tx
    .updateTable('clients')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()

export async function updateClient(
  tx: Tx,
  id: string,
  change: Partial<Pick<ClientRow, 'banned' | 'hwid' | 'hwid_hash' | 'last_login_at' | 'password_hash'>>,
): Promise<void> {
  await tx.updateTable('clients').set(change).where('id', '=', id).execute()
}

/** Binds the hardware lock if nothing is bound yet; of several at once the first one stays. */
export async function bindHwid(tx: Tx, id: string, hwid: string, hwidHash: string): Promise<boolean> {
  const bound = await tx
    .updateTable('clients')
    .set({ hwid, hwid_hash: hwidHash })
    .where('id', '=', id)
    .where('hwid_hash', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return bound !== undefined
}

export type NewClient = Pick<
  ClientRow,
  | 'id'
  | 'owner_id'
  | 'app_id'
  | 'license_id'
  | 'username'
  | 'username_normalized'
  | 'email'
  | 'password_hash'
  | 'hwid'
  | 'hwid_hash'
  | 'expires_at'
  | 'last_login_at'
  | 'created_at'
>
