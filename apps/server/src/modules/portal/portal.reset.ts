import type { PortalReseller, SecondFactorStep } from '@keyward/contract'
import type { ResellerActor } from '../../core/actor.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { PasswordResets, Request, Reset } from '../password-resets/password-resets.service.ts'
import * as resellers from '../resellers/resellers.access.ts'
import { holderOf, toActor } from '../resellers/resellers.service.ts'
import type { Asked } from '../second-factors/holders.ts'
import { askForFactor } from '../second-factors/second-factors.proofs.ts'
import { endSessions, openSession } from '../sessions/sessions.service.ts'
import { getProfile } from './portal.service.ts'

/** How the account of a reseller who forgot its password is found. A suspended one gets no link. */
export const toResetRequest = (ctx: Pick<Ctx, 'db'>): Request => ({
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
): Promise<{ token: string; reseller: PortalReseller } | SecondFactorStep> {
  const done = await resets.complete('reseller', reset, stepsOf(ctx, reset.address))
  return 'secondFactor' in done ? done : sessionOf(ctx, done)
}

/** Goes on with a reset that asked for a second factor. */
export const finishReset = async (ctx: Ctx, resets: PasswordResets, asked: Asked) =>
  sessionOf(ctx, await resets.finish('reseller', asked, stepsOf(ctx, asked.address)))

const sessionOf = async (ctx: Ctx, { actor, result }: { actor: ResellerActor; result: string }) => ({
  token: result,
  reseller: await getProfile(ctx, actor),
})

function stepsOf(ctx: Ctx, address: string): Reset<ResellerActor, string> {
  return {
    begin: async (account) => {
      const reseller = await resellers.findById(ctx.db, account.id)
      return reseller && toActor(reseller, address)
    },
    lock: async (tx, { id }) => {
      const isActive = await resellers.lockActive(tx, id)
      return isActive ? resellers.findById(tx, id) : undefined
    },
    ask: (write, { id }, state) => askForFactor({ ctx }, write, holderOf(id), { call: 'reset', state }),
    write: async (write, { account: { id }, actor, passwordHash }) => {
      const { tx } = write
      await resellers.setPasswordHash(tx, id, passwordHash)
      await endSessions(tx, holderOf(id))
      write.record('reseller.password_reset', id, {})
      return openSession(write, holderOf(id), actor.sessionId)
    },
  }
}
