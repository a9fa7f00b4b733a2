import type { Tx } from '../../db/index.ts'
import type { AccountKind } from './password-resets.repo.ts'

/** Revokes every reset link of an account. */
export async function revokeResets(tx: Tx, kind: AccountKind, id: string): Promise<void> {
  const column = kind === 'owner' ? 'account_id' : 'reseller_id'
  await tx.deleteFrom('password_resets').where(column, '=', id).execute()
}
