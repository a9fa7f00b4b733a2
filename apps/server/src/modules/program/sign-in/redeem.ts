import { isDeepStrictEqual } from 'node:util'
import { lastInstant } from '../../../core/clock.ts'
import { normalizeName } from '../../../core/ids.ts'
import { checkEndUserPassword } from '../../../core/password-policy.ts'
import { type Problem, problem } from '../../../core/problem.ts'
import { never, toShownEnd, toStoredEnd } from '../../../db/ends.ts'
import { unlessTaken } from '../../../db/open.ts'
import type { LicenseRow } from '../../../db/tables.ts'
import { countToday } from '../../daily-counts/daily-counts.service.ts'
import { deviceLimit, type Machine } from '../../devices/devices.rules.ts'
import { sentHash } from '../../devices/devices.service.ts'
import { findByUsername, lockEndUser } from '../../end-users/end-users.access.ts'
import { toNewUsername } from '../../end-users/end-users.rules.ts'
import { storeAddedRights } from '../../entitlements/added-rights.ts'
import { setAddedTime } from '../../entitlements/added-time.ts'
import { redeem, setEndUserEnd } from '../../entitlements/entitlements.service.ts'
import { lockLicensesOf } from '../../entitlements/license-locks.ts'
import { rightsOf } from '../../entitlements/rights.rules.ts'
import { atFirstUse, timeLeft } from '../../entitlements/term.rules.ts'
import { updatesUntil } from '../../entitlements/updates.rules.ts'
import { findFirstLicense, findLicenseById } from '../../licenses/licenses.access.ts'
import { findCovered, findReleasedAt } from '../../releases/releases.service.ts'
import { toActor } from '../facts/actor.ts'
import { judgeCaller } from '../facts/caller.ts'
import type { AppFacts, SessionFacts } from '../facts/facts.ts'
import { findKey, type KeyCall, keyUsed, refuseKey } from '../facts/key.ts'
import { because } from '../verdict/refusal.ts'
import { userVerdict, type VerdictFacts } from '../verdict/verdict.ts'
import { redeemForFormerUser, redeemForNewUser } from './new-user.ts'
import { type ProgramDeps, refused, type SignedInUser, toDeviceFacts, toSessionUser } from './service.ts'
import {
  accountOf,
  type Entry,
  enterByUsedKey,
  entryOf,
  type SignInDevice,
  toDevice,
  toEndUserFacts,
  toKeyFacts,
} from './sign-in.ts'

export interface Registration {
  username: string
  password: string
  licenseKey: string
  machine: Machine | undefined
  email?: string | undefined
  address: string
}

/** Creates an end user with a password, redeems the key and signs the session in, in one transaction. */
export async function register(
  deps: ProgramDeps,
  session: SessionFacts,
  registration: Registration,
): Promise<SignedInUser> {
  const { ctx, attempts } = deps
  if ([...registration.username].length < session.app.usernameMin) throw problem('unTooShort')
  const username = toNewUsername(registration.username)
  await refuseLeakedPassword(deps, session, registration.password)
  const name = normalizeName(username)
  if (await findByUsername(ctx.db, session.app.id, name)) throw problem('usernameTaken')
  const license = await findKey(deps, session, registration)
  if (license.used === 1) throw keyUsed(license)
  const device = await toDevice(deps, session.app, registration)
  refuseUse(
    session.app,
    license,
    { device, updates: await readUpdates(deps, session, license) },
    ctx.clock.now(),
  )
  const entry = entryOf(session, registration.address)
  const passwordHash = await ctx.passwords.hash(registration.password, {
    address: registration.address,
    account: accountOf(session, name),
  })
  const newUser = { username, passwordHash, email: registration.email ?? null, device }
  return unlessTaken(
    () => problem('usernameTaken'),
    () =>
      ctx.tx(entry.actor, async (write) => {
        const admitted = await redeemForNewUser(write, session.app, license.id, newUser)
        const user = await entry.finish(write, admitted, true)
        const account = accountOf(session, name)
        await attempts.accounts.remember({ account, address: registration.address }, write.tx)
        return user
      }),
  )
}

async function refuseLeakedPassword(
  { ctx, leaked }: ProgramDeps,
  { app }: SessionFacts,
  password: string,
): Promise<void> {
  checkEndUserPassword(ctx, password, app.checkPasswords)
  const isChecked = app.checkPasswords || ctx.config.passwordPolicy === 'strict'
  if (isChecked && (await leaked.has(password))) throw problem('pwLeaked')
}

/** Refuses a key that could not be used here and now, before anything is written. */
function refuseUse(
  app: AppFacts,
  license: LicenseRow,
  { device, updates }: { device: SignInDevice; updates: VerdictFacts['updates'] },
  now: number,
): void {
  const devices = { used: 0, limit: deviceLimit(license) }
  const refusal = userVerdict({
    app,
    endUser: null,
    key: toKeyFacts(license),
    caller: device.caller,
    mustBeActivated: false,
    updates,
    expiresAt: license.expires_at,
    device: toDeviceFacts(device.machine, undefined, devices),
    now,
  })
  const { expires_at: expiresAt, grace_days: graceDays, started_at: startedAt } = license
  if (refusal) throw refused(refusal, { expiresAt, graceDays, startedAt, devices }, now)
}

/** Signs in by key alone; the first use creates the end user. */
export async function signInByKey(
  deps: ProgramDeps,
  session: SessionFacts,
  call: KeyCall,
): Promise<SignedInUser> {
  const license = await findKey(deps, session, call)
  const device = await toDevice(deps, session.app, call)
  return enterByKey(deps, entryOf(session, call.address), license, device)
}

