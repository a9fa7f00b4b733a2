import type { SecondFactorStep, User } from '@keyward/contract'
import { type AccountActor, allApps, type PersonActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import * as accounts from '../accounts/accounts.service.ts'
import { revokeApiKeys } from '../api-keys/api-keys.access.ts'
import { listVendors } from '../members/members.access.ts'
import type { PasswordResets, Request, Reset } from '../password-resets/password-resets.service.ts'
import type { Asked } from '../second-factors/holders.ts'
import { removeFactors } from '../second-factors/second-factors.access.ts'
import { askForFactor } from '../second-factors/second-factors.proofs.ts'
import { endSessions } from '../sessions/sessions.service.ts'
import { actorAtLast, findLastVendor, openSession } from './account.vendors.ts'
import { getUser } from './account.view.ts'

/** How the account of a person who forgot its password is found. */
export const toResetRequest = (ctx: Pick<Ctx, 'db'>): Request => ({
  find: async (email) => {
    const account = await accounts.findAccountByEmail(ctx.db, email)
    const vendor = account && (await findLastVendor(ctx.db, account))
    return account && { ownerId: vendor?.ownerId ?? null, id: account.id }
  },
  lock: async (tx, { id }, email) => {
    // The address may have changed meanwhile, which revokes links to the old one.
    const account = await accounts.lockAccount(tx, id)
    return account?.email_normalized === email ? account : undefined
  },
})

/**
 * Ends every session and returns the token of a new one. A person without a vendor account gets the new password too, with which
 * it can accept an invitation, but no session.
 */
export async function resetPassword(
  ctx: Ctx,
  resets: PasswordResets,
  reset: { token: string; password: string; address: string },
): Promise<{ token: string; user: User } | SecondFactorStep> {
  const done = await resets.complete('owner', reset, stepsOf(ctx, reset.address))
  return 'secondFactor' in done ? done : sessionOf(ctx, done)
}

/** Goes on with a reset that asked for a second factor. */
export const finishReset = async (ctx: Ctx, resets: PasswordResets, asked: Asked) =>
  sessionOf(ctx, await resets.finish('owner', asked, stepsOf(ctx, asked.address)))

async function sessionOf(
  ctx: Ctx,
  { actor, result }: { actor: PersonActor | AccountActor; result: string },
): Promise<{ token: string; user: User }> {
  if (actor.kind === 'account') throw problem('no_vendor')
  return { token: result, user: await getUser(ctx, actor) }
}

function stepsOf(ctx: Ctx, address: string): Reset<PersonActor | AccountActor, string> {
  return {
    begin: async ({ id }) => {
      const account = await accounts.getAccount(ctx.db, id)
      const actor = await actorAtLast(ctx.db, account, address)
      return actor ?? { kind: 'account', ownerId: null, actorId: id, sessionId: null, address }
    },
    lock: (tx, { id }) => accounts.lockAccount(tx, id),
    ask: (write, { id }, state) => askUnlessNeverConfirmed(ctx, write, id, state),
    write: async (write, { account: { id }, actor, passwordHash }) => {
      const { email_normalized } = await accounts.getAccount(write.tx, id)
      await accounts.updateAccount(write.tx, id, {
        password_hash: passwordHash,
        email_confirmed_at: write.now,
        confirmed_email: email_normalized,
      })
      write.queues.add('waiting mails')
      await endSessions(write.tx, { kind: 'account', id })
      write.record('owner.password_reset', id, {})
      return actor.kind === 'account' ? '' : openSession(write, actor)
    },
  }
}

/**
 * Asks for the second factor. Someone who registered another person's address may have added the factors and API keys of an
 * account whose address no mailed link has ever confirmed, so they go.
 */
async function askUnlessNeverConfirmed(
  ctx: Ctx,
  write: WriteTransaction,
  id: string,
  state: object,
): Promise<SecondFactorStep | undefined> {
  const holder = { kind: 'account', id } as const
  const { email_confirmed_at: confirmedAt } = await accounts.getAccount(write.tx, id)
  if (confirmedAt !== null) return askForFactor({ ctx }, write, holder, { call: 'reset', state })
  if (await removeFactors(write.tx, holder)) write.record('owner.second_factors_removed', id, {})
  const own = (await listVendors(write.tx, id)).find(({ access }) => access.role === 'owner')
  if (own) await revokeApiKeys(write, allApps(own.ownerId))
  return undefined
}
