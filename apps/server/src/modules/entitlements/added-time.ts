import type { OwnerScope } from '../../core/actor.ts'
import { foundInScope, inScope, isIn, lock, type Tx } from '../../db/index.ts'
import { never, toShownEnd } from '../../db/stored-end.ts'
import type { LicenseRow } from '../../db/tables.ts'
import { afterReturn, afterTaking } from './added-time.rules.ts'
import { withEnd } from './end-columns.ts'

// A key that `upgrade` adds stores the time that it gave, so that deleting or banning it takes back that time and no
// more. A key that removed the end stores the end before it, as a negative number: the term of a key can change later.
// A date that the owner sets replaces the end: keys added before have then given nothing.

/** A license as the undoing of an upgrade needs it. */
export type AddedKey = Pick<LicenseRow, 'id' | 'client_id' | 'added_ms' | 'taken_ms'>

/** Stores what a key just added changed: the end of its end user's access before and after. */
export async function setAddedTime(
  tx: Tx,
  scope: OwnerScope,
  licenseId: string,
  { before, after }: { before: number; after: number },
): Promise<void> {
  await tx
    .updateTable('licenses')
    .set({ added_ms: after === never ? -before : after - before, taken_ms: null })
    .where('id', '=', licenseId)
    .where(inScope(scope))
    .execute()
}

const removedEnd = (key: AddedKey) => key.added_ms !== null && key.added_ms < 0

/** Takes back the time that keys gave, for a ban or a deletion. The caller has locked them. */
export const takeBack = (tx: Tx, scope: OwnerScope, keys: readonly AddedKey[], now: number): Promise<void> =>
  // Keys that removed the end come first: the others then change the end that is restored.
  forEachUser(tx, scope, keys.toSorted(byRemoval), async (end, key) => {
    if (key.taken_ms !== null || key.added_ms === null) return end
    const hidden = end === never ? await hiddenEnd(tx, scope, key) : null
    if (removedEnd(key)) {
      await setTaken(tx, scope, key.id, 0)
      return end === never && hidden === null ? Math.max(-key.added_ms, now) : end
    }
    if (end === never && hidden === null) {
      await setTaken(tx, scope, key.id, 0)
      return end
    }
    const { after, takenMs } = afterTaking(hidden ?? end, key.added_ms, now)
    await setTaken(tx, scope, key.id, takenMs)
    return hidden === null ? after : hide(tx, scope, key, after)
  })

/** Returns the time that bans of keys took, when the bans are lifted. The caller has locked the keys. */
export const giveBack = (tx: Tx, scope: OwnerScope, keys: readonly AddedKey[]): Promise<void> =>
  forEachUser(tx, scope, keys, async (end, key) => {
    if (key.taken_ms === null) return end
    const hidden = end === never ? await hiddenEnd(tx, scope, key) : null
    await setTaken(tx, scope, key.id, null)
    if (removedEnd(key)) {
      const before = hidden ?? end
      if (before !== never) await setAddedTime(tx, scope, key.id, { before, after: never })
      return never
    }
    if (end === never && hidden === null) return never
    const after = afterReturn(hidden ?? end, key.taken_ms)
    return hidden === null ? after : hide(tx, scope, key, after)
  })

/**
 * Takes back the time that added keys gave to end users and that the keys themselves still have, before the keys are freed:
 * the next end user who redeems such a key gets this time again.
 */
export async function takeBackFreed(
  tx: Tx,
  scope: OwnerScope,
  clientIds: readonly string[],
  now: number,
): Promise<void> {
  const keys = await tx
    .selectFrom('licenses')
    .select(['id', 'client_id', 'added_ms', 'taken_ms', 'expires_at', 'grace_days'])
    .where(isIn(tx, 'client_id', clientIds))
    .where('added_ms', 'is not', null)
    .where(foundInScope(scope, 'licenses'))
    .execute()
  const atMostLeft = keys.map((key) => {
    const left = Math.max(0, (toShownEnd(key) ?? never) - now)
    return { ...key, added_ms: key.added_ms === null ? null : Math.min(key.added_ms, left) }
  })
  await takeBack(tx, scope, atMostLeft, now)
}

/** After the whole end of an end user was set or removed, added keys no longer contribute to it. */
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
    .where(isIn(tx, 'client_id', clientIds))
    .where('added_ms', 'is not', null)
    .where(foundInScope(scope, 'licenses'))
    .execute()
}

const byRemoval = (a: AddedKey, b: AddedKey) => Number(removedEnd(b)) - Number(removedEnd(a))

async function setTaken(tx: Tx, scope: OwnerScope, id: string, takenMs: number | null): Promise<void> {
  await tx
    .updateTable('licenses')
    .set({ taken_ms: takenMs })
    .where('id', '=', id)
    .where(inScope(scope))
    .execute()
}

/** The end that the other keys of an end user removed; null if none did. */
async function hiddenEnd(tx: Tx, scope: OwnerScope, key: AddedKey): Promise<number | null> {
  const row = await tx
    .selectFrom('licenses')
    .select('added_ms')
    .where('client_id', '=', key.client_id)
    .where('id', '<>', key.id)
    .where('added_ms', '<', 0)
    .where('taken_ms', 'is', null)
    .where(foundInScope(scope, 'licenses'))
    .limit(1)
    .executeTakeFirst()
  return row?.added_ms == null ? null : -row.added_ms
}

/** Changes the end that comes back when the keys that removed it are banned or deleted. */
async function hide(tx: Tx, scope: OwnerScope, key: AddedKey, end: number): Promise<number> {
  await tx
    .updateTable('licenses')
    .set({ added_ms: -end })
    .where('client_id', '=', key.client_id)
    .where('added_ms', '<', 0)
    .where(foundInScope(scope, 'licenses'))
    .execute()
  return never
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
    const found = tx
      .selectFrom('clients')
      .select(['expires_at', 'license_id'])
      .where('id', '=', clientId)
      .where(inScope(scope))
    const user = await lock(tx, found).executeTakeFirst()
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
