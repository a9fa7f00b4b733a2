import type { User } from '@keyward/contract'
import type { PersonActor } from '../../core/actor.ts'
import type { Ctx } from '../../service/ctx.ts'
import * as owners from '../owners/owners.service.ts'
import type { PasswordResets } from '../password-resets/password-resets.service.ts'
import { endSessions, openSession } from '../sessions/sessions.service.ts'
import { getUser, holderOf, newActor } from './account.service.ts'

export const forgotPassword = (
  ctx: Ctx,
  resets: PasswordResets,
  request: { email: string; address: string },
): Promise<void> =>
  resets.request('owner', request, {
    find: async (email) => {
      const owner = await owners.findOwnerByEmail(ctx.db, email)
      return owner && { ownerId: owner.id, id: owner.id }
    },
    lock: async (tx, scope, email) => {
      // The address may have changed meanwhile, which revokes links to the old one.
      const owner = await owners.lockOwner(tx, scope)
      return owner.email_normalized === email ? owner : undefined
    },
  })

/** Ends every session and returns the token of a new one. */
export async function resetPassword(
  ctx: Ctx,
  resets: PasswordResets,
  reset: { token: string; password: string; address: string },
): Promise<{ token: string; user: User }> {
  const { actor, result: token } = await resets.complete<PersonActor, string>('owner', reset, {
    begin: async ({ ownerId }) => newActor(ownerId, reset.address),
    lock: owners.lockOwner,
    write: async (write, actor, passwordHash, _now) => {
      await owners.updateOwner(write.tx, actor, { password_hash: passwordHash })
      await endSessions(write.tx, holderOf(actor))
      write.record('owner.password_reset', actor.ownerId, {})
      return openSession(write, holderOf(actor), actor.sessionId)
    },
  })
  return { token, user: await getUser(ctx, actor) }
}
