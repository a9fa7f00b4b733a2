import { isDeepStrictEqual } from 'node:util'
import type { OwnerScope } from '../../core/actor.ts'
import { lastInstant } from '../../core/clock.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import { displayedEnd, never } from '../../db/stored-end.ts'
import type { LicenseRow } from '../../db/tables.ts'
import { countToday } from '../daily-counts/daily-counts.service.ts'
import { redeem } from '../entitlements/entitlements.service.ts'
import { timeOfKey } from '../entitlements/grants.changes.ts'
import { changeAccess } from '../entitlements/grants.ts'
import { rightsEnd, rightsOf } from '../entitlements/terms.rules.ts'
import type { FirstLicense } from '../licenses/licenses.access.ts'
import { countTrial } from '../sales/sales.count.ts'
import type { LockedEndUser } from './end-users.access.ts'

/**
 * Adds a key to an end user: its remaining time and, for that time, its features, and its devices or seats if they are
 * more. The caller has locked both. Returns the end user as it is then; undefined if the key is used.
 */
export async function addKey(
  write: WriteTransaction,
  app: OwnerScope & { id: string },
  { client, first }: { client: LockedEndUser; first: FirstLicense | undefined },
  license: LicenseRow,
  addsNothing: () => Error,
): Promise<LockedEndUser | undefined> {
  const { tx, now } = write
  const key = await redeem(tx, app, license, client.id, now)
  if (!key) return undefined
  const [changed] = await changeAccess(write, app, { clients: [client.id] }, (holder) => ({
    added: [timeOfKey(holder, key, now)],
  }))
  const holder = changed?.after
  if (!holder?.client) throw problem('internal')
  const after = { ...client, ...holder.client }
  if (client.expires_at === never) {
    const last = holder.access.rights.find((one) => one.license === key.id)
    const at = Math.min(lastInstant, last ? rightsEnd(last) - 1 : now)
    const [without, withKey] = [client, after].map((row) => rightsOf(first, row, at))
    if (isDeepStrictEqual(without, withKey)) throw addsNothing()
  }
  const expiresAt = displayedEnd(holder.access, now)
  write.record('license.redeemed', key.id, { endUserId: client.id, expiresAt }, app.id)
  countToday(write, app, 'activations')
  if (first?.trial === 1) await countTrial(write, key.id)
  return after
}
