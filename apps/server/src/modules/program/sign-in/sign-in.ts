import { type DeviceUse, unlimited } from '@keyward/contract'
import type { ProgramActor, VendorActor } from '../../../core/actor.ts'
import { normalizeName } from '../../../core/ids.ts'
import { problem } from '../../../core/problem.ts'
import { readTogether } from '../../../db/open.ts'
import type { Write } from '../../../db/record.ts'
import { guardPassword } from '../../../service/attempts.ts'
import { countToday } from '../../daily-counts/daily-counts.service.ts'
import { deviceByHash } from '../../devices/devices.access.ts'
import { deviceLimit, type Machine } from '../../devices/devices.rules.ts'
import { matchDevice, seeMachine } from '../../devices/devices.service.ts'
import { freeEnded } from '../../devices/leased-places.access.ts'
import {
  findByUsername,
  type LockedEndUser,
  lockEndUser,
  lockOfEndUser,
} from '../../end-users/end-users.access.ts'
import { updateEndUser } from '../../entitlements/end-user-rows.ts'
import { type AddedRights, rightsOf } from '../../entitlements/rights.rules.ts'
import { termOf } from '../../entitlements/term.rules.ts'
import { updatesUntil } from '../../entitlements/updates.rules.ts'
import {
  type FirstLicense,
  findLicenseById,
  firstLicenseOf,
  lockLicenseById,
  lockSeatsOf,
} from '../../licenses/licenses.access.ts'
import { findCovered, findReleasedAt } from '../../releases/releases.service.ts'
import { signSessionIn } from '../../sessions/program-sessions.access.ts'
import { toActor } from '../facts/actor.ts'
import { callerOf, judgeCaller } from '../facts/caller.ts'
import { type AppFacts, type EndUserFacts, type SessionFacts, toFloating } from '../facts/facts.ts'
import { keyUsed } from '../facts/key.ts'
import { sit } from '../sessions/seats.ts'
import { sessionLifetimeMs } from '../sessions/sessions.ts'
import { because } from '../verdict/refusal.ts'
import { type CallerFacts, userVerdict } from '../verdict/verdict.ts'
import { type ProgramDeps, refused, type SignedInUser, toDeviceFacts, toSessionUser } from './service.ts'

export interface Login {
  username: string
  password: string
  machine: Machine | undefined
  address: string
}

/** Signs an end user in by username and password. */
export async function login(deps: ProgramDeps, session: SessionFacts, call: Login): Promise<SignedInUser> {
  const { ctx, attempts } = deps
  const name = normalizeName(call.username)
  let knownId: string | undefined
  const subject = { account: accountOf(session, name), address: call.address }
  const client = await guardPassword(attempts, subject, async () => {
    const found = await findByUsername(ctx.db, session.app.id, name)
    knownId = found?.id
    return (await ctx.passwords.verify(found?.password_hash, call.password)) ? found : undefined
  })
  if (!client) {
    if (knownId === undefined) throw problem('usernameNotFound')
    throw because(problem('passMismatch'), { endUserId: knownId })
  }
  const device = await toDevice(deps, session.app, call)
  const entry = entryOf(session, call.address)
  return ctx.tx(entry.actor, (write) => enter(write, entry, client.id, device))
}

/** The machine and the address that a sign-in comes from. */
export interface SignInDevice {
  machine: Machine | undefined
  /** Null if the machine is not the caller. */
  address: string | null
  caller: CallerFacts
  /** False for an activation: it opens no session. */
  isSignIn: boolean
}

/** What follows once the verdict lets an end user in. */
export interface Entry<T> {
  app: AppFacts
  actor: ProgramActor | VendorActor
  /** The owner may use the key of an end user with a password. */
  isOwner?: boolean
  /** The program's version; null if the call names none. */
  version: string | null
  finish(write: Write, admitted: Admitted, isNew: boolean): Promise<T>
}

/** Signs the session in. */
export const entryOf = (session: SessionFacts, address: string): Entry<SignedInUser> => ({
  app: session.app,
  version: session.version,
  actor: toActor(session, address),
  finish: async (write, admitted, isNew) => {
    await startSession(write, session, admitted)
    if (!isNew) write.record('end_user.signed_in', admitted.endUser.id, {})
    const seatUntil = await sit(write, session, admitted)
    const covered = await findCovered(write.tx, session.app, admitted.endUser.updatesUntil)
    return toSessionUser(admitted.endUser, write.now, { ...session, seatUntil, covered })
  },
})

/** Judges the caller before a transaction begins, because the block list may have to be read. */
export async function toDevice(
  deps: ProgramDeps,
  app: AppFacts,
  {
    machine,
    address,
    isSignIn = true,
  }: Pick<SignInDevice, 'machine'> & { address: string; isSignIn?: boolean },
): Promise<SignInDevice> {
  const caller = await judgeCaller(deps, app, callerOf(machine, address))
  return { machine, address, caller, isSignIn }
}

/** Enters by an already used key; rejects keys of end users with a password. */
export const enterByUsedKey = <T>(
  { ctx }: Pick<ProgramDeps, 'ctx'>,
  entry: Entry<T>,
  licenseId: string,
  device: SignInDevice,
): Promise<T> =>
  ctx.tx(entry.actor, async (write) => {
    const { tx } = write
    const license = await findLicenseById(tx, entry.app.id, licenseId)
    if (!license) throw problem('keyNotFound')
    if (license.client_id === null) throw problem('keyUsed')
    // An activation names the license, which locks it.
    if (entry.isOwner) await lockLicenseById(tx, entry.app.id, license.id)
    else await lockSeatsOf(tx, entry.app.id, license.client_id)
    const client = await lockEndUser(tx, entry.app, license.client_id)
    if (!client || client.license_id !== license.id) throw keyUsed(license)
    if (client.password_hash !== null && !entry.isOwner) throw keyUsed(license)
    return enter(write, entry, client.id, device)
  })

