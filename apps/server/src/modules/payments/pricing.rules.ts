import { formatAmount, limits, type PlanInfo, type Pricing } from '@keyward/contract'
import type { Config } from '../../config.ts'
import { toPrice } from '../../core/money.ts'
import { planLimits } from '../owners/plan.rules.ts'

/** How long one payment lasts. */
export const termDays = { monthly: 30, yearly: 365 } as const

const { free } = limits
const features: Record<PlanInfo['_id'], string[]> = {
  free: [
    `${free.maxApps} applications`,
    `${free.maxLicensesPerApp} licenses per application`,
    'End-user management with hardware lock',
    'Signed client API',
  ],
  premium: [
    'Unlimited applications',
    'Unlimited licenses per application',
    'Unlimited resellers with a portal of their own',
    'End-user management with hardware lock',
    'Signed client API',
  ],
}

export function listPlans({ prices }: Pick<Config, 'prices'>): { free: PlanInfo; premium: PlanInfo } {
  const plan = (_id: PlanInfo['_id'], name: PlanInfo['name'], amount: number): PlanInfo => ({
    _id,
    name,
    ...toPrice(amount, prices.currency),
    limits: { ...planLimits(_id) },
    features: features[_id],
  })
  return { free: plan('free', 'Free', 0), premium: plan('premium', 'Premium', prices.monthly) }
}

/** Savings of the yearly plan against twelve months; none if it costs more. */
function savings(prices: Config['prices']): Pricing['premium_yearly']['savings'] {
  const twelveMonths = prices.monthly * 12
  const amount = Math.max(0, twelveMonths - prices.yearly)
  return {
    amount,
    amountFormatted: formatAmount(amount, prices.currency),
    percentage: Math.round((amount / twelveMonths) * 100),
  }
}

export function toPricing(config: Pick<Config, 'prices'>): Pricing {
  const { prices } = config
  const term = (planDuration: 'monthly' | 'yearly') => ({
    ...toPrice(prices[planDuration], prices.currency),
    planDuration,
    days: termDays[planDuration],
  })
  return {
    ...listPlans(config),
    premium_monthly: term('monthly'),
    premium_yearly: { ...term('yearly'), savings: savings(prices) },
  }
}
