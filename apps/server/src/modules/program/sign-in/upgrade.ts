import { isDeepStrictEqual } from 'node:util'
import { lastInstant } from '../../../core/clock.ts'
import { normalizeName } from '../../../core/ids.ts'
import { problem } from '../../../core/problem.ts'
import type { WriteTransaction } from '../../../db/index.ts'
import { never, toShownEnd, toStoredEnd } from '../../../db/stored-end.ts'
import type { LicenseRow } from '../../../db/tables.ts'
import { countToday } from '../../daily-counts/daily-counts.service.ts'
import { deviceLimit } from '../../devices/devices.rules.ts'
import { sentHash } from '../../devices/devices.service.ts'
import { findByUsername, type LockedEndUser, lockEndUser } from '../../end-users/end-users.access.ts'
import { storeAddedRights } from '../../entitlements/added-rights.ts'
import { setAddedTime } from '../../entitlements/added-time.ts'
import { redeem, setEndUserEnd } from '../../entitlements/entitlements.service.ts'
import { lockLicensesOf } from '../../entitlements/license-locks.ts'
import { rightsOf } from '../../entitlements/rights.rules.ts'
import { timeLeft } from '../../entitlements/term.rules.ts'
import { findFirstLicense, findLicenseById } from '../../licenses/licenses.access.ts'
import { findCovered } from '../../releases/releases.service.ts'
import { type SignedInUser, toSessionUser } from '../answers/session-user.ts'
import { toActor } from '../facts/actor.ts'
import { judgeCaller } from '../facts/caller.ts'
import { toAddedKeyFacts, toEndUserFacts } from '../facts/end-user.ts'
import type { AppFacts, SessionFacts } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { refuseBy } from '../verdict/refusal.ts'
import { factsOf } from '../verdict/verdict-facts.ts'
import { findKey, keyUsed } from './key.ts'

interface Upgrade {
  username: string
  licenseKey: string
  address: string
}

/** Adds a key to an end user: its remaining time, its features, and its devices or seats if they are more. */
export async function upgrade(
  deps: ProgramDeps,
  session: SessionFacts,
  { username, licenseKey, address }: Upgrade,
): Promise<SignedInUser> {
  const { ctx } = deps
  const { app } = session
  const found = await findByUsername(ctx.db, app.id, normalizeName(username))
  if (!found) throw problem('usernameNotFound')
  const license = await findKey(deps, session, { licenseKey, machine: undefined, address })
  if (license.used === 1) throw keyUsed(license)
  const caller = await judgeCaller(deps, app, {
    hwidHash: session.hwidHash && sentHash(session.hwidHash),
    readParts: session.device?.readParts,
    address,
  })
  return ctx.tx(toActor(session, address), async (write) => {
    const { tx, now } = write
    await lockLicensesOf(tx, app, [found.id], license.id)
    const key = await findLicenseById(tx, app.id, license.id)
    if (!key) throw problem('keyNotFound')
    const client = await lockEndUser(tx, app, found.id)
    if (!client) throw problem('usernameNotFound')
    if (key.used === 1) throw keyUsed(key)
    const first = await findFirstLicense(tx, app.id, client)
    refuseBy(
      factsOf('upgrade', {
        app,
        endUser: toEndUserFacts(client, first),
        key: toAddedKeyFacts(key),
        caller,
        device: { isSent: false, isBound: false, used: 0, limit: deviceLimit(key) },
        now,
      }),
    )
    if (!(await redeem(tx, app, key, client.id, now))) throw problem('keyUsed')
    await storeAddedRights(tx, app, [client.id])
    const after = await lockEndUser(tx, app, client.id)
    if (!after) throw problem('usernameNotFound')
    if (client.expires_at === never) {
      const addsNothing = isDeepStrictEqual(rightsOf(first, client), rightsOf(first, after))
      if (addsNothing) throw neverExpires()
    }
    const endsAt = await addTime(write, app, client, key)
    countToday(write, app, 'activations')
    const extended = await findFirstLicense(tx, app.id, client)
    const user = toEndUserFacts({ ...after, expires_at: endsAt }, extended)
    const covered = await findCovered(tx, app, user.updatesUntil)
    return toSessionUser(user, now, { ...session, seatUntil: null, covered })
  })
}

/** Adds the time of a key that was just redeemed; returns when access of the end user ends then. */
async function addTime(
  write: WriteTransaction,
  app: AppFacts,
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

const neverExpires = () =>
  problem('never_expires', { message: 'Your license never expires. The key was not used.' })
