import type { Tx } from '../../db/index.ts'
import type { AccountKind } from './password-resets.repo.ts'

/** Revokes every reset link of an account. */
export async function revokeResets(tx: Tx, kind: AccountKind, id: string): Promise<void> {
  const some = tx.deleteFrom('password_resets')
  await (kind === 'owner'
    ? some.where('owner_id', '=', id).where('reseller_id', 'is', null)
    : some.where('reseller_id', '=', id)
  ).execute()
}
