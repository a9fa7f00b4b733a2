import type { Subscription, User } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { toIso } from '../../core/clock.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getAccount } from '../accounts/accounts.service.ts'
import { listAppRefs } from '../apps/apps.access.ts'
import * as owners from '../owners/owners.service.ts'
import { limitsOf } from '../owners/plan.rules.ts'
import { getSubscription } from '../payments/subscription.service.ts'

/** The signed-in person, for an API key the vendor's owner, with the vendor account that the actor works on. */
export async function getUser(ctx: Ctx, actor: VendorActor): Promise<User> {
  const owner = await owners.getOwner(ctx.db, actor)
  const account = await getAccount(ctx.db, actor.kind === 'api_key' ? owner.account_id : actor.actorId)
  const subscription = await getSubscription(ctx, owner)
  const apps = await listAppRefs(ctx.db, actor)
  return {
    _id: account.id,
    name: account.name,
    email: account.email,
    emailConfirmed: account.confirmed_email === account.email_normalized,
    role: actor.kind === 'api_key' ? 'owner' : actor.role,
    permissions: [...actor.permissions],
    allApps: actor.apps === null,
    vendor: { _id: owner.id, name: owner.name, paused: owner.pause_applications === 1 },
    plan: subscription.plan,
    ...limitsOf(subscription.plan, owner),
    apps,
    appCount: actor.apps === null ? owner.app_count : apps.length,
    paymentStatus: subscription.source === 'payment' ? 'paid' : 'unpaid',
    createdAt: toIso(account.created_at),
    subscription: actor.permissions.has('billing:read') ? subscription : withoutBilling(subscription),
  }
}

const withoutBilling = (subscription: Subscription): Subscription => ({
  ...subscription,
  orderId: null,
  paymentId: null,
  moneyBack: null,
})
