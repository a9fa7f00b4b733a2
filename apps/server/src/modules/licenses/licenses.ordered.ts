import { allApps } from '../../core/actor.ts'
import type { Tx, WriteTransaction } from '../../db/index.ts'
import type { LicenseTypeRow } from '../../db/tables.ts'
import { type Holder, lockHolders } from '../entitlements/grants.ts'
import { changeType, takenBy } from './licenses.type.ts'

// Licenses that an order created: the caller has found the order, whose licenses are its owner's.

/** Locks licenses with all that a change of them can change, until the transaction ends. */
export const lockOrdered = (tx: Tx, ownerId: string, ids: readonly string[]): Promise<Holder[]> =>
  lockHolders(tx, allApps(ownerId), { licenses: ids })

/** Gives a locked license another type and the end of that type. The caller has locked the type before the license. */
export async function giveType(
  write: WriteTransaction,
  holder: Holder,
  type: LicenseTypeRow,
  source: Parameters<typeof changeType>[3],
): Promise<void> {
  const scope = allApps(type.owner_id)
  const taken = await takenBy(write.tx, scope, holder, type, { end: 'type', now: write.now })
  await changeType(write, scope, taken, source)
}
