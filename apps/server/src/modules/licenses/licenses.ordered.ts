import { allApps } from '../../core/actor.ts'
import type { Tx, WriteTransaction } from '../../db/index.ts'
import type { LicenseRow, LicenseTypeRow } from '../../db/tables.ts'
import { lockWithUsersLicenses } from '../entitlements/license-locks.ts'
import { lockLicenses } from './licenses.repo.ts'
import { changeType, takenBy } from './licenses.type.ts'

// Licenses that an order created: the caller has found the order, whose licenses are its owner's.

/** Locks licenses with all that a change of them can change, until the transaction ends. */
export async function lockOrdered(tx: Tx, ownerId: string, ids: readonly string[]): Promise<LicenseRow[]> {
  if (ids.length === 0) return []
  await lockWithUsersLicenses(tx, allApps(ownerId), ids)
  return lockLicenses(tx, allApps(ownerId), ids)
}

/** Gives a locked license another type and the end of that type. The caller has locked the type before the license. */
export async function giveType(
  write: WriteTransaction,
  license: LicenseRow,
  type: LicenseTypeRow,
  source: Parameters<typeof changeType>[3],
): Promise<void> {
  const scope = allApps(license.owner_id)
  await changeType(
    write,
    scope,
    await takenBy(write.tx, scope, license.id, type, { end: 'type', now: write.now }),
    source,
  )
}
