import type { Db, Tx } from '../../db/index.ts'

export type AccountKind = 'owner' | 'reseller'

/** The account of a reset link: an owner, or one of its resellers; `id` is the account's own id. */
export interface ResetAccount {
  ownerId: string
  id: string
}

export async function insertReset(
  tx: Tx,
  kind: AccountKind,
  account: ResetAccount,
  reset: { id: string; tokenHash: string; createdAt: number; expiresAt: number },
): Promise<void> {
  await tx
    .insertInto('password_resets')
    .values({
      id: reset.id,
      owner_id: account.ownerId,
      reseller_id: kind === 'owner' ? null : account.id,
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
    .selectFrom('password_resets')
    .select(['owner_id', 'reseller_id'])
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .where('reseller_id', kind === 'owner' ? 'is' : 'is not', null)
    .executeTakeFirst()
  return row && { ownerId: row.owner_id, id: row.reseller_id ?? row.owner_id }
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
