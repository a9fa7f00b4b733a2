import type { User } from '@keyward/contract'
import type { OwnerActor } from '../../core/actor.ts'
import { type Attempts, guardPassword, registrations } from '../../core/attempts.ts'
import { minute, toIso, toIsoOrNull } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import type { Ctx, OwnerScope } from '../../core/ctx.ts'
import { newId, newToken, normalizeName } from '../../core/ids.ts'
import { invalid, problem } from '../../core/problem.ts'
import { newSessionEnd, slidEnd, slide } from '../../core/sessions.ts'
import { type Tx, unlessTaken } from '../../db/open.ts'
import type { OwnerRow } from '../../db/tables.ts'
import { listAppRefs } from '../apps/apps.service.ts'
import { limitOrNull, type PlanLimits, planLimits, planOf } from '../owners/plan.rules.ts'
import { revokeResets } from '../password-resets/password-resets.service.ts'
import { getPaid, type Paid } from '../payments/subscription.service.ts'
import * as repo from './auth.repo.ts'
import { checkPassword } from './password.rules.ts'

export { findOwnerByEmail, lockOwner } from './auth.repo.ts'

/** A session this young counts as having just given the password. */
const freshMs = 10 * minute

export async function register(
  ctx: Ctx,
  attempts: Attempts,
  given: { name: string; email: string; password: string; address: string },
): Promise<{ token: string; user: User }> {
  if (ctx.config.registration === 'closed') throw problem('registration_closed')
  checkPassword(ctx, 'password', given.password)
  await attempts.count(registrations, given.address)
  const emailNormalized = normalizeName(given.email)
  if (await repo.findOwnerByEmail(ctx.db, emailNormalized)) throw emailTaken()
  const passwordHash = await ctx.passwords.hash(given.password)
  const now = ctx.clock.now()
  const actor = newActor(newId('own'), given.address)
  const token = await onlyOneEmail(() =>
    ctx.tx(actor, async (write) => {
      await repo.insertOwner(write.tx, {
        id: actor.ownerId,
        name: given.name,
        email: given.email,
        email_normalized: emailNormalized,
        password_hash: passwordHash,
        created_at: now,
      })
      write.record('owner.registered', actor.ownerId, {})
      await attempts.accounts.remember(
        { account: accountOf(emailNormalized), address: given.address },
        write.tx,
      )
      return openSession(write.tx, actor, now)
    }),
  )
  return { token, user: await getUser(ctx, actor) }
}

export async function login(
  ctx: Ctx,
  attempts: Attempts,
  given: { email: string; password: string; address: string },
): Promise<{ token: string; user: User }> {
  const email = normalizeName(given.email)
  const owner = await guardPassword(
    attempts,
    { account: accountOf(email), address: given.address },
    async () => {
      const found = await repo.findOwnerByEmail(ctx.db, email)
      return (await ctx.passwords.verify(found?.password_hash, given.password)) ? found : undefined
    },
  )
  if (!owner) throw problem('invalid_credentials')
  const actor = newActor(owner.id, given.address)
  const stronger = ctx.passwords.isOutdated(owner.password_hash)
    ? await ctx.passwords.hash(given.password)
    : undefined
  const now = ctx.clock.now()
  const token = await ctx.tx(actor, async (write) => {
    const { tx } = write
    // The password may have been changed while this one was being checked.
    if ((await repo.lockOwner(tx, actor)).password_hash !== owner.password_hash)
      throw problem('invalid_credentials')
    if (stronger) await repo.updateOwner(tx, actor, { password_hash: stronger })
    write.record('owner.signed_in', actor.ownerId, {})
    return openSession(tx, actor, now)
  })
  return { token, user: await getUser(ctx, actor) }
}

export async function logout(ctx: Ctx, actor: OwnerActor): Promise<void> {
  await ctx.tx(actor, async (write) => {
    await repo.deleteSession(write.tx, actor, actor.sessionId)
    write.record('owner.signed_out', actor.ownerId, {})
  })
}