/** Enters by a key of the entry's app. */
export async function enterByKey<T>(
  deps: Pick<ProgramDeps, 'ctx'>,
  entry: Entry<T>,
  license: LicenseRow,
  device: SignInDevice,
): Promise<T> {
  const { ctx } = deps
  if (license.used === 1) return enterByUsedKey(deps, entry, license.id, device)
  refuseUse(entry.app, license, { device, updates: await readUpdates(deps, entry, license) }, ctx.clock.now())
  try {
    return await redeemByKey(deps, entry, license, device)
  } catch (error) {
    // A concurrent call with the same key was first and created the end user.
    const isLost = ['keyUsed', 'usernameTaken'].includes((error as Problem).code)
    const current = await findLicenseById(ctx.db, entry.app.id, license.id)
    if (!isLost || current?.used !== 1) throw error
    return enterByUsedKey(deps, entry, license.id, device)
  }
}

const namesMax = 9

/**
 * Redeems a key for a new end user named after it, or for the end user that the same key created earlier. If others
 * have that name, as anyone can register one that equals a key, the next free name with a number is taken.
 */
async function redeemByKey<T>(
  { ctx }: Pick<ProgramDeps, 'ctx'>,
  entry: Entry<T>,
  license: LicenseRow,
  device: SignInDevice,
): Promise<T> {
  for (let number = 1; ; number += 1) {
    const username = number === 1 ? license.key : `${license.key} (${number})`
    const newUser = { username, passwordHash: null, email: null, device }
    try {
      return await unlessTaken(
        () => problem('usernameTaken'),
        () =>
          ctx.tx(entry.actor, async (write) =>
            entry.finish(write, await redeemForNewUser(write, entry.app, license.id, newUser), true),
          ),
      )
    } catch (error) {
      if (!isNameTaken(error)) throw error
    }
    try {
      return await ctx.tx(entry.actor, (write) =>
        redeemForFormerUser(write, entry, { licenseId: license.id, username }, device),
      )
    } catch (error) {
      if (!isNameTaken(error) || number === namesMax) throw error
    }
  }
}

const isNameTaken = (error: unknown): boolean => (error as Problem).code === 'usernameTaken'

/** Adds a key to an end user: its remaining time, its features, and its devices or seats if they are more. */
export async function upgrade(
  deps: ProgramDeps,
  session: SessionFacts,
  call: { username: string; licenseKey: string; address: string },
): Promise<SignedInUser> {
  const { ctx } = deps
  const { app } = session
  const found = await findByUsername(ctx.db, app.id, normalizeName(call.username))
  if (!found) throw problem('usernameNotFound')
  const license = await findKey(deps, session, { ...call, machine: undefined })
  if (license.used === 1) throw keyUsed(license)
  const hwidHash = session.hwidHash && sentHash(session.hwidHash)
  const caller = await judgeCaller(deps, app, {
    hwidHash,
    readParts: session.device?.readParts,
    address: call.address,
  })
  return ctx.tx(toActor(session, call.address), async (write) => {
    const { tx, now } = write
    await lockLicensesOf(tx, app, [found.id], license.id)
    const key = await findLicenseById(tx, app.id, license.id)
    if (!key) throw problem('keyNotFound')
    const client = await lockEndUser(tx, app, found.id)
    if (!client) throw problem('usernameNotFound')
    if (!(await redeem(tx, app, key, client.id, now))) throw problem('keyUsed')
    const ofUser = { endUserId: client.id }
    if (client.banned === 1) throw because(problem('userBanned', { reason: client.ban_reason }), ofUser)
    if (client.paused_at !== null) throw because(problem('pausedSub'), ofUser)
    refuseKey(key, now)
    const added = timeLeft(key, now)
    if (added === 0) throw problem('noActiveSubs')
    if (caller.blocked) throw problem('hwidBlacklisted', caller.blocked)
    if (caller.isRefusedVpn) throw problem('vpnBlocked')
    await storeAddedRights(tx, app, [client.id])
    const after = await lockEndUser(tx, app, client.id)
    if (!after) throw problem('usernameNotFound')
    const hasNoEnd = client.expires_at === never
    if (hasNoEnd) {
      const first = await findFirstLicense(tx, app.id, client)
      if (isDeepStrictEqual(rightsOf(first, client), rightsOf(first, after))) throw neverExpires()
    }
    const base = Math.max(toShownEnd(client) ?? now, now)
    const end = hasNoEnd || added === null ? null : Math.min(lastInstant, base + added)
    const endsAt = toStoredEnd(end, client.grace_days)
    if (!hasNoEnd) await setEndUserEnd(tx, app, client.id, endsAt)
    const before = hasNoEnd ? now : toStoredEnd(base, client.grace_days)
    await setAddedTime(tx, app, key.id, { before, after: hasNoEnd ? now : endsAt })
    write.record('license.redeemed', key.id, { endUserId: client.id, expiresAt: end })
    countToday(write, app, 'activations')
    const first = await findFirstLicense(tx, app.id, client)
    const user = toEndUserFacts({ ...after, expires_at: endsAt }, first)
    const covered = await findCovered(tx, app, user.updatesUntil)
    return toSessionUser(user, now, { ...session, seatUntil: null, covered })
  })
}

const neverExpires = () =>
  problem('never_expires', { message: 'Your license never expires. The key was not used.' })

/** What decides whether a license covers the version of a program that is about to use it. */
async function readUpdates(
  { ctx }: Pick<ProgramDeps, 'ctx'>,
  { app, version }: Pick<Entry<unknown>, 'app' | 'version'>,
  license: LicenseRow,
): Promise<VerdictFacts['updates']> {
  const until = updatesUntil({ ...license, ...atFirstUse(license, ctx.clock.now()) })
  return { releasedAt: until === null ? null : await findReleasedAt(ctx.db, app.id, version), until }
}
