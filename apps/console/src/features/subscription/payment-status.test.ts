import type { Payment } from '@keyward/contract'
import { expect, test } from 'vitest'
import { hasReceipt, statusFacts } from './payment-status.ts'

test('every captured payment has a receipt', () => {
  const statuses = Object.keys(statusFacts) as Payment['status'][]
  expect(statuses.filter((status) => hasReceipt({ status }))).toEqual([
    'paid',
    'refunding',
    'refunded',
    'partially_refunded',
    'charged_back',
  ])
})
