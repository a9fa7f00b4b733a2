import type { Payment } from '@keyward/contract'
import { expect, test } from 'vitest'
import { formatAmount, hasReceipt, statusFacts } from './payment-status.ts'

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

test('sums look like the prices of the server', () => {
  expect(formatAmount(6990, 'INR')).toBe('₹69.90')
  expect(formatAmount(1_000_000_00, 'INR')).toBe('₹10,00,000')
  expect(formatAmount(100, 'USD')).toBe('$1')
})
