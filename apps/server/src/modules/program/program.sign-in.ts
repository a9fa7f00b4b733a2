import { limits, type SessionUser } from '@keyward/contract'
import { lastInstant, toIso, toIsoOrNull } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import type { Ctx } from '../../core/ctx.ts'
import { newId, normalizeKey, normalizeName } from '../../core/ids.ts'
import { problem, rateLimited } from '../../core/problem.ts'
import type { Write } from '../../core/record.ts'
import { type Tx, unlessTaken } from '../../db/open.ts'
import type { ClientRow, LicenseRow } from '../../db/tables.ts'
import { guess, keyFailures } from '../../http/limits.ts'
import {
  bindHwid,
  findById,
  findByUsername,
  insertClient,
  lockClient,
  updateClient,
} from '../clients/clients.service.ts'
import { countToday } from '../dashboard/dashboard.service.ts'
import { findLicenseById, findLicenseByKey, lockLicenseById } from '../licenses/licenses.service.ts'
import { adopt, lockLicensesOf, redeem, setClientExpiry } from '../subscriptions/subscriptions.service.ts'
import { toActor } from './program.actor.ts'
import type { SessionFacts } from './program.reads.ts'
import { signSessionIn } from './program.repo.ts'
import { isBoundTo, type Presented, userVerdict } from './program.rules.ts'
import { lockOn, type ProgramDeps } from './program.service.ts'
import { sessionLifetimeMs } from './program.sessions.ts'

export interface Registration {
  username: string
  password: string
  licenseKey: string
  hwid?: string | undefined
  email?: string | undefined
  address: string
}

/** Uses a key up for a new end user and signs the session in, all or nothing. */
export async function register(
  deps: ProgramDeps,
  session: SessionFacts,
  given: Registration,
): Promise<SessionUser> {
  const { ctx, attempts } = deps
  if ([...given.username].length < limits.usernameMin) throw problem('unTooShort')
  const name = normalizeName(given.username)
  if (await findByUsername(ctx.db, session.app_row, name)) throw problem('usernameTaken')
  const license = await findKey(deps, session, given)
  refuseNewKey(license, ctx.clock.now())
  const passwordHash = await ctx.passwords.hash(given.password)
  const who = { username: given.username, passwordHash, email: given.email ?? null, hwid: given.hwid }
  return unlessTaken(
    () => problem('usernameTaken'),
    () =>
      ctx.tx(toActor(session, given.address), async (write) => {
        const user = await activate(ctx, write, session, license.id, who)
        const account = accountOf(session, name)
        await attempts.accounts.remember({ account, address: given.address }, write.tx)
        return user
      }),
  )
}

/** How guesses of an end user's password name the account. */
const accountOf = (session: SessionFacts, username: string): string => `client:${session.app_row}:${username}`

export interface Login {
  username: string
  password: string
  hwid?: string | undefined
  address: string
}

export async function login(deps: ProgramDeps, session: SessionFacts, given: Login): Promise<SessionUser> {
  const { ctx, attempts } = deps
  const name = normalizeName(given.username)
  let isKnown = false
  const subject = { account: accountOf(session, name), address: given.address }
  const client = await guess(attempts, subject, async () => {
    const found = await findByUsername(ctx.db, session.app_row, name)
    isKnown = found !== undefined
    return (await ctx.passwords.verify(found?.password_hash, given.password)) ? found : undefined
  })
  if (!client) throw problem(isKnown ? 'passMismatch' : 'usernameNotFound')
  return ctx.tx(toActor(session, given.address), (write) =>
    signIn(ctx, write, session, client.id, given.hwid),
  )
}

/** Signs in by key alone; the first use makes the end user. */
export async function signInByKey(
  deps: ProgramDeps,
  session: SessionFacts,
  given: { licenseKey: string; hwid?: string | undefined; address: string },
): Promise<SessionUser> {
  const { ctx } = deps
  const license = await findKey(deps, session, given)
  if (license.used === 1) return signInByUsedKey(ctx, session, license.id, given)
  refuseKey(license, ctx.clock.now())
  const who = { username: license.key, passwordHash: null, email: null, hwid: given.hwid }
  try {
    return await unlessTaken(
      () => problem('usernameTaken'),
      () =>
        ctx.tx(toActor(session, given.address), (write) => activate(ctx, write, session, license.id, who)),
    ).catch((error: { code?: unknown }) => {
      if (error.code !== 'usernameTaken') throw error
      return ctx.tx(toActor(session, given.address), (write) =>
        comeBack(ctx, write, session, license.id, given.hwid),
      )
    })
  } catch (error) {
    // Somebody else with the same key was first, and made the end user meanwhile.
    const now = await findLicenseById(ctx.db, session.app_row, license.id)
    const isLost = ['keyUsed', 'usernameTaken'].includes((error as { code: string }).code)
    if (!isLost || now?.used !== 1) throw error
    return signInByUsedKey(ctx, session, license.id, given)
  }
}

