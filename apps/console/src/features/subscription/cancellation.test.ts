import { expect, test } from 'vitest'
import { toCancellation } from './cancellation.ts'

const price = { amount: 69_900, currency: 'INR', priceFormatted: '₹699' }
const moneyBack = { ...price, until: '2026-03-08T12:00:00.000Z' }
const paid = {
  hasActiveSubscription: true,
  source: 'payment' as const,
  expiryDate: '2026-04-01T12:00:00.000Z',
  cancelledAt: null,
  moneyBack: null,
}
const cancelledAt = '2026-03-02T12:00:00.000Z'

test.each([
  ['a paid term', paid, 'term'],
  ['a paid term within the guarantee', { ...paid, moneyBack }, 'term'],
  ['a cancelled term', { ...paid, cancelledAt }, undefined],
  ['a cancelled term within the guarantee', { ...paid, cancelledAt, moneyBack }, 'refund'],
  ['a grant with an end', { ...paid, source: 'grant' as const }, undefined],
  ['a grant that replaced a payment', { ...paid, source: 'grant' as const, moneyBack }, 'refund'],
  ['a grant without an end', { ...paid, source: 'grant' as const, expiryDate: null }, undefined],
  ['premium of every account', { ...paid, source: 'server' as const, expiryDate: null }, undefined],
  ['the free plan', { ...paid, hasActiveSubscription: false, source: null, expiryDate: null }, undefined],
] as const)('%s can be cancelled as %s', (_, subscription, expected) => {
  expect(toCancellation(subscription)).toBe(expected)
})
