import { type DeviceUse, type ProgramCall, unlimited } from '@keyward/contract'
import type { CustomerActor, ProgramActor, VendorActor } from '../../../core/actor.ts'
import { problem, requireSession } from '../../../core/problem.ts'
import { prepared, type WriteTransaction } from '../../../db/index.ts'
import { countToday } from '../../daily-counts/daily-counts.service.ts'
import { deviceOfMachine } from '../../devices/devices.access.ts'
import type { Machine } from '../../devices/devices.rules.ts'
import { matchDevice, seeMachine } from '../../devices/devices.service.ts'
import { freeEnded } from '../../devices/leased-places.access.ts'
import { lockOfEndUser } from '../../end-users/end-users.access.ts'
import { updateEndUser } from '../../entitlements/end-user-rows.ts'
import { firstLicenseOf, lockSeatsOf } from '../../licenses/licenses.access.ts'
import { signSessionIn } from '../../sessions/program-sessions.access.ts'
import { sessionLifetimeMs } from '../../sessions/program-sessions.rules.ts'
import { type SignedInUser, toSessionUser } from '../checks/session.ts'
import { callerOf, judgeCaller, toDeviceFacts, withoutMachine } from '../facts/caller.ts'
import { type AppFacts, type EndUserFacts, type SessionFacts, toActor } from '../facts/facts.ts'
import { factsOfRows, toEndUserFacts } from '../facts/rows.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { renewOrTakeSeat } from '../sessions/seats.ts'
import { refuseBy, withContext } from '../verdict/refusal.ts'
import type { CallerFacts, VerdictFacts } from '../verdict/verdict.ts'

/** The machine and the address that a sign-in comes from. */
export interface SignInDevice {
  machine: Machine | undefined
  /** Null if the machine is not the caller. */
  address: string | null
  caller: CallerFacts
  /** False for an activation: it opens no session. */
  isSignIn: boolean
}

/** A call that lets an end user in, and what it does then. */
export interface SignInCall<T> {
  call: ProgramCall
  app: AppFacts
  actor: ProgramActor | VendorActor | CustomerActor
  /** The owner may use the key of an end user with a password. */
  isOwner?: boolean
  /** What the sent password was compared with; another one stored meanwhile refuses the sign-in. */
  passwordHash?: string | null
  /** The program's version; null if the call names none. */
  version: string | null
  finish(write: WriteTransaction, admitted: Admitted, isNew: boolean): Promise<T>
}

/** An end user whom the verdict lets in. */
export interface Admitted {
  endUser: EndUserFacts
  /** Identifies the machine; null if the program sent no hardware id. */
  hwidHash: string | null
  /** What the verdict knew; a refusal that follows reports it, because it binds nothing. */
  facts: VerdictFacts
}

/** A call that signs the session in. */
export const sessionSignIn = (
  call: ProgramCall,
  session: SessionFacts,
  address: string,
): SignInCall<SignedInUser> => ({
  call,
  app: session.app,
  version: session.version,
  actor: toActor(session, address),
  finish: async (write, admitted, isNew) => {
    await startSession(write, session, admitted)
    if (!isNew) write.record('end_user.signed_in', admitted.endUser.id, {}, session.app.id)
    const seatUntil = await renewOrTakeSeat(write, session, admitted)
    return toSessionUser(admitted.endUser, write.now, { ...session, seatUntil })
  },
})

/** Lets in an end user whose password or key was correct, unless the verdict refuses. */
export async function enter<T>(
  write: WriteTransaction,
  signIn: SignInCall<T>,
  clientId: string,
  device: SignInDevice,
): Promise<T> {
  const admitted = await admit(write, signIn, clientId, device)
  return signIn.finish(write, admitted, false)
}

/** Binds the machine of an end user whose password or key was correct, unless the verdict refuses. */
async function admit(
  write: WriteTransaction,
  {
    call,
    app,
    version,
    passwordHash,
  }: Pick<SignInCall<unknown>, 'call' | 'app' | 'version' | 'passwordHash'>,
  clientId: string,
  sent: SignInDevice,
): Promise<Admitted> {
  const { tx, now } = write
  // Lock licenses before end users, as everywhere.
  await lockSeatsOf(tx, app.id, clientId)
  const [[stored], [license], [exact] = []] = await prepared.together(tx, [
    lockOfEndUser(tx, app, clientId),
    firstLicenseOf(tx, app.id, clientId),
    ...(sent.machine ? [deviceOfMachine(tx, clientId, sent.machine)] : []),
  ])
  if (!stored) throw problem('usernameNotFound')
  if (passwordHash !== undefined && stored.password_hash !== passwordHash)
    throw withContext(problem('passMismatch'), { endUserId: clientId })
  const found =
    sent.machine && (await matchDevice(tx, stored.id, sent.machine, app, now, { exact, hwid: stored.hwid }))
  const match = found?.kind === 'placeholder' ? undefined : found
  const { machine, address, caller, isSignIn } = found && !match ? withoutMachine(sent) : sent
  const isFull = match?.kind === 'new' && isTaken(toEndUserFacts(stored, license, now).devices)
  const freed = isFull ? await freeEnded(tx, app, stored.id, now) : 0
  const client = { ...stored, device_count: stored.device_count - freed }
  const { endUser, facts } = factsOfRows(call, {
    app,
    client,
    first: license,
    caller,
    version,
    device: toDeviceFacts(machine, match),
    isTrialStarted: true,
    now,
  })
  refuseBy(facts)
  const lastLoginAt = isSignIn ? now : endUser.lastLoginAt
  const change = { last_login_at: lastLoginAt, ...(address !== null && { last_address: address }) }
  if (!machine || !match) {
    await updateEndUser(tx, app, client.id, change)
    return { endUser: { ...endUser, lastLoginAt }, hwidHash: null, facts }
  }
  const { limit } = endUser.devices
  const { hwidHash, used } = await seeMachine(write, app, client, { machine, match, limit, version, change })
  return { endUser: { ...endUser, devices: { used, limit }, lastLoginAt }, hwidHash, facts }
}

const isTaken = ({ used, limit }: DeviceUse): boolean => limit !== unlimited && used >= limit

/** Assigns the session to an end user. */
async function startSession(
  write: WriteTransaction,
  session: SessionFacts,
  { endUser, hwidHash }: Admitted,
): Promise<void> {
  const { tx, now } = write
  const { app } = session
  // The session lasts at least until the token's own end, which another node's clock may have set.
  const expiresAt = Math.max(session.expiresAt, now + sessionLifetimeMs)
  const user = { clientId: endUser.id, hwidHash, expiresAt }
  requireSession(await signSessionIn(tx, session, user, now))
  countToday(write, app, 'sign_ins')
}

interface Sent {
  machine: Machine | undefined
  address: string
  isSignIn?: boolean
}

/** Judges the caller before a transaction begins, because the block list may have to be read. */
export async function toDevice(
  deps: ProgramDeps,
  app: AppFacts,
  { machine, address, isSignIn = true }: Sent,
): Promise<SignInDevice> {
  const caller = await judgeCaller(deps, app, callerOf(machine, address))
  return { machine, address, caller, isSignIn }
}