/** A key that was deleted and issued again is for the end user whom it once made, with its ban and its lock. */
async function comeBack(
  ctx: Ctx,
  write: Write,
  session: SessionFacts,
  licenseId: string,
  hwid: string | undefined,
): Promise<SessionUser> {
  const { tx } = write
  const now = ctx.clock.now()
  const license = await lockLicenseById(tx, session.app_row, licenseId)
  if (!license) throw problem('keyNotFound')
  refuseNewKey(license, now)
  const found = await findByUsername(tx, session.app_row, normalizeName(license.key))
  const client = found && (await lockClient(tx, found.id))
  if (!client || client.password_hash !== null || client.license_id !== null) throw problem('usernameTaken')
  if (!(await redeem(tx, license.id, client.id, now))) throw problem('keyUsed')
  await adopt(tx, license, client.id)
  await countToday(tx, { id: session.app_row, owner_id: session.owner_id }, 'activations', now)
  write.record('license.redeemed', license.id, { endUserId: client.id, expiresAt: license.expires_at })
  return signIn(ctx, write, session, client.id, hwid)
}

const signInByUsedKey = (
  ctx: Ctx,
  session: SessionFacts,
  licenseId: string,
  { hwid, address }: { hwid?: string | undefined; address: string },
) =>
  ctx.tx(toActor(session, address), async (write) => {
    const { tx } = write
    const license = await findLicenseById(tx, session.app_row, licenseId)
    if (!license) throw problem('keyNotFound')
    if (license.client_id === null) throw problem('keyUsed')
    const client = await lockClient(tx, license.client_id)
    if (!client || client.password_hash !== null || client.license_id !== license.id) throw problem('keyUsed')
    return signIn(ctx, write, session, client.id, hwid)
  })

/** Adds a key's remaining time to an end user. */
export async function upgrade(
  deps: ProgramDeps,
  session: SessionFacts,
  given: { username: string; licenseKey: string; address: string },
): Promise<SessionUser> {
  const { ctx } = deps
  const found = await findByUsername(ctx.db, session.app_row, normalizeName(given.username))
  if (!found) throw problem('usernameNotFound')
  const license = await findKey(deps, session, given)
  if (license.used === 1) throw problem('keyUsed')
  const now = ctx.clock.now()
  return ctx.tx(toActor(session, given.address), async (write) => {
    const { tx } = write
    await lockLicensesOf(tx, [found.id])
    const client = await lockClient(tx, found.id)
    if (!client) throw problem('usernameNotFound')
    if (!(await redeem(tx, license.id, client.id, now))) throw problem('keyUsed')
    const key = await findLicenseById(tx, session.app_row, license.id)
    if (!key) throw problem('keyNotFound')
    if (client.banned === 1) throw problem('userBanned')
    refuseKey(key, now)
    const expiresAt = Math.min(lastInstant, Math.max(client.expires_at, now) + (key.expires_at - now))
    await setClientExpiry(tx, client.id, expiresAt)
    write.record('license.redeemed', license.id, { endUserId: client.id, expiresAt })
    await countToday(tx, { id: session.app_row, owner_id: session.owner_id }, 'activations', now)
    return toUser({ ...client, expires_at: expiresAt })
  })
}

/**
 * Finds a key of the app; unknown keys count against the address. Where too many came from, a key is still taken
 * together with the hardware id that is bound to it, so that one guesser does not stop a whole office.
 */
async function findKey(
  { ctx, attempts }: ProgramDeps,
  session: SessionFacts,
  given: { licenseKey: string; hwid?: string | undefined; address: string },
): Promise<LicenseRow> {
  const license = await findLicenseByKey(ctx.db, session.app_row, normalizeKey(given.licenseKey))
  const waitMs = await attempts.readWait(keyFailures, session.app_row, given.address)
  if (waitMs > 0) {
    const user = license?.client_id ? await findById(ctx.db, session.app_row, license.client_id) : undefined
    if (!isBoundTo(user?.hwid_hash ?? null, given.hwid)) throw rateLimited(waitMs)
  }
  if (license) return license
  await attempts.count(keyFailures, session.app_row, given.address)
  throw problem('keyNotFound')
}

