import type { PortalReseller } from '@keyward/contract'
import { allApps, type ResellerActor } from '../../core/actor.ts'
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
      const reseller = await resellers.findReseller(ctx.db, allApps(account.ownerId), account.id)
      return reseller && toActor(reseller, reset.address)
    },
    lock: async (tx, scope) => {
      const isActive = await resellers.lockActive(tx, scope.resellerId)
      return isActive ? resellers.findReseller(tx, scope, scope.resellerId) : undefined
    },
    write: async (write, changed, passwordHash, _now) => {
      const { tx } = write
      await resellers.setPasswordHash(tx, changed.resellerId, passwordHash)
      await endSessions(tx, holderOf(changed.resellerId))
      write.record('reseller.password_reset', changed.resellerId, {})
      return openSession(write, holderOf(changed.resellerId), changed.sessionId)
    },
  })
  return { token, reseller: await getProfile(ctx, actor) }
}
