import { sql } from 'kysely'
import type { OwnerScope } from '../../core/ctx.ts'
import type { Db, Tx } from '../../db/open.ts'
import type { OwnerRow } from '../../db/tables.ts'

export const findOwnerByEmail = (db: Db, emailNormalized: string): Promise<OwnerRow | undefined> =>
  db.selectFrom('owners').selectAll().where('email_normalized', '=', emailNormalized).executeTakeFirst()

/** For the operator: owners behind an address, in the order of their addresses. */
export const listOwnersAfter = (db: Db, emailNormalized: string, count: number): Promise<OwnerRow[]> =>
  db
    .selectFrom('owners')
    .selectAll()
    .where('email_normalized', '>', emailNormalized)
    .orderBy('email_normalized')
    .limit(count)
    .execute()

export const getOwner = (db: Db, scope: OwnerScope): Promise<OwnerRow> =>
  db.selectFrom('owners').selectAll().where('id', '=', scope.ownerId).executeTakeFirstOrThrow()

/** Reads an owner and locks it until the transaction ends. */
export const lockOwner = (tx: Tx, scope: OwnerScope): Promise<OwnerRow> =>
  tx
    .updateTable('owners')
    .set({ app_count: sql`app_count` })
    .where('id', '=', scope.ownerId)
    .returningAll()
    .executeTakeFirstOrThrow()

export async function insertOwner(
  tx: Tx,
  owner: Pick<OwnerRow, 'id' | 'name' | 'email' | 'email_normalized' | 'password_hash' | 'created_at'>,
): Promise<void> {
  await tx
    .insertInto('owners')
    .values({ ...owner, premium_until: null })
    .execute()
}

export async function updateOwner(
  tx: Tx,
  scope: OwnerScope,
  change: Partial<
    Pick<OwnerRow, 'email' | 'email_normalized' | 'password_hash' | 'premium_until' | 'premium_cancelled_at'>
  >,
): Promise<void> {
  await tx.updateTable('owners').set(change).where('id', '=', scope.ownerId).execute()
}

export interface SessionRow {
  id: string
  owner_id: string
  token_hash: string
  created_at: number
  expires_at: number
}

export async function insertSession(tx: Tx, session: SessionRow): Promise<void> {
  await tx.insertInto('owner_sessions').values(session).execute()
}

export const findSession = (
  db: Db,
  tokenHash: string,
): Promise<Pick<SessionRow, 'id' | 'owner_id' | 'created_at' | 'expires_at'> | undefined> =>
  db
    .selectFrom('owner_sessions')
    .select(['id', 'owner_id', 'created_at', 'expires_at'])
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()

/** When a session began; undefined when it has ended. */
export async function findSessionStart(db: Db, scope: OwnerScope, id: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('owner_sessions')
    .select('created_at')
    .where('id', '=', id)
    .where('owner_id', '=', scope.ownerId)
    .executeTakeFirst()
  return row?.created_at
}

/** Which of these sessions are not over. */
export async function listOpenSessions(db: Db, ids: readonly string[], now: number): Promise<string[]> {
  const rows = await db
    .selectFrom('owner_sessions')
    .select('id')
    .where('id', 'in', ids)
    .where('expires_at', '>', now)
    .execute()
  return rows.map((row) => row.id)
}

export async function prolongSession(db: Db, id: string, expiresAt: number): Promise<void> {
  await db.updateTable('owner_sessions').set({ expires_at: expiresAt }).where('id', '=', id).execute()
}

export async function deleteSession(db: Db, scope: OwnerScope, id: string): Promise<void> {
  await db.deleteFrom('owner_sessions').where('id', '=', id).where('owner_id', '=', scope.ownerId).execute()
}

export async function deleteSessions(tx: Tx, scope: OwnerScope): Promise<void> {
  await tx.deleteFrom('owner_sessions').where('owner_id', '=', scope.ownerId).execute()
}
