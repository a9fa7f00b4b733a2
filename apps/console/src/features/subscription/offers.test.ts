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

test("shows the server's prices and the yearly savings", () => {
  expect(toOffers(pricing(1000))).toMatchObject([
    {
      term: 'Yearly',
      price: '₹50',
      before: undefined,
      per: 'year',
      note: 'Save ₹10 (17%)',
      comparison: '₹50 instead of 12 × ₹5',
    },
    { term: 'Monthly', price: '₹5', before: undefined, per: 'month', note: undefined, comparison: undefined },
  ])
})

test('shows no savings if there are none', () => {
  expect(toOffers(pricing(0))[0]).toMatchObject({ term: 'Yearly', note: undefined, comparison: undefined })
})

test('shows fallback prices while the prices cannot be loaded', () => {
  expect(toOffers(undefined).map(({ price, note, comparison }) => [price, note, comparison])).toEqual([
    ['₹1199', 'Save ₹989 (17%)', undefined],
    ['₹699', undefined, undefined],
  ])
})

test('shows the price with a coupon next to the price without it', () => {
  const totals = { monthly: price(450, '₹4.50'), yearly: price(4500, '₹45') }
  const offers = toOffers(pricing(1000), totals)
  expect(offers.map(({ price, before, note }) => [price, before, note])).toEqual([
    ['₹45', '₹50', 'Save 17%'],
    ['₹4.50', '₹5', undefined],
  ])
  expect(offers[0]?.comparison).toBe('₹45 instead of 12 × ₹4.50')
})

test('shows one price if the coupon does not change it', () => {
  const totals = { monthly: price(500, '₹5'), yearly: price(5000, '₹50') }
  expect(toOffers(pricing(1000), totals).map(({ before }) => before)).toEqual([undefined, undefined])
})
