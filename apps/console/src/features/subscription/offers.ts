import type { PlanDuration, Price, Pricing } from '@keyward/contract'

export interface Offer {
  planDuration: PlanDuration
  term: 'Monthly' | 'Yearly'
  price: string
  /** The price without the coupon. */
  before: string | undefined
  per: string
  note: string | undefined
  /** What the saving is measured against. */
  comparison: string | undefined
}

export type Totals = Record<PlanDuration, Price>

const monthly = {
  planDuration: 'monthly',
  term: 'Monthly',
  per: 'month',
  before: undefined,
  comparison: undefined,
} as const
const yearly = {
  planDuration: 'yearly',
  term: 'Yearly',
  per: 'year',
  before: undefined,
  comparison: undefined,
} as const

/** Displayed while the server's prices cannot be loaded. */
const fallback: Offer[] = [
  { ...yearly, price: '₹1199', note: 'Save ₹989 (17%)' },
  { ...monthly, price: '₹699', note: undefined },
]

/** The terms on offer; `totals` are the server's prices with a coupon. */
export function toOffers(pricing: Pricing | undefined, totals?: Totals): Offer[] {
  if (!pricing) return fallback
  const { amount, amountFormatted, percentage } = pricing.premium_yearly.savings
  // A coupon changes the amount, but not the percentage.
  const saving = totals ? `Save ${percentage}%` : `Save ${amountFormatted} (${percentage}%)`
  const month = toPrice(pricing.premium_monthly, totals?.monthly)
  const year = toPrice(pricing.premium_yearly, totals?.yearly)
  const saves = amount > 0
  return [
    {
      ...yearly,
      ...year,
      note: saves ? saving : undefined,
      comparison: saves ? `${year.price} instead of 12 × ${month.price}` : undefined,
    },
    { ...monthly, ...month, note: undefined },
  ]
}

function toPrice(list: Price, total: Price | undefined) {
  if (!total || total.amount === list.amount) return { price: list.priceFormatted, before: undefined }
  return { price: total.priceFormatted, before: list.priceFormatted }
}
