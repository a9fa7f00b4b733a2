import type { Db, Tx } from '../../db/index.ts'

export type AccountKind = 'owner' | 'reseller'

/** The account of a reset link: a person, or a reseller. */
export interface ResetAccount {
  id: string
  /** Whose audit log records the request: the reseller's owner, or the vendor account that the person uses; null for none. */
  ownerId: string | null
}

export async function insertReset(
  tx: Tx,
  kind: AccountKind,
  { id }: ResetAccount,
  reset: { id: string; tokenHash: string; createdAt: number; expiresAt: number },
): Promise<void> {
  await tx
    .insertInto('password_resets')
    .values({
      id: reset.id,
      account_id: kind === 'owner' ? id : null,
      reseller_id: kind === 'owner' ? null : id,
      token_hash: reset.tokenHash,
      created_at: reset.createdAt,
      expires_at: reset.expiresAt,
    })
    .execute()
}

/** Takes no scope: the token itself identifies the account. */
export async function findAccount(
  db: Db,
  kind: AccountKind,
  tokenHash: string,
  now: number,
): Promise<ResetAccount | undefined> {
  const row = await db
    .selectFrom('password_resets as p')
    .leftJoin('resellers as r', 'r.id', 'p.reseller_id')
    .select(['p.account_id', 'p.reseller_id', 'r.owner_id'])
    .where('p.token_hash', '=', tokenHash)
    .where('p.expires_at', '>', now)
    .executeTakeFirst()
  const id = kind === 'owner' ? row?.account_id : row?.reseller_id
  return row && id ? { id, ownerId: row.owner_id } : undefined
}

/** Consumes a token; false if it was used, revoked or expired meanwhile. Takes no scope, like `findAccount`. */
export async function takeReset(tx: Tx, tokenHash: string, now: number): Promise<boolean> {
  const taken = await tx
    .deleteFrom('password_resets')
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .returning('id')
    .executeTakeFirst()
  return taken !== undefined
}
