import type { PortalReseller } from '@keyward/contract'
import type { ResellerActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { PasswordResets } from '../password-resets/password-resets.service.ts'
import * as resellers from '../resellers/resellers.access.ts'
import { holderOf, toActor } from '../resellers/resellers.service.ts'
import type { Asked, Holders, Self } from '../second-factors/holders.ts'
import { isStillValid } from '../second-factors/login-state.ts'
import { findSessionStart, openSession } from '../sessions/sessions.service.ts'
import { finishReset } from './portal.reset.ts'
import { toPortalReseller } from './portal.service.ts'

/** How resellers sign in with a second factor. */
export const portalHolders = (ctx: Ctx, resets: PasswordResets): Holders => ({
  kind: 'reseller',
  selfOf: (actor) => selfOf(actor as ResellerActor),
  goOn: (asked) => (asked.call === 'reset' ? finishReset(ctx, resets, asked) : finishLogin(ctx, asked)),
  signIn: (shown) => openPortal(ctx, shown, () => true),
})

/** A reseller whose factors a call changes. */
export const selfOf = (actor: ResellerActor): Self => ({
  actor,
  holder: holderOf(actor.resellerId),
  lock: async ({ tx, now }) => {
    const holder = holderOf(actor.resellerId)
    const reseller = (await resellers.lockActive(tx, holder.id)) && (await resellers.findById(tx, holder.id))
    if (!reseller || (await findSessionStart(tx, holder, actor.sessionId, now)) === undefined)
      throw problem('unauthorized')
    return reseller
  },
})

const finishLogin = (ctx: Ctx, asked: Asked) =>
  openPortal(ctx, asked, (passwordHash) => isStillValid(asked.state, passwordHash))

/** Opens a session, unless the reseller is suspended. */
async function openPortal(
  ctx: Ctx,
  { holder: { id }, take, address }: Pick<Asked, 'holder' | 'take' | 'address'>,
  isPassword: (hash: string) => boolean,
): Promise<{ token: string; reseller: PortalReseller }> {
  const found = await resellers.findById(ctx.db, id)
  if (found?.active !== 1) throw problem('invalid_code')
  const actor = toActor(found, address)
  const token = await ctx.tx(actor, async (write) => {
    const reseller = (await resellers.lockActive(write.tx, id)) && (await resellers.findById(write.tx, id))
    if (!reseller || !isPassword(reseller.password_hash)) throw problem('challenge_ended')
    await take(write)
    write.record('reseller.signed_in', id, {})
    return openSession(write, holderOf(id), actor.sessionId)
  })
  return { token, reseller: toPortalReseller(found) }
}