function refuseKey(license: LicenseRow, now: number): void {
  if (license.banned === 1) throw problem('keyBanned')
  if (license.expires_at <= now) throw problem('noActiveSubs')
}

function refuseNewKey(license: LicenseRow, now: number): void {
  if (license.used === 1) throw problem('keyUsed')
  refuseKey(license, now)
}

interface NewUser {
  username: string
  passwordHash: string | null
  email: string | null
  hwid: string | undefined
}

/** Makes the end user, uses the key up, signs the session in. Of many at once one wins; the others get keyUsed. */
async function activate(
  ctx: Ctx,
  write: Write,
  session: SessionFacts,
  licenseId: string,
  who: NewUser,
): Promise<SessionUser> {
  const { tx } = write
  const now = ctx.clock.now()
  // Locked, so that an expiry that is being changed is not given to the end user as it was before.
  const license = await lockLicenseById(tx, session.app_row, licenseId)
  if (!license) throw problem('keyNotFound')
  refuseNewKey(license, now)
  const hwid = who.hwid || null
  const client: ClientRow = {
    seq: 0,
    id: newId('usr'),
    owner_id: session.owner_id,
    app_id: session.app_row,
    license_id: license.id,
    username: who.username,
    username_normalized: normalizeName(who.username),
    email: who.email,
    password_hash: who.passwordHash,
    hwid,
    hwid_hash: hwid === null ? null : sha256(hwid),
    banned: 0,
    expires_at: license.expires_at,
    last_login_at: now,
    created_at: now,
  }
  const { seq: _, banned: __, ...row } = client
  await insertClient(tx, row)
  if (!(await redeem(tx, license.id, client.id, now))) throw problem('keyUsed')
  write.record('end_user.registered', client.id, { licenseId: license.id })
  await openFor(tx, session, client, now)
  await countToday(tx, { id: session.app_row, owner_id: session.owner_id }, 'activations', now)
  return toUser(client)
}

/** Signs the session in as an end user whose password or key was found right. */
async function signIn(
  ctx: Ctx,
  write: Write,
  session: SessionFacts,
  clientId: string,
  hwid: string | undefined,
): Promise<SessionUser> {
  const { tx } = write
  const now = ctx.clock.now()
  const client = await lockClient(tx, clientId)
  if (!client) throw problem('usernameNotFound')
  const license =
    client.license_id === null ? undefined : await findLicenseById(tx, session.app_row, client.license_id)
  const presented: Presented = { lockOn: lockOn(session), hwid: hwid ? sha256(hwid) : null }
  const gate = {
    userBanned: client.banned === 1,
    keyBanned: license?.banned === 1,
    expiresAt: client.expires_at,
    boundHwid: client.hwid_hash,
  }
  const verdict = userVerdict(gate, presented, now)
  if (verdict) throw problem(verdict)
  if (hwid && presented.hwid !== null && client.hwid_hash === null)
    await bindHwid(tx, client.id, hwid, presented.hwid)
  const signedIn = { ...client, hwid_hash: client.hwid_hash ?? presented.hwid, last_login_at: now }
  await updateClient(tx, client.id, { last_login_at: now })
  await openFor(tx, session, { id: client.id, hwid_hash: presented.hwid }, now)
  write.record('end_user.signed_in', client.id, {})
  return toUser(signedIn)
}

async function openFor(
  tx: Tx,
  session: SessionFacts,
  client: { id: string; hwid_hash: string | null },
  now: number,
): Promise<void> {
  const expiresAt = now + sessionLifetimeMs
  const user = { clientId: client.id, hwidHash: client.hwid_hash, expiresAt }
  if (!(await signSessionIn(tx, session.session_id, user))) throw problem('sessionUnauthed')
  await countToday(tx, { id: session.app_row, owner_id: session.owner_id }, 'sign_ins', now)
}

const toUser = (client: ClientRow): SessionUser => ({
  _id: client.id,
  username: client.username,
  email: client.email,
  expiresAt: toIso(client.expires_at),
  createdAt: toIso(client.created_at),
  lastLoginAt: toIsoOrNull(client.last_login_at),
  hwidBound: client.hwid_hash !== null,
})
