import type { SessionUser } from '@keyward/contract'
import { guardPassword } from '../../core/attempts.ts'
import { normalizeName } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import type { Write } from '../../core/record.ts'
import type { ClientRow, LicenseRow } from '../../db/tables.ts'
import { countToday } from '../daily-counts/daily-counts.service.ts'
import { bindHwid, findByUsername, lockEndUser, updateEndUser } from '../end-users/end-users.access.ts'
import { termOf } from '../entitlements/term.rules.ts'
import { findFirstLicense, findLicenseById } from '../licenses/licenses.access.ts'
import { toActor } from './program.actor.ts'
import { judgeCaller } from './program.caller.ts'
import type { EndUserFacts, SessionFacts } from './program.facts.ts'
import { signSessionIn } from './program.repo.ts'
import { type ProgramDeps, toSessionUser } from './program.service.ts'
import { sessionLifetimeMs } from './program.sessions.ts'
import { type CallerFacts, hashHwid, userVerdict } from './program.verdict.ts'

export interface Login {
  username: string
  password: string
  hwid?: string | undefined
  address: string
}

/** Signs an end user in by username and password. */
export async function login(deps: ProgramDeps, session: SessionFacts, given: Login): Promise<SessionUser> {
  const { ctx, attempts } = deps
  const name = normalizeName(given.username)
  let isKnown = false
  const subject = { account: accountOf(session, name), address: given.address }
  const client = await guardPassword(attempts, subject, async () => {
    const found = await findByUsername(ctx.db, session.app.id, name)
    isKnown = found !== undefined
    return (await ctx.passwords.verify(found?.password_hash, given.password)) ? found : undefined
  })
  if (!client) throw problem(isKnown ? 'passMismatch' : 'usernameNotFound')
  const device = await toDevice(deps, session, given)
  return ctx.tx(toActor(session, given.address), (write) => signIn(write, session, client.id, device))
}

/** The machine and the address that a sign-in comes from. */
export interface SignInDevice {
  hwid: string | undefined
  hwidHash: string | null
  address: string
  caller: CallerFacts
}

/** Judges the caller before a transaction begins, because the block list may have to be read. */
export async function toDevice(
  deps: ProgramDeps,
  { app }: SessionFacts,
  { hwid, address }: { hwid?: string | undefined; address: string },
): Promise<SignInDevice> {
  const hwidHash = hashHwid(hwid)
  return { hwid, hwidHash, address, caller: await judgeCaller(deps, app, { hwidHash, address }) }
}

/** Signs in by an already used key; rejects keys of end users with a password. */
export const signInByUsedKey = (
  { ctx }: ProgramDeps,
  session: SessionFacts,
  licenseId: string,
  device: SignInDevice,
): Promise<SessionUser> =>
  ctx.tx(toActor(session, device.address), async (write) => {
    const { tx } = write
    const license = await findLicenseById(tx, session.app.id, licenseId)
    if (!license) throw problem('keyNotFound')
    if (license.client_id === null) throw problem('keyUsed')
    const client = await lockEndUser(tx, session.app, license.client_id)
    if (!client || client.password_hash !== null || client.license_id !== license.id) throw problem('keyUsed')
    return signIn(write, session, client.id, device)
  })

/** Signs the session in as an end user whose password or key was correct, unless the verdict refuses. */
export async function signIn(
  write: Write,
  session: SessionFacts,
  clientId: string,
  { hwid, hwidHash: sentHwidHash, address, caller }: SignInDevice,
): Promise<SessionUser> {
  const { tx, now } = write
  const { app } = session
  const client = await lockEndUser(tx, app, clientId)
  if (!client) throw problem('usernameNotFound')
  const firstLicense = await findFirstLicense(tx, app.id, client)
  const endUser = toEndUserFacts(client, firstLicense)
  const refusal = userVerdict({
    app,
    endUser,
    key: firstLicense ? { isBanned: firstLicense.banned === 1, banReason: firstLicense.ban_reason } : null,
    caller,
    expiresAt: endUser.expiresAt,
    sentHwidHash,
    now,
  })
  if (refusal) throw problem(refusal.code, refusal)
  if (hwid && sentHwidHash !== null && endUser.hwidHash === null)
    await bindHwid(tx, app, endUser.id, hwid, sentHwidHash)
  await updateEndUser(tx, app, endUser.id, { last_login_at: now, last_address: address })
  await startSession(write, session, { id: endUser.id, hwidHash: sentHwidHash })
  write.record('end_user.signed_in', endUser.id, {})
  return toSessionUser({ ...endUser, hwidHash: endUser.hwidHash ?? sentHwidHash, lastLoginAt: now }, now)
}

/** Assigns the session to an end user. */
export async function startSession(
  { tx, now }: Write,
  session: SessionFacts,
  endUser: { id: string; hwidHash: string | null },
): Promise<void> {
  const { app } = session
  // Not before the token's own end, which another node's clock may have set.
  const expiresAt = Math.max(session.expiresAt, now + sessionLifetimeMs)
  const user = { clientId: endUser.id, hwidHash: endUser.hwidHash, expiresAt }
  if (!(await signSessionIn(tx, session, user, now))) throw problem('sessionUnauthed')
  await countToday(tx, { id: app.id, owner_id: app.ownerId }, 'sign_ins', now)
}

/** The rate limit's key for attempts on an end user's password. */
export const accountOf = ({ app }: SessionFacts, username: string): string => `client:${app.id}:${username}`

export const toEndUserFacts = (
  client: ClientRow,
  firstLicense: Pick<LicenseRow, 'term'> | undefined,
): EndUserFacts => ({
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
  hwidHash: client.hwid_hash,
})
