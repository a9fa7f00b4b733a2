import type { PlanDuration, Price, Pricing } from '@keyward/contract'

export interface Offer {
  planDuration: PlanDuration
  term: 'Monthly' | 'Yearly'
  price: string
  /** What it costs without the coupon. */
  before: string | undefined
  per: string
  note: string | undefined
}

export type Totals = Record<PlanDuration, Price>

const monthly = { planDuration: 'monthly', term: 'Monthly', per: 'month', before: undefined } as const
const yearly = { planDuration: 'yearly', term: 'Yearly', per: 'year', before: undefined } as const

/** What is shown, and only shown, while the prices of the server cannot be had. */
const fallback: Offer[] = [
  { ...monthly, price: '₹699', note: undefined },
  { ...yearly, price: '₹1199', note: 'Save ₹989 (17%)' },
]

/** The terms on offer; `totals` is what the server says they cost with a coupon. */
export function toOffers(pricing: Pricing | undefined, totals?: Totals): Offer[] {
  if (!pricing) return fallback
  const { amount, amountFormatted, percentage } = pricing.premium_yearly.savings
  // With a coupon the amount is another one; the share of it is the same.
  const saving = totals ? `Save ${percentage}%` : `Save ${amountFormatted} (${percentage}%)`
  return [
    { ...monthly, ...toPrice(pricing.premium_monthly, totals?.monthly), note: undefined },
    {
      ...yearly,
      ...toPrice(pricing.premium_yearly, totals?.yearly),
      note: amount > 0 ? saving : undefined,
    },
  ]
}

function toPrice(list: Price, total: Price | undefined) {
  if (!total || total.amount === list.amount) return { price: list.priceFormatted, before: undefined }
  return { price: total.priceFormatted, before: list.priceFormatted }
}
