import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import { getUser } from '../account/account.view.ts'
import type { Parts } from '../module.ts'
import { listOffered } from '../payments/coupons.service.ts'
import { listPlans, toPricing } from '../payments/pricing.rules.ts'

export function plansRoutes(mount: Mount, { ctx }: Parts): void {
  const { plans } = endpoints
  mount(plans.list, 'owner', async () => {
    const { free, premium } = listPlans(ctx.config)
    return { plans: [free, premium] }
  })
  mount(plans.subscription, 'owner', async ({ actor }) => {
    const { subscription } = await getUser(ctx, actor)
    return { subscription }
  })
  mount(plans.pricing, 'owner', async ({ actor }) => ({
    plans: toPricing(ctx.config),
    coupons: await listOffered(ctx, actor),
    checkout: ctx.config.payments.mode,
  }))
}
