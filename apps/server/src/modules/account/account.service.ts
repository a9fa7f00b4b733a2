import type { SecondFactorStep, User } from '@keyward/contract'
import { ownerAccess, type PersonActor, toPersonActor } from '../../core/actor.ts'
import { minute } from '../../core/clock.ts'
import { newId, normalizeEmail } from '../../core/ids.ts'
import { callerOf } from '../../core/networks/caller.ts'
import { checkPassword } from '../../core/passwords/password-policy.ts'
import { problem } from '../../core/problem.ts'
import type { Tx } from '../../db/index.ts'
import type { AccountRow } from '../../db/tables.ts'
import { type Attempts, registrations } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import * as accounts from '../accounts/accounts.service.ts'
import * as owners from '../owners/owners.service.ts'
import { revokeResets } from '../password-resets/password-resets.access.ts'
import { toLoginState } from '../second-factors/login-state.ts'
import { hasFactor } from '../second-factors/second-factors.access.ts'
import { askForFactor } from '../second-factors/second-factors.proofs.ts'
import * as sessions from '../sessions/sessions.service.ts'
import { checkCredentials, checkOwnPassword } from '../sessions/sign-in.service.ts'
import { actorAt, actorAtLast, holderOf, openSession } from './account.vendors.ts'
import { getUser } from './account.view.ts'
import { isFirstOwnerLink, takeFirstOwnerLink } from './first-owner.ts'

/** A session this young counts as a recent password check. */
const freshMs = 10 * minute

export async function register(
  ctx: Ctx,
  attempts: Attempts,
  {
    link,
    ...registration
  }: { name: string; email: string; password: string; link?: string | undefined; address: string },
): Promise<{ token: string; user: User }> {
  const isClosed = ctx.config.registration === 'closed'
  if (isClosed && link === undefined) throw problem('registration_closed')
  checkPassword(ctx, 'password', registration.password)
  await attempts.count(registrations, registration.address)
  const isLink = async () => link !== undefined && isFirstOwnerLink(ctx.db, link, ctx.clock.now())
  if (isClosed && !(await isLink())) throw problem('first_owner_link_invalid')
  const emailNormalized = normalizeEmail(registration.email)
  if (await accounts.findAccountByEmail(ctx.db, emailNormalized)) throw emailTaken()
  const passwordHash = await ctx.passwords.hash(registration.password, {
    address: registration.address,
    account: accountOf(emailNormalized),
  })
  const now = ctx.clock.now()
  const accountId = newId('acc')
  const vendor = { ownerId: newId('own'), access: ownerAccess }
  const actor = actorAt(vendor, accountId, registration.address)
  const token = await ctx.tx(
    actor,
    async (write) => {
      if (isClosed && !(await takeFirstOwnerLink(write.tx, link ?? '', now)))
        throw problem('first_owner_link_invalid')
      await accounts.insertAccount(write.tx, {
        id: accountId,
        name: registration.name,
        email: registration.email,
        email_normalized: emailNormalized,
        password_hash: passwordHash,
        created_at: now,
      })
      await owners.insertOwner(write.tx, {
        id: actor.ownerId,
        account_id: accountId,
        name: registration.name,
        created_at: now,
      })
      write.record('owner.registered', accountId, {})
      await attempts.accounts.remember(
        { account: accountOf(emailNormalized), address: registration.address },
        write.tx,
      )
      return openSession(write, actor)
    },
    { onTaken: emailTaken },
  )
  return { token, user: await getUser(ctx, actor) }
}

export async function login(
  ctx: Ctx,
  attempts: Attempts,
  credentials: { email: string; password: string; address: string },
): Promise<{ token: string; user: User } | SecondFactorStep> {
  const email = normalizeEmail(credentials.email)
  const { row: account, strongerHash } = await checkCredentials(
    ctx,
    attempts,
    { ...credentials, account: accountOf(email) },
    () => accounts.findAccountByEmail(ctx.db, email),
  )
  const actor = await actorAtLast(ctx.db, account, credentials.address)
  if (!actor) throw problem('no_vendor')
  const done = await ctx.tx(actor, async (write) => {
    const { tx } = write
    // The password may have changed while this one was being checked.
    if ((await accounts.lockAccount(tx, account.id))?.password_hash !== account.password_hash)
      throw problem('invalid_credentials')
    if (strongerHash) await accounts.updateAccount(tx, account.id, { password_hash: strongerHash })
    const state = toLoginState(strongerHash ?? account.password_hash)
    const asked = await askForFactor({ ctx }, write, holderOf(actor), { call: 'login', state })
    if (asked) return asked
    write.record('owner.signed_in', account.id, {})
    return openSession(write, actor)
  })
  return typeof done === 'string' ? { token: done, user: await getUser(ctx, actor) } : done
}