/** Lets in an end user whose password or key was correct, unless the verdict refuses. */
export const enter = async <T>(
  write: Write,
  entry: Entry<T>,
  clientId: string,
  device: SignInDevice,
): Promise<T> => entry.finish(write, await admit(write, entry, clientId, device), false)

/** An end user whom the verdict lets in. */
export interface Admitted {
  endUser: EndUserFacts
  /** Identifies the machine; null if the program sent no hardware id. */
  hwidHash: string | null
  /** The end user's devices before the call; a refusal that follows binds nothing. */
  before: DeviceUse
}

/** Binds the machine of an end user whose password or key was correct, unless the verdict refuses. */
async function admit(
  write: Write,
  { app, version }: Pick<Entry<unknown>, 'app' | 'version'>,
  clientId: string,
  { machine, address, caller, isSignIn }: SignInDevice,
): Promise<Admitted> {
  const { tx, now } = write
  // Lock licenses before end users, as everywhere.
  await lockSeatsOf(tx, app.id, clientId)
  const [[stored], [license], [exact] = []] = await readTogether(tx, [
    lockOfEndUser(tx, app, clientId),
    firstLicenseOf(tx, app.id, clientId),
    ...(machine ? [deviceByHash(tx, clientId, machine.hash)] : []),
  ])
  if (!stored) throw problem('usernameNotFound')
  const match = machine && (await matchDevice(tx, stored.id, machine, app, now, { exact }))
  const isFull = match?.kind === 'new' && isTaken(toEndUserFacts(stored, license).devices)
  const freed = isFull ? await freeEnded(tx, app, stored.id, now) : 0
  const client = { ...stored, device_count: stored.device_count - freed }
  const endUser = toEndUserFacts(client, license)
  const refusal = userVerdict({
    app,
    endUser,
    key: license ? toKeyFacts(license) : null,
    caller,
    mustBeActivated: false,
    updates: {
      releasedAt: await findReleasedAt(tx, app.id, endUser.updatesUntil === null ? null : version),
      until: endUser.updatesUntil,
    },
    expiresAt: endUser.expiresAt,
    device: toDeviceFacts(machine, match, endUser.devices),
    now,
  })
  if (refusal) throw refused(refusal, endUser, now)
  const lastLoginAt = isSignIn ? now : endUser.lastLoginAt
  const change = { last_login_at: lastLoginAt, ...(address !== null && { last_address: address }) }
  if (!machine || !match) {
    await updateEndUser(tx, app, client.id, change)
    return { endUser: { ...endUser, lastLoginAt }, hwidHash: null, before: endUser.devices }
  }
  const { limit } = endUser.devices
  const { hwidHash, used } = await seeMachine(write, app, client, { machine, match, limit, change })
  const after = { ...endUser, devices: { used, limit }, lastLoginAt }
  return { endUser: after, hwidHash, before: endUser.devices }
}

const isTaken = ({ used, limit }: DeviceUse): boolean => limit !== unlimited && used >= limit

/** Assigns the session to an end user. */
async function startSession(
  write: Write,
  session: SessionFacts,
  { endUser, hwidHash }: Admitted,
): Promise<void> {
  const { tx, now } = write
  const { app } = session
  // The session lasts at least until the token's own end, which another node's clock may have set.
  const expiresAt = Math.max(session.expiresAt, now + sessionLifetimeMs)
  const user = { clientId: endUser.id, hwidHash, expiresAt }
  if (!(await signSessionIn(tx, session, user, now))) throw problem('sessionUnauthed')
  countToday(write, app, 'sign_ins')
}

/** The rate limit's key for attempts on an end user's password. */
export const accountOf = ({ app }: SessionFacts, username: string): string => `client:${app.id}:${username}`

export const toKeyFacts = (license: FirstLicense) => ({
  id: license.id,
  isBanned: license.banned === 1,
  banReason: license.ban_reason,
  startedAt: license.started_at,
})

type Stored = Omit<
  LockedEndUser,
  | 'app_id'
  | 'license_id'
  | 'password_hash'
  | 'device_freed_at'
  | 'last_address'
  | 'variables_revision'
  | keyof AddedRights
> &
  Partial<Pick<LockedEndUser, 'variables_revision' | keyof AddedRights>>

export function toEndUserFacts(client: Stored, firstLicense: FirstLicense | undefined): EndUserFacts {
  const rights = rightsOf(firstLicense, client)
  return {
    id: client.id,
    username: client.username,
    email: client.email,
    isBanned: client.banned === 1,
    banReason: client.ban_reason,
    isPaused: client.paused_at !== null,
    expiresAt: client.expires_at,
    graceDays: client.grace_days,
    term: termOf(firstLicense, client.expires_at),
    createdAt: client.created_at,
    lastLoginAt: client.last_login_at,
    devices: { used: client.device_count, limit: deviceLimit(rights) },
    startedAt: firstLicense?.started_at ?? null,
    floating: toFloating(rights, firstLicense?.id ?? null),
    features: rights?.features ?? '[]',
    updatesUntil: updatesUntil(firstLicense),
    variablesRevision: client.variables_revision ?? null,
  }
}
