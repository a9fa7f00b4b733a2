import type { Pricing } from '@keyward/contract'
import { expect, test } from 'vitest'
import { toOffers } from './offers.ts'

const price = (amount: number, priceFormatted: string) => ({ amount, currency: 'INR', priceFormatted })

function pricing(saved: number): Pricing {
  const limits = { maxApps: -1, maxLicensesPerApp: -1, maxResellers: -1 }
  return {
    free: { _id: 'free', name: 'Free', ...price(0, '₹0'), limits, features: [] },
    premium: { _id: 'premium', name: 'Premium', ...price(500, '₹5'), limits, features: [] },
    premium_monthly: { ...price(500, '₹5'), planDuration: 'monthly', days: 30 },
    premium_yearly: {
      ...price(6000 - saved, '₹50'),
      planDuration: 'yearly',
      days: 365,
      savings: { amount: saved, amountFormatted: '₹10', percentage: 17 },
    },
  }
}

test('shows the prices of the server, and what a year saves', () => {
  expect(toOffers(pricing(1000))).toEqual([
    { term: 'Monthly', price: '₹5', per: 'month', note: undefined },
    { term: 'Yearly', price: '₹50', per: 'year', note: 'Save ₹10 (17%)' },
  ])
})

test('names no saving where there is none', () => {
  expect(toOffers(pricing(0))[1]?.note).toBeUndefined()
})

test('falls back to the usual figures while the prices cannot be loaded', () => {
  expect(toOffers(undefined).map(({ price, note }) => [price, note])).toEqual([
    ['₹699', undefined],
    ['₹1199', 'Save ₹989 (17%)'],
  ])
})
