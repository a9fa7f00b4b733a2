import type { Db, Tx } from '../../db/open.ts'

// Session ids come from the resolved token of a call, never from its input, so these functions take no scope.

export interface NewSession {
  id: string
  app_id: string
  token_hash: string
  secret_version: number
  created_at: number
  expires_at: number
}

export async function insertSession(db: Db, session: NewSession): Promise<void> {
  await db
    .insertInto('client_sessions')
    .values({ ...session, client_id: null, hwid_hash: null })
    .execute()
}

/** Signs a session in as an end user; false if the session has ended meanwhile. */
export async function signSessionIn(
  tx: Tx,
  id: string,
  user: { clientId: string; hwidHash: string | null; expiresAt: number },
): Promise<boolean> {
  const row = await tx
    .updateTable('client_sessions')
    .set({ client_id: user.clientId, hwid_hash: user.hwidHash, expires_at: user.expiresAt })
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

export async function deleteSession(db: Db, id: string): Promise<void> {
  await db.deleteFrom('client_sessions').where('id', '=', id).execute()
}

export async function extendSessions(tx: Tx, ids: readonly string[], expiresAt: number): Promise<void> {
  await tx.updateTable('client_sessions').set({ expires_at: expiresAt }).where('id', 'in', ids).execute()
}
