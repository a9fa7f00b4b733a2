import type { User } from '@keyward/contract'
import { type OfOwner, type OwnerScope, type PersonActor, toOwnerActor } from '../../core/actor.ts'
import { callerOf } from '../../core/caller.ts'
import { minute, toIso } from '../../core/clock.ts'
import { newId, normalizeName } from '../../core/ids.ts'
import { checkPassword } from '../../core/password-policy.ts'
import { invalid, problem } from '../../core/problem.ts'
import type { Tx } from '../../db/index.ts'
import type { OwnerRow } from '../../db/tables.ts'
import { type Attempts, guardPassword, registrations, rightPasswords } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { listAppRefs } from '../apps/apps.access.ts'
import * as owners from '../owners/owners.service.ts'
import { grantedPlanOf, planLimits } from '../owners/plan.rules.ts'
import { revokeResets } from '../password-resets/password-resets.access.ts'
import { getSubscription } from '../payments/subscription.service.ts'
import * as sessions from '../sessions/sessions.service.ts'
import { checkCredentials } from '../sessions/sign-in.service.ts'

/** A session this young counts as a recent password check. */
const freshMs = 10 * minute

export async function register(
  ctx: Ctx,
  attempts: Attempts,
  registration: { name: string; email: string; password: string; address: string },
): Promise<{ token: string; user: User }> {
  if (ctx.config.registration === 'closed') throw problem('registration_closed')
  checkPassword(ctx, 'password', registration.password)
  await attempts.count(registrations, registration.address)
  const emailNormalized = normalizeName(registration.email)
  if (await owners.findOwnerByEmail(ctx.db, emailNormalized)) throw emailTaken()
  const passwordHash = await ctx.passwords.hash(registration.password, {
    address: registration.address,
    account: accountOf(emailNormalized),
  })
  const now = ctx.clock.now()
  const actor = newActor(newId('own'), registration.address)
  const token = await ctx.tx(
    actor,
    async (write) => {
      await owners.insertOwner(write.tx, {
        id: actor.ownerId,
        name: registration.name,
        email: registration.email,
        email_normalized: emailNormalized,
        password_hash: passwordHash,
        created_at: now,
      })
      write.record('owner.registered', actor.ownerId, {})
      await attempts.accounts.remember(
        { account: accountOf(emailNormalized), address: registration.address },
        write.tx,
      )
      return sessions.openSession(write, holderOf(actor), actor.sessionId)
    },
    { onTaken: emailTaken },
  )
  return { token, user: await getUser(ctx, actor) }
}

export async function login(
  ctx: Ctx,
  attempts: Attempts,
  credentials: { email: string; password: string; address: string },
): Promise<{ token: string; user: User }> {
  const email = normalizeName(credentials.email)
  const { row: owner, strongerHash } = await checkCredentials(
    ctx,
    attempts,
    { ...credentials, account: accountOf(email) },
    () => owners.findOwnerByEmail(ctx.db, email),
  )
  const actor = newActor(owner.id, credentials.address)
  const token = await ctx.tx(actor, async (write) => {
    const { tx } = write
    // The password may have changed while this one was being checked.
    if ((await owners.lockOwner(tx, actor)).password_hash !== owner.password_hash)
      throw problem('invalid_credentials')
    if (strongerHash) await owners.updateOwner(tx, actor, { password_hash: strongerHash })
    write.record('owner.signed_in', actor.ownerId, {})
    return sessions.openSession(write, holderOf(actor), actor.sessionId)
  })
  return { token, user: await getUser(ctx, actor) }
}

export async function logout(ctx: Ctx, actor: PersonActor): Promise<void> {
  await ctx.tx(actor, async (write) => {
    await sessions.endSession(write.tx, holderOf(actor), actor.sessionId)
    write.record('owner.signed_out', actor.ownerId, {})
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
    await owners.updateOwner(tx, actor, { password_hash: passwordHash })
    await sessions.endSessions(tx, holderOf(actor))
    await revokeResets(tx, 'owner', actor.ownerId)
    write.record('owner.password_changed', actor.ownerId, {})
    return sessions.openSession(write, holderOf(actor), newId('ses'))
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
  const email = normalizeName(change.email)
  await ctx.tx(
    actor,
    async (write) => {
      const { email: before } = await refuseEnded(write.tx, actor, now)
      await owners.updateOwner(write.tx, actor, { email: change.email, email_normalized: email })
      await revokeResets(write.tx, 'owner', actor.ownerId)
      await attempts.accounts.remember({ account: accountOf(email), address: change.address }, write.tx)
      write.record('owner.email_changed', actor.ownerId, { before, after: change.email })
    },
    { onTaken: emailTaken },
  )
  return getUser(ctx, actor)
}

/** Resolves a token to its owner. */
export async function authenticateOwner(
  ctx: Ctx,
  token: string,
  address: string,
): Promise<PersonActor | undefined> {
  const session = await sessions.findSession(ctx, 'owner', token)
  return session && toOwnerActor({ ownerId: session.holderId, sessionId: session.id, address })
}

export async function getUser(ctx: Ctx, scope: OwnerScope): Promise<User> {
  const owner = await owners.getOwner(ctx.db, scope)
  const subscription = await getSubscription(ctx, owner)
  return {
    _id: owner.id,
    name: owner.name,
    email: owner.email,
    role: 'owner',
    plan: subscription.plan,
    ...planLimits(subscription.plan),
    apps: await listAppRefs(ctx.db, scope),
    appCount: owner.app_count,
    paymentStatus: grantedPlanOf(owner.premium_until, ctx.clock.now()).plan === 'premium' ? 'paid' : 'unpaid',
    createdAt: toIso(owner.created_at),
    subscription,
  }
}

export const newActor = (ownerId: string, address: string): PersonActor =>
  toOwnerActor({ ownerId, sessionId: newId('ses'), address })

/** An owner as the holder of its sessions. */
export const holderOf = ({ ownerId }: OfOwner): sessions.Holder => ({ kind: 'owner', id: ownerId })

/** Rejects a session that ended because the password changed elsewhere while this one was being checked. */
async function refuseEnded(tx: Tx, actor: PersonActor, now: number): Promise<OwnerRow> {
  const owner = await owners.lockOwner(tx, actor)
  const start = await sessions.findSessionStart(tx, holderOf(actor), actor.sessionId, now)
  if (start === undefined) throw problem('unauthorized')
  return owner
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

async function confirmPassword(
  ctx: Ctx,
  attempts: Attempts,
  actor: PersonActor,
  proof: { path: string; password: string; address: string },
): Promise<void> {
  const owner = await owners.getOwner(ctx.db, actor)
  const subject = { account: accountOf(owner.email_normalized), address: proof.address }
  const matches = await guardPassword(attempts, subject, async () =>
    (await ctx.passwords.verify(owner.password_hash, proof.password)) ? true : undefined,
  )
  if (!matches) throw invalid(proof.path, 'The password is not correct')
  await attempts.count(rightPasswords, actor.ownerId)
}

/** The rate limit's key for attempts on an owner's password. */
const accountOf = (emailNormalized: string): string => `owner:${emailNormalized}`

const emailTaken = () => problem('email_taken')
