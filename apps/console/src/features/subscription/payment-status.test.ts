import type { Payment } from '@keyward/contract'
import { expect, test } from 'vitest'
import { formatDiscount, hasReceipt, statusFacts } from './payment-status.ts'

test('there is a receipt for each payment in which money was taken', () => {
  const statuses = Object.keys(statusFacts) as Payment['status'][]
  expect(statuses.filter((status) => hasReceipt({ status }))).toEqual([
    'paid',
    'refunding',
    'refunded',
    'partially_refunded',
    'charged_back',
  ])
})

test('what a coupon took off looks like the other amounts', () => {
  const of = (listAmount: number, amount: number, currency = 'INR') =>
    formatDiscount({ listAmount, amount, currency } as Payment)
  expect(of(69_900, 62_910)).toBe('₹69.90')
  expect(of(1_999_900, 999_900)).toBe('₹10,000')
  expect(of(1000, 900, 'USD')).toBe('$1')
})