/** Ends every session and answers the token of a new one. */
export async function changePassword(
  ctx: Ctx,
  attempts: Attempts,
  actor: OwnerActor,
  given: { currentPassword: string; newPassword: string; address: string },
): Promise<string> {
  checkPassword(ctx, 'newPassword', given.newPassword)
  await confirmPassword(ctx, attempts, actor, {
    path: 'currentPassword',
    password: given.currentPassword,
    address: given.address,
  })
  const passwordHash = await ctx.passwords.hash(given.newPassword)
  const now = ctx.clock.now()
  return ctx.tx(actor, async (write) => {
    const { tx } = write
    await refuseEnded(tx, actor, now)
    await repo.updateOwner(tx, actor, { password_hash: passwordHash })
    await repo.deleteSessions(tx, actor)
    await revokeResets(tx, 'owner', actor.ownerId)
    write.record('owner.password_changed', actor.ownerId, {})
    return openSession(tx, newActor(actor.ownerId, actor.address), now)
  })
}

export async function changeEmail(
  ctx: Ctx,
  attempts: Attempts,
  actor: OwnerActor,
  given: { email: string; password: string; address: string },
): Promise<User> {
  await confirmPassword(ctx, attempts, actor, {
    path: 'password',
    password: given.password,
    address: given.address,
  })
  const now = ctx.clock.now()
  const email = normalizeName(given.email)
  await onlyOneEmail(() =>
    ctx.tx(actor, async (write) => {
      const { email: before } = await refuseEnded(write.tx, actor, now)
      await repo.updateOwner(write.tx, actor, { email: given.email, email_normalized: email })
      await revokeResets(write.tx, 'owner', actor.ownerId)
      await attempts.accounts.remember({ account: accountOf(email), address: given.address }, write.tx)
      write.record('owner.email_changed', actor.ownerId, { before, after: given.email })
    }),
  )
  return getUser(ctx, actor)
}

/** Resolves a token to its owner; the session's end slides while it is used. */
export async function authenticateOwner(
  ctx: Ctx,
  token: string,
  address: string,
): Promise<OwnerActor | undefined> {
  const session = await repo.findSession(ctx.db, sha256(token))
  const now = ctx.clock.now()
  if (!session || session.expires_at <= now) return undefined
  const end = slidEnd(session, now)
  if (end !== undefined) await slide(() => repo.prolongSession(ctx.db, session.id, end))
  return { kind: 'owner', ownerId: session.owner_id, sessionId: session.id, address }
}

/** Which of these sessions are open; to ask is not to use them, so none slides. */
export async function openSessionsAmong(ctx: Ctx, ids: readonly string[]): Promise<Set<string>> {
  const open = new Set<string>()
  for (let at = 0; at < ids.length; at += 500) {
    const some = await repo.listOpenSessions(ctx.db, ids.slice(at, at + 500), ctx.clock.now())
    for (const id of some) open.add(id)
  }
  return open
}

export const endSessions = (tx: Tx, scope: OwnerScope): Promise<void> => repo.deleteSessions(tx, scope)

/** Sets until when the plan is premium, in milliseconds since 1970 (null is free), and since when it is cancelled. */
export const setPremiumUntil = (
  tx: Tx,
  scope: OwnerScope,
  until: number | null,
  cancelledAt: number | null = null,
): Promise<void> => repo.updateOwner(tx, scope, { premium_until: until, premium_cancelled_at: cancelledAt })

export const setPremiumCancelled = (tx: Tx, scope: OwnerScope, at: number): Promise<void> =>
  repo.updateOwner(tx, scope, { premium_cancelled_at: at })

/** What the owner's plan allows now. */
export async function getLimits(ctx: Ctx, scope: OwnerScope): Promise<PlanLimits> {
  const owner = await repo.getOwner(ctx.db, scope)
  return planLimits(planOf(owner.premium_until, ctx.clock.now()))
}