export async function logout(ctx: Ctx, actor: PersonActor): Promise<void> {
  await ctx.tx(actor, async (write) => {
    await sessions.endSession(write.tx, holderOf(actor), actor.sessionId)
    write.record('owner.signed_out', actor.actorId, {})
  })
}

/** Ends every session and returns the token of a new one. */
export async function changePassword(
  ctx: Ctx,
  attempts: Attempts,
  actor: PersonActor,
  change: { currentPassword: string; newPassword: string; address: string },
): Promise<string> {
  checkPassword(ctx, 'newPassword', change.newPassword)
  await confirmPassword(ctx, attempts, actor, {
    path: 'currentPassword',
    password: change.currentPassword,
    address: change.address,
  })
  const passwordHash = await ctx.passwords.hash(change.newPassword, callerOf(actor))
  const now = ctx.clock.now()
  return ctx.tx(actor, async (write) => {
    const { tx } = write
    await refuseEnded(tx, actor, now)
    await accounts.updateAccount(tx, actor.actorId, { password_hash: passwordHash })
    await sessions.endSessions(tx, holderOf(actor))
    await revokeResets(tx, 'owner', actor.actorId)
    write.record('owner.password_changed', actor.actorId, {})
    // The password is no proof on an account with a second factor.
    return openSession(write, actor, newId('ses'), actor.hasFactor ? actor.confirmedAt : undefined)
  })
}

export async function changeEmail(
  ctx: Ctx,
  attempts: Attempts,
  actor: PersonActor,
  change: { email: string; password: string; address: string },
): Promise<User> {
  await confirmPassword(ctx, attempts, actor, {
    path: 'password',
    password: change.password,
    address: change.address,
  })
  const now = ctx.clock.now()
  const email = normalizeEmail(change.email)
  await ctx.tx(
    actor,
    async (write) => {
      const { email: before, email_confirmed_at: confirmedAt } = await refuseEnded(write.tx, actor, now)
      await accounts.updateAccount(write.tx, actor.actorId, {
        email: change.email,
        email_normalized: email,
        // A mailed reset removes the factor if no address was ever confirmed: session and password must not lead there.
        email_confirmed_at: (await hasFactor(write.tx, holderOf(actor))) ? (confirmedAt ?? now) : null,
      })
      await revokeResets(write.tx, 'owner', actor.actorId)
      await attempts.accounts.remember({ account: accountOf(email), address: change.address }, write.tx)
      write.record('owner.email_changed', actor.actorId, { before, after: change.email })
    },
    { onTaken: emailTaken },
  )
  return getUser(ctx, actor)
}

/** Resolves a token to the person at the vendor account of its session. */
export async function authenticatePerson(
  ctx: Ctx,
  token: string,
  address: string,
): Promise<PersonActor | undefined> {
  const session = await sessions.findPersonSession(ctx, token, address)
  return session && toPersonActor(session.access, { ...session, address })
}

/** Rejects a session that ended because the password changed elsewhere while this one was being checked. */
export async function refuseEnded(tx: Tx, actor: PersonActor, now: number): Promise<AccountRow> {
  const account = await accounts.lockAccount(tx, actor.actorId)
  const start = await sessions.findSessionStart(tx, holderOf(actor), actor.sessionId, now)
  if (!account || start === undefined) throw problem('unauthorized')
  return account
}

/** Confirms an irreversible action: requires the password, or else a recently started session. */
export async function confirmIdentity(
  ctx: Ctx,
  attempts: Attempts,
  actor: PersonActor,
  proof: { password?: string | undefined; address: string },
): Promise<void> {
  const { password, address } = proof
  if (password !== undefined) {
    await confirmPassword(ctx, attempts, actor, { path: 'password', password, address })
  }
  const beganAt = await sessions.findSessionStart(ctx.db, holderOf(actor), actor.sessionId, ctx.clock.now())
  // The session ended because the password changed elsewhere meanwhile.
  if (beganAt === undefined) throw problem('unauthorized')
  if (password === undefined && beganAt <= ctx.clock.now() - freshMs) throw problem('reauthenticate')
}

/** Checks the password of a signed-in person; wrong ones count like those of sign-ins. */
export async function confirmPassword(
  ctx: Ctx,
  attempts: Attempts,
  actor: PersonActor,
  { path, ...proof }: { path: string; password: string; address: string },
): Promise<void> {
  const { email_normalized, password_hash } = await accounts.getAccount(ctx.db, actor.actorId)
  const own = { id: actor.actorId, passwordHash: password_hash, path }
  await checkOwnPassword(ctx, attempts, { ...proof, account: accountOf(email_normalized) }, own)
}

/** The rate limit's key for attempts on a person's password. */
export const accountOf = (emailNormalized: string): string => `owner:${emailNormalized}`

const emailTaken = () => problem('email_taken')
