import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { formsOfEmail, newPassword } from '../../core/ids.ts'
import { inScope, type Tx, type WriteTransaction } from '../../db/index.ts'
import { updateEndUser } from '../entitlements/end-user-rows.ts'

/** Removes an address, normalized, from up to `count` end users for whom programs sent it; returns how many. */
export async function forgetEmail(
  { tx }: WriteTransaction,
  actor: VendorActor,
  email: string,
  count: number,
): Promise<number> {
  const rows = await tx
    .selectFrom('clients')
    .select('id')
    .where(inScope(actor))
    .where((eb) => eb(eb.fn('lower', ['email']), 'in', formsOfEmail(email)))
    .limit(count)
    .execute()
  for (const { id } of rows) await updateEndUser(tx, actor, id, { email: null })
  return rows.length
}

/** Gives end users whose name is an address, normalized, another name. */
export async function forgetUsername(
  { tx }: WriteTransaction,
  actor: VendorActor,
  email: string,
): Promise<void> {
  for (const { id } of await namedLike(tx, actor, formsOfEmail(email))) {
    const username = `erased-${newPassword()}`
    const change = { username, username_normalized: username }
    await updateEndUser(tx, actor, id, change)
  }
}

const namedLike = (tx: Tx, scope: OwnerScope, usernames: readonly string[]) =>
  tx
    .selectFrom('apps as a')
    .innerJoin('clients as c', 'c.app_id', 'a.id')
    .select('c.id')
    .where('a.owner_id', '=', scope.ownerId)
    .where('c.username_normalized', 'in', usernames)
    .execute()
