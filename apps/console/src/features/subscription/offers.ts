import type { Pricing } from '@keyward/contract'

export interface Offer {
  term: 'Monthly' | 'Yearly'
  price: string
  per: string
  note: string | undefined
}

/** What is shown, and only shown, while the prices of the server cannot be had. */
const fallback: Offer[] = [
  { term: 'Monthly', price: '₹699', per: 'month', note: undefined },
  { term: 'Yearly', price: '₹1199', per: 'year', note: saving('₹989', 17) },
]

export function toOffers(pricing: Pricing | undefined): Offer[] {
  if (!pricing) return fallback
  const { premium_monthly: monthly, premium_yearly: yearly } = pricing
  const { amount, amountFormatted, percentage } = yearly.savings
  return [
    { term: 'Monthly', price: monthly.priceFormatted, per: 'month', note: undefined },
    {
      term: 'Yearly',
      price: yearly.priceFormatted,
      per: 'year',
      note: amount > 0 ? saving(amountFormatted, percentage) : undefined,
    },
  ]
}

function saving(amount: string, percentage: number) {
  return `Save ${amount} (${percentage}%)`
}
