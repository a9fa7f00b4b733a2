import {
  type BodyOf,
  type endpoints,
  limits,
  password as passwordRules,
  type SecondFactorStep,
  type User,
} from '@keyward/contract'
import type { PersonActor } from '../../core/actor.ts'
import { minute } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import { newId } from '../../core/ids.ts'
import { checkPassword } from '../../core/passwords/password-policy.ts'
import { invalid, problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import { type Allowance, type Attempts, registrations } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import * as accounts from '../accounts/accounts.service.ts'
import {
  findInvitation,
  type Invitation,
  join,
  listVendors,
  takeInvitation,
} from '../members/members.access.ts'
import type { Asked } from '../second-factors/holders.ts'
import { isStillValid, toLoginState } from '../second-factors/login-state.ts'
import { askForFactor } from '../second-factors/second-factors.proofs.ts'
import { checkCredentials } from '../sessions/sign-in.service.ts'
import { accountOf } from './account.service.ts'
import { actorAt, openSession } from './account.vendors.ts'
import { getUser } from './account.view.ts'

const wrongTokens: Allowance = { name: 'invitation-token', max: 30, windowMs: 15 * minute }

type Acceptance = BodyOf<typeof endpoints.vendors.acceptInvitation> & { address: string }

/**
 * Accepts an invitation and signs in at its vendor. The holder of the link must not learn whether the invited address has an
 * account: without a name, an unknown address answers like a wrong password; with one, the same rules apply to both.
 */
export async function acceptInvitation(
  ctx: Ctx,
  attempts: Attempts,
  { token, name, password, address }: Acceptance,
): Promise<{ token: string; user: User } | SecondFactorStep> {
  if (password === undefined) throw invalid('password', 'Password is required')
  if (name !== undefined) checkNewPassword(ctx, password)
  await attempts.check(wrongTokens, address)
  const tokenHash = sha256(token)
  const invitation = await findInvitation(ctx.db, tokenHash, ctx.clock.now())
  if (!invitation) {
    await attempts.count(wrongTokens, address)
    throw problem('invitation_invalid')
  }
  const account = await accounts.findAccountByEmail(ctx.db, invitation.emailNormalized)
  const proof = { password, address, account: accountOf(invitation.emailNormalized) }
  const joining =
    account || name === undefined
      ? await proveAccount(ctx, attempts, { ...proof, tokenHash }, account)
      : await newAccount(ctx, attempts, { name, ...proof }, invitation)
  const actor = actorAt(invitation, joining.id, address)
  const opened = await ctx.tx(
    actor,
    async (write) => (await joining.write(write)) ?? joinVendor(write, invitation, actor),
    { onTaken: joining.onTaken },
  )
  if (typeof opened !== 'string') return opened
  // Role and apps may have changed between reading and taking the invitation; the session has those of now.
  return { token: opened, user: await getUser(ctx, actor) }
}

/** Goes on with an invitation that asked for a second factor. */
export async function finishInvitation(
  ctx: Ctx,
  { holder: { id }, state, take, address }: Asked,
): Promise<{ token: string; user: User }> {
  const { tokenHash, login } = state as Waiting
  const invitation = await findInvitation(ctx.db, tokenHash, ctx.clock.now())
  if (!invitation) throw problem('invitation_invalid')
  const actor = actorAt(invitation, id, address)
  const token = await ctx.tx(
    actor,
    async (write) => {
      const account = await accounts.lockAccount(write.tx, id)
      const isSame = account?.email_normalized === invitation.emailNormalized
      if (!isSame || !isStillValid(login, account.password_hash)) throw problem('challenge_ended')
      await take(write)
      return joinVendor(write, invitation, actor)
    },
    { onTaken: () => problem('member_exists') },
  )
  return { token, user: await getUser(ctx, actor) }
}

/** What an invitation waits with for a second factor. The link still works meanwhile. */
interface Waiting {
  tokenHash: string
  login: ReturnType<typeof toLoginState>
}

/** Uses the invitation and opens a session at its vendor. */
async function joinVendor(
  write: WriteTransaction,
  invitation: Invitation,
  actor: PersonActor,
): Promise<string> {
  if (!(await takeInvitation(write.tx, invitation, write.now))) throw problem('invitation_invalid')
  const vendors = await listVendors(write.tx, actor.actorId)
  if (vendors.some(({ ownerId }) => ownerId === invitation.ownerId)) throw problem('member_exists')
  if (vendors.length >= limits.vendorsMax) throw problem('vendors_full')
  await join(write.tx, invitation, actor.actorId)
  write.record('member.joined', invitation.id, {})
  return openSession(write, actor)
}

/** A person who joins, and what its account needs in the transaction. */
interface Joining {
  id: string
  /** Asks for a second factor if the person has one: then nothing changes before it was shown. */
  write: (write: WriteTransaction) => Promise<SecondFactorStep | undefined>
  onTaken: () => Error
}

function checkNewPassword(ctx: Ctx, password: string): void {
  const { error } = passwordRules.safeParse(password)
  if (error) throw invalid('password', error.issues[0]?.message ?? 'The password is not valid')
  checkPassword(ctx, 'password', password)
}

/** Throttled like a sign-in. */
async function proveAccount(
  ctx: Ctx,
  attempts: Attempts,
  { tokenHash, ...proof }: { account: string; address: string; password: string; tokenHash: string },
  account: Awaited<ReturnType<typeof accounts.findAccountByEmail>>,
): Promise<Joining> {
  const { row, strongerHash } = await checkCredentials(ctx, attempts, proof, async () => account)
  return {
    id: row.id,
    write: async (write) => {
      const { tx } = write
      // The password may have changed while this one was being checked.
      if ((await accounts.lockAccount(tx, row.id))?.password_hash !== row.password_hash)
        throw problem('invalid_credentials')
      if (strongerHash) await accounts.updateAccount(tx, row.id, { password_hash: strongerHash })
      const state: Waiting = { tokenHash, login: toLoginState(strongerHash ?? row.password_hash) }
      const holder = { kind: 'account', id: row.id } as const
      return askForFactor({ ctx }, write, holder, { call: 'invitation', state })
    },
    onTaken: () => problem('member_exists'),
  }
}

/** Throttled like a registration. The address stays unconfirmed: who invites can read the link, too. */
async function newAccount(
  ctx: Ctx,
  attempts: Attempts,
  person: { name: string; password: string; account: string; address: string },
  { email, emailNormalized }: Invitation,
): Promise<Joining> {
  const { name, password, account, address } = person
  await attempts.count(registrations, address)
  const passwordHash = await ctx.passwords.hash(password, { address, account })
  const id = newId('acc')
  return {
    id,
    write: async ({ tx, now }) => {
      await accounts.insertAccount(tx, {
        ...{ id, name, email, created_at: now },
        email_normalized: emailNormalized,
        password_hash: passwordHash,
      })
      await attempts.accounts.remember({ account, address }, tx)
      return undefined
    },
    // The address was registered meanwhile, so accepting needs that account's password.
    onTaken: () => problem('invalid_credentials'),
  }
}
