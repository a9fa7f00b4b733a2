import type { User } from '@keyward/contract'
import { type PersonActor, personOf, type VendorActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import type { Ctx } from '../../service/ctx.ts'
import * as accounts from '../accounts/accounts.service.ts'
import type { PasswordResets } from '../password-resets/password-resets.service.ts'
import type { Asked, Holders, Self } from '../second-factors/holders.ts'
import { isStillValid } from '../second-factors/login-state.ts'
import { finishInvitation } from './account.invitations.ts'
import { finishReset } from './account.reset.ts'
import { refuseEnded } from './account.service.ts'
import { actorAtLast, holderOf, openSession } from './account.vendors.ts'
import { getUser } from './account.view.ts'

/** How people sign in with a second factor. */
export const accountHolders = (ctx: Ctx, resets: PasswordResets): Holders => ({
  kind: 'account',
  selfOf: (actor) => selfOf(personOf(actor as VendorActor)),
  goOn: (asked) => {
    if (asked.call === 'reset') return finishReset(ctx, resets, asked)
    if (asked.call === 'invitation') return finishInvitation(ctx, asked)
    return signIn(ctx, asked, (passwordHash) => isStillValid(asked.state, passwordHash))
  },
  signIn: (shown) => signIn(ctx, shown, () => true),
})

/** A person whose factors a call changes. */
export const selfOf = (actor: PersonActor): Self => ({
  actor,
  holder: holderOf(actor),
  lock: ({ tx, now }) => refuseEnded(tx, actor, now),
})

/** Opens a session at the vendor account used last. */
async function signIn(
  ctx: Ctx,
  { holder: { id }, take, address }: Pick<Asked, 'holder' | 'take' | 'address'>,
  isPassword: (hash: string) => boolean,
): Promise<{ token: string; user: User }> {
  const actor = await actorAtLast(ctx.db, await accounts.getAccount(ctx.db, id), address)
  if (!actor) throw problem('no_vendor')
  const token = await ctx.tx(actor, async (write) => {
    const account = await accounts.lockAccount(write.tx, id)
    if (!account || !isPassword(account.password_hash)) throw problem('challenge_ended')
    await take(write)
    write.record('owner.signed_in', id, {})
    return openSession(write, actor)
  })
  return { token, user: await getUser(ctx, actor) }
}
