import type { User } from '@keyward/contract'
import type { AccountActor, PersonActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import type { Ctx } from '../../service/ctx.ts'
import * as accounts from '../accounts/accounts.service.ts'
import type { PasswordResets } from '../password-resets/password-resets.service.ts'
import { endSessions } from '../sessions/sessions.service.ts'
import { actorAtLast, openSession } from './account.vendors.ts'
import { getUser } from './account.view.ts'

export const forgotPassword = (
  ctx: Ctx,
  resets: PasswordResets,
  request: { email: string; address: string },
): Promise<void> =>
  resets.request('owner', request, {
    find: async (email) => {
      const account = await accounts.findAccountByEmail(ctx.db, email)
      return account && { ownerId: account.last_owner_id, id: account.id }
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
): Promise<{ token: string; user: User }> {
  const { actor, result: token } = await resets.complete<PersonActor | AccountActor, string>('owner', reset, {
    begin: async ({ id }) => {
      const account = await accounts.getAccount(ctx.db, id)
      const actor = await actorAtLast(ctx.db, account, reset.address)
      return actor ?? { kind: 'account', ownerId: null, actorId: id, sessionId: null, address: reset.address }
    },
    lock: (tx, { id }) => accounts.lockAccount(tx, id),
    write: async (write, { account: { id }, actor, passwordHash }) => {
      await accounts.updateAccount(write.tx, id, { password_hash: passwordHash })
      await endSessions(write.tx, { kind: 'account', id })
      write.record('owner.password_reset', id, {})
      return actor.kind === 'account' ? '' : openSession(write, actor)
    },
  })
  if (actor.kind === 'account') throw problem('no_vendor')
  return { token, user: await getUser(ctx, actor) }
}
