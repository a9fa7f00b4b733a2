import type { PaymentStatus } from '@keyward/contract'
import { expect, test } from 'vitest'
import { secondsLeft } from './provider-checkout.ts'
import { outcomeOf } from './waiting.ts'

const free = { orderId: null, hasActiveSubscription: false }
const paid = { orderId: 'order_1', paymentId: 'pay_1' }
const row = (status: PaymentStatus, paymentId = 'pay_1') => ({ paymentId, status })

test('a payment is complete when premium is active for its order, regardless of the history', () => {
  const active = { orderId: 'order_1', hasActiveSubscription: true }
  expect(outcomeOf(paid, active, undefined)).toBe('active')
  expect(outcomeOf(paid, active, [row('failed')])).toBe('active')
  expect(outcomeOf({ orderId: 'order_1' }, active, [])).toBe('active')
})

test('premium of an earlier order does not end the wait', () => {
  expect(outcomeOf(paid, { orderId: 'order_0', hasActiveSubscription: true }, [])).toBeUndefined()
})

test('an earlier failed attempt does not end the wait', () => {
  expect(outcomeOf(paid, free, [row('failed', 'pay_0')])).toBeUndefined()
  expect(outcomeOf(paid, free, [row('pending'), row('failed', 'pay_0')])).toBeUndefined()
  expect(outcomeOf({ orderId: 'order_1' }, free, [row('failed', 'pay_0')])).toBeUndefined()
  expect(outcomeOf(paid, free, [row('failed')])).toBe('failed')
})

test('a refund is not a failed payment', () => {
  for (const status of ['refunding', 'refunded', 'charged_back'] as const) {
    expect(outcomeOf(paid, free, [row(status)])).toBe('returned')
  }
})

test('waits for a new payment', () => {
  expect(outcomeOf(paid, free, [])).toBeUndefined()
  expect(outcomeOf(paid, undefined, undefined)).toBeUndefined()
  expect(outcomeOf(paid, free, [row('pending')])).toBeUndefined()
  expect(outcomeOf(paid, free, [row('paid')])).toBeUndefined()
})

test('the checkout stays open until its order expires, for at least one second', () => {
  const now = Date.parse('2026-03-10T12:00:00.000Z')
  expect(secondsLeft('2026-03-10T12:15:00.900Z', now)).toBe(900)
  expect(secondsLeft('2026-03-10T11:00:00.000Z', now)).toBe(1)
})
