import { isDeepStrictEqual } from 'node:util'
import type { OwnerScope } from '../../core/actor.ts'
import { lastInstant } from '../../core/clock.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import { never, toShownEnd, toStoredEnd } from '../../db/stored-end.ts'
import type { LicenseRow } from '../../db/tables.ts'
import { countToday } from '../daily-counts/daily-counts.service.ts'
import { storeAddedRights } from '../entitlements/added-rights.ts'
import { setAddedTime } from '../entitlements/added-time.ts'
import { redeem, setEndUserEnd } from '../entitlements/entitlements.service.ts'
import { rightsOf } from '../entitlements/rights.rules.ts'
import { timeLeft } from '../entitlements/term.rules.ts'
import type { FirstLicense } from '../licenses/licenses.access.ts'
import { type LockedEndUser, lockEndUser } from './end-users.access.ts'

export interface AddedTo {
  client: LockedEndUser
  first: FirstLicense | undefined
}

/**
 * Adds a key to an end user: its remaining time, its features, and its devices or seats if they are more. The caller has
 * locked both. Returns the end user, and when its access ends then; undefined if the key is used.
 */
export async function addKey(
  write: WriteTransaction,
  app: OwnerScope & { id: string },
  { client, first }: AddedTo,
  license: LicenseRow,
  addsNothing: () => Error,
): Promise<{ after: LockedEndUser; endsAt: number } | undefined> {
  const { tx, now } = write
  if (!(await redeem(tx, app, license, client.id, now))) return undefined
  await storeAddedRights(tx, app, [client.id])
  const after = await lockEndUser(tx, app, client.id)
  if (!after) throw problem('internal')
  if (client.expires_at === never && isDeepStrictEqual(rightsOf(first, client), rightsOf(first, after)))
    throw addsNothing()
  const endsAt = await addTime(write, app, client, license)
  countToday(write, app, 'activations')
  return { after, endsAt }
}

/** Adds the time of a key that was just redeemed; returns when access of the end user ends then. */
async function addTime(
  write: WriteTransaction,
  app: OwnerScope & { id: string },
  client: LockedEndUser,
  key: LicenseRow,
): Promise<number> {
  const { tx, now } = write
  const hasNoEnd = client.expires_at === never
  const added = timeLeft(key, now)
  const base = Math.max(toShownEnd(client) ?? now, now)
  const end = hasNoEnd || added === null ? null : Math.min(lastInstant, base + added)
  const endsAt = toStoredEnd(end, client.grace_days)
  if (!hasNoEnd) await setEndUserEnd(tx, app, client.id, endsAt)
  const before = hasNoEnd ? now : toStoredEnd(base, client.grace_days)
  await setAddedTime(tx, app, key.id, { before, after: hasNoEnd ? now : endsAt })
  write.record('license.redeemed', key.id, { endUserId: client.id, expiresAt: end }, app.id)
  return endsAt
}
