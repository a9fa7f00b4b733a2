import { sha256 } from '../../core/crypto.ts'
import { newId, newToken } from '../../core/ids.ts'
import type { Tx, WriteTransaction } from '../../db/index.ts'
import { type AccountKind, insertReset } from './password-resets.repo.ts'
import { resetPath } from './password-resets.text.ts'

/** Makes a link in place of those before it, with which a person chooses a password once; returns its path. */
export async function replaceResets(
  { tx, now }: WriteTransaction,
  accountId: string,
  expiresAt: number,
): Promise<string> {
  await revokeResets(tx, 'owner', accountId)
  const token = newToken('kwp')
  await insertReset(
    tx,
    'owner',
    { id: accountId, ownerId: null },
    {
      ...{ id: newId('rst'), tokenHash: sha256(token), createdAt: now, expiresAt },
    },
  )
  return resetPath('owner', token)
}

/** Revokes every reset link of an account. */
export async function revokeResets(tx: Tx, kind: AccountKind, id: string): Promise<void> {
  const column = kind === 'owner' ? 'account_id' : 'reseller_id'
  await tx.deleteFrom('password_resets').where(column, '=', id).execute()
}
