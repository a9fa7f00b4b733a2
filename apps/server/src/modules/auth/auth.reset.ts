import type { User } from '@keyward/contract'
import type { OwnerActor } from '../../core/actor.ts'
import type { Ctx } from '../../core/ctx.ts'
import type { PasswordResets } from '../password-resets/password-resets.service.ts'
import * as repo from './auth.repo.ts'
import { getUser, newActor, openSession } from './auth.service.ts'

export const forgotPassword = (
  ctx: Ctx,
  resets: PasswordResets,
  given: { email: string; address: string },
): Promise<void> =>
  resets.request('owner', given, {
    find: async (email) => {
      const owner = await repo.findOwnerByEmail(ctx.db, email)
      return owner && { ownerId: owner.id, id: owner.id }
    },
    lock: async (tx, scope, email) => {
      // The address may have been changed meanwhile; that revokes links to the old one.
      const owner = await repo.lockOwner(tx, scope)
      return owner.email_normalized === email ? owner : undefined
    },
  })

/** Ends every session and returns the token of a new one. */
export async function resetPassword(
  ctx: Ctx,
  resets: PasswordResets,
  given: { token: string; password: string; address: string },
): Promise<{ token: string; user: User }> {
  const { actor, result: token } = await resets.complete<OwnerActor, string>('owner', given, {
    begin: async ({ ownerId }) => newActor(ownerId, given.address),
    lock: repo.lockOwner,
    write: async (write, actor, passwordHash, now) => {
      await repo.updateOwner(write.tx, actor, { password_hash: passwordHash })
      await repo.deleteSessions(write.tx, actor)
      write.record('owner.password_reset', actor.ownerId, {})
      return openSession(write.tx, actor, now)
    },
  })
  return { token, user: await getUser(ctx, actor) }
}