export async function getUser(ctx: Ctx, scope: OwnerScope): Promise<User> {
  const [owner, apps] = [await repo.getOwner(ctx.db, scope), await listAppRefs(ctx.db, scope)]
  return toUser(owner, apps, await getPaid(ctx, scope), ctx.clock.now())
}

function toUser(owner: OwnerRow, apps: User['apps'], paid: Paid, now: number): User {
  const plan = planOf(owner.premium_until, now)
  const isPremium = plan === 'premium'
  const allowed = planLimits(plan)
  return {
    _id: owner.id,
    name: owner.name,
    email: owner.email,
    role: 'owner',
    plan,
    ...allowed,
    apps,
    appCount: owner.app_count,
    paymentStatus: isPremium ? 'paid' : 'unpaid',
    createdAt: toIso(owner.created_at),
    subscription: {
      plan,
      expiryDate: toIsoOrNull(isPremium ? owner.premium_until : null),
      subscriptionId: null,
      hasActiveSubscription: isPremium,
      appLimit: limitOrNull(allowed.maxApps),
      licenseLimitPerApp: limitOrNull(allowed.maxLicensesPerApp),
      orderId: paid.orderId,
      paymentId: paid.paymentId,
      cancelledAt: toIsoOrNull(isPremium ? owner.premium_cancelled_at : null),
      endedAt: toIsoOrNull(isPremium ? null : owner.premium_until),
      moneyBack: isPremium ? paid.moneyBack : null,
    },
  }
}

export const newActor = (ownerId: string, address: string): OwnerActor => ({
  kind: 'owner',
  ownerId,
  sessionId: newId('ses'),
  address,
})

/** Stores the session that the actor acts in and returns its token. */
export async function openSession(tx: Tx, actor: OwnerActor, now: number): Promise<string> {
  const token = newToken('kwo')
  await repo.insertSession(tx, {
    id: actor.sessionId,
    owner_id: actor.ownerId,
    token_hash: sha256(token),
    created_at: now,
    expires_at: newSessionEnd(now),
  })
  return token
}

/** The password may have been changed elsewhere while this one was being checked: that has ended the session. */
async function refuseEnded(tx: Tx, actor: OwnerActor, now: number): Promise<OwnerRow> {
  const owner = await repo.lockOwner(tx, actor)
  if ((await repo.listOpenSessions(tx, [actor.sessionId], now)).length === 0) throw problem('unauthorized')
  return owner
}

/** For what cannot be undone: the password, or without it a session that began a short time ago. */
export async function confirmIdentity(
  ctx: Ctx,
  attempts: Attempts,
  actor: OwnerActor,
  given: { password?: string | undefined; address: string },
): Promise<void> {
  const { password, address } = given
  if (password !== undefined) {
    await confirmPassword(ctx, attempts, actor, { path: 'password', password, address })
  }
  const beganAt = await repo.findSessionStart(ctx.db, actor, actor.sessionId)
  // The password may have been changed elsewhere meanwhile: that has ended the session.
  if (beganAt === undefined) throw problem('unauthorized')
  if (password === undefined && beganAt <= ctx.clock.now() - freshMs) throw problem('reauthenticate')
}

async function confirmPassword(
  ctx: Ctx,
  attempts: Attempts,
  actor: OwnerActor,
  given: { path: string; password: string; address: string },
): Promise<void> {
  const owner = await repo.getOwner(ctx.db, actor)
  const subject = { account: accountOf(owner.email_normalized), address: given.address }
  const matches = await guardPassword(attempts, subject, async () =>
    (await ctx.passwords.verify(owner.password_hash, given.password)) ? true : undefined,
  )
  if (!matches) throw invalid(given.path, 'The password is not correct')
}

/** How guesses of an owner's password name the account. */
const accountOf = (emailNormalized: string): string => `owner:${emailNormalized}`

const onlyOneEmail = <T>(write: () => Promise<T>): Promise<T> => unlessTaken(emailTaken, write)

const emailTaken = () => problem('email_taken')
