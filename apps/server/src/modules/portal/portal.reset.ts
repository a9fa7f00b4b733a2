import type { PortalReseller } from '@keyward/contract'
import type { ResellerActor } from '../../core/actor.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { PasswordResets } from '../password-resets/password-resets.service.ts'
import * as resellers from '../resellers/resellers.access.ts'
import { holderOf, toActor } from '../resellers/resellers.service.ts'
import { endSessions, openSession } from '../sessions/sessions.service.ts'
import { getProfile } from './portal.service.ts'

/** Sends no link to a suspended reseller. */
export const forgotPassword = (
  ctx: Ctx,
  resets: PasswordResets,
  request: { email: string; address: string },
): Promise<void> =>
  resets.request('reseller', request, {
    find: async (email) => {
      const reseller = await resellers.findByEmail(ctx.db, email)
      return reseller && { ownerId: reseller.owner_id, id: reseller.id }
    },
    lock: async (tx, { id }, email) => {
      const isActive = await resellers.lockActive(tx, id)
      return isActive ? resellers.findByEmail(tx, email) : undefined
    },
  })

/** Ends every session and returns the token of a new one. Rejects a suspended reseller. */
export async function resetPassword(
  ctx: Ctx,
  resets: PasswordResets,
  reset: { token: string; password: string; address: string },
): Promise<{ token: string; reseller: PortalReseller }> {
  const { actor, result: token } = await resets.complete<ResellerActor, string>('reseller', reset, {
    begin: async (account) => {
      const reseller = await resellers.findById(ctx.db, account.id)
      return reseller && toActor(reseller, reset.address)
    },
    lock: async (tx, { id }) => {
      const isActive = await resellers.lockActive(tx, id)
      return isActive ? resellers.findById(tx, id) : undefined
    },
    write: async (write, { account: { id }, actor, passwordHash }) => {
      const { tx } = write
      await resellers.setPasswordHash(tx, id, passwordHash)
      await endSessions(tx, holderOf(id))
      write.record('reseller.password_reset', id, {})
      return openSession(write, holderOf(id), actor.sessionId)
    },
  })
  return { token, reseller: await getProfile(ctx, actor) }
}
