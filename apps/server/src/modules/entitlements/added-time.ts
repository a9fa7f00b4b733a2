import type { OwnerScope } from '../../core/ctx.ts'
import { never } from '../../db/ends.ts'
import { ownerOf, type Tx } from '../../db/open.ts'
import type { LicenseRow } from '../../db/tables.ts'
import { afterReturn, afterTaking } from './added-time.rules.ts'
import { withEnd } from './ends.ts'

// A key that `upgrade` adds stores the time that it gave, so that deleting or banning it takes back that time and no
// more. A date that the owner sets replaces the end: keys added before have then given nothing.

/** A license as the undoing of an upgrade needs it. */
export type AddedKey = Pick<LicenseRow, 'id' | 'client_id' | 'term' | 'added_ms' | 'taken_ms'>

/** Stores the time that a key just added gave its end user. */
export async function setAddedTime(
  tx: Tx,
  scope: OwnerScope,
  licenseId: string,
  addedMs: number,
): Promise<void> {
  await tx
    .updateTable('licenses')
    .set({ added_ms: addedMs, taken_ms: null })
    .where('id', '=', licenseId)
    .where('owner_id', '=', scope.ownerId)
    .execute()
}

/** Takes back the time that keys gave, for a ban or a deletion. The caller has locked them. */
export const takeBack = (tx: Tx, scope: OwnerScope, keys: readonly AddedKey[], now: number): Promise<void> =>
  forEachUser(tx, scope, keys, async (end, key) => {
    if (key.taken_ms !== null || key.added_ms === null) return end
    // Without an end, only the key that removed it can be taken back.
    const isKept = end === never && key.term !== 'forever'
    const { after, takenMs } = afterTaking(end, isKept ? 0 : key.added_ms, now)
    await setTaken(tx, scope, key.id, takenMs)
    return after
  })

/** Gives back what the bans of keys took. The caller has locked them. */
export const giveBack = (tx: Tx, scope: OwnerScope, keys: readonly AddedKey[]): Promise<void> =>
  forEachUser(tx, scope, keys, async (end, key) => {
    if (key.taken_ms === null) return end
    await setTaken(tx, scope, key.id, null)
    if (end === never || (key.term === 'forever' && key.taken_ms > 0)) return never
    return afterReturn(end, key.taken_ms)
  })

/** After the end of an end user was set or lost as a whole, no added key has a part in it. */
export async function forgetAddedTime(
  tx: Tx,
  scope: OwnerScope,
  clientIds: readonly string[],
): Promise<void> {
  await tx
    .updateTable('licenses')
    .set((eb) => ({
      added_ms: 0,
      taken_ms: eb.case().when('taken_ms', 'is', null).then(null).else(0).end(),
    }))
    .where('client_id', 'in', clientIds)
    .where('added_ms', 'is not', null)
    .where(ownerOf('licenses'), '=', scope.ownerId)
    .execute()
}

async function setTaken(tx: Tx, scope: OwnerScope, id: string, takenMs: number | null): Promise<void> {
  await tx
    .updateTable('licenses')
    .set({ taken_ms: takenMs })
    .where('id', '=', id)
    .where('owner_id', '=', scope.ownerId)
    .execute()
}

/** Changes the ends of the keys' end users, and of their first licenses, key by key. */
async function forEachUser(
  tx: Tx,
  scope: OwnerScope,
  keys: readonly AddedKey[],
  change: (end: number, key: AddedKey) => Promise<number>,
): Promise<void> {
  const added = keys.filter((key) => key.added_ms !== null && key.client_id !== null)
  for (const [clientId, ofUser] of [...Map.groupBy(added, (key) => key.client_id as string)].sort()) {
    const user = await tx
      .updateTable('clients')
      .set((eb) => ({ id: eb.ref('id') }))
      .where('id', '=', clientId)
      .where('owner_id', '=', scope.ownerId)
      .returning(['expires_at', 'license_id'])
      .executeTakeFirst()
    if (!user) continue
    let end = user.expires_at
    for (const key of ofUser) end = await change(end, key)
    if (end === user.expires_at) continue
    await tx.updateTable('clients').set({ expires_at: end }).where('id', '=', clientId).execute()
    if (user.license_id === null) continue
    await tx
      .updateTable('licenses')
      .set(withEnd(end))
      .where('id', '=', user.license_id)
      .where('client_id', '=', clientId)
      .execute()
  }
}
