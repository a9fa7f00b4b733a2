import { z } from 'zod'
import { plan, subscription } from './auth.ts'
import { endpoint } from './endpoint.ts'
import { planDuration, price } from './shared.ts'

/** A plan with the price of its shortest term; -1 means unlimited. */
const planInfo = z.strictObject({
  _id: plan,
  name: z.enum(['Free', 'Premium']),
  ...price.shape,
  limits: z.strictObject({ maxApps: z.int(), maxLicensesPerApp: z.int(), maxResellers: z.int() }),
  features: z.array(z.string()),
})

/** A term of the premium plan. */
const term = z.strictObject({ ...price.shape, planDuration, days: z.int() })

/** The plans on offer. The savings of the yearly term compare with twelve monthly terms and are never negative. */
export const pricing = z.strictObject({
  free: planInfo,
  premium: planInfo,
  premium_monthly: term,
  premium_yearly: term.extend({
    savings: z.strictObject({
      amount: z.int(),
      amountFormatted: z.string(),
      percentage: z.int().describe('rounded to whole percent'),
    }),
  }),
})

const tag = 'Plans'

export const plans = {
  list: endpoint({
    method: 'GET',
    path: '/plans',
    access: 'owner',
    permission: 'billing:read',
    allApps: true,
    tag,
    summary: 'List the plans with their limits and features',
    data: z.strictObject({ plans: z.array(planInfo) }),
  }),
  subscription: endpoint({
    method: 'GET',
    path: '/subscription',
    access: 'owner',
    permission: 'billing:read',
    allApps: true,
    tag,
    summary: 'Get the state of your plan',
    data: z.strictObject({ subscription }),
  }),
  pricing: endpoint({
    method: 'GET',
    path: '/payments/pricing',
    access: 'owner',
    permission: 'billing:read',
    allApps: true,
    tag,
    summary: 'Get the prices of the plans, in the smallest unit of the currency and formatted',
    data: z.strictObject({
      plans: pricing,
      coupons: z
        .array(z.strictObject({ couponCode: z.string(), discount: z.int().describe('percent') }))
        .describe('public coupons that you can use now, largest discount first'),
      checkout: z
        .enum(['razorpay', 'mock', 'off'])
        .describe('how this server takes payments: through the provider, simulated, or not at all'),
    }),
  }),
}

export type PlanInfo = z.output<typeof planInfo>
export type Pricing = z.output<typeof pricing>
