import type { Payment } from '@keyward/contract'
import { expect, test } from 'vitest'
import { hasReceipt, statusFacts, termsOf } from './payment-status.ts'

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

test('the paid terms are named in their order, without those that ended or were refunded', () => {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  const term = (planDuration: Payment['planDuration'], days: number, status: Payment['status'] = 'paid') => ({
    planDuration,
    status,
    periodEnd: inDays(days),
  })
  expect(termsOf([])).toBe('')
  expect(termsOf([term('yearly', 370), term('monthly', 5), term('monthly', -25)])).toBe(
    'Monthly, then yearly',
  )
  expect(termsOf([term('yearly', 340), term('monthly', 370, 'refunded')])).toBe('Yearly')
})
