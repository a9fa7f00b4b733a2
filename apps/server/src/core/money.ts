import { formatAmount, type Price } from '@keyward/contract'

export const toPrice = (amount: number, currency: string): Price => ({
  amount,
  currency,
  priceFormatted: formatAmount(amount, currency),
})
