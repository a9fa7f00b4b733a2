import type { PaymentStatus } from '@keyward/contract'
import { expect, test } from 'vitest'
import { secondsLeft } from './provider-checkout.ts'
import { outcomeOf } from './waiting.ts'

const free = { orderId: null, hasActiveSubscription: false }
const rows = (...statuses: PaymentStatus[]) => statuses.map((status) => ({ orderId: 'order_1', status }))

test('an order is done when premium runs on it, whatever the history says', () => {
  expect(outcomeOf('order_1', { orderId: 'order_1', hasActiveSubscription: true }, undefined)).toBe('active')
  expect(outcomeOf('order_1', { orderId: 'order_1', hasActiveSubscription: true }, rows('failed'))).toBe(
    'active',
  )
})

test('premium that runs on an earlier order ends no wait', () => {
  expect(outcomeOf('order_1', { orderId: 'order_0', hasActiveSubscription: true }, [])).toBeUndefined()
  expect(
    outcomeOf('order_1', free, [{ orderId: 'order_0', status: 'failed' }, ...rows('pending')]),
  ).toBeUndefined()
})

test('an order fails with the last of its attempts', () => {
  expect(outcomeOf('order_1', free, rows('pending', 'failed'))).toBeUndefined()
  expect(outcomeOf('order_1', free, rows('failed', 'failed'))).toBe('failed')
})

test('money that is given back is no failed payment', () => {
  expect(outcomeOf('order_1', free, rows('refunding'))).toBe('returned')
  expect(outcomeOf('order_1', free, rows('refunded', 'failed'))).toBe('returned')
})

test('a payment just made is waited for', () => {
  expect(outcomeOf('order_1', free, [])).toBeUndefined()
  expect(outcomeOf('order_1', undefined, undefined)).toBeUndefined()
  expect(outcomeOf('order_1', free, rows('paid'))).toBeUndefined()
})

test('the checkout stays open for whole seconds until its order ends, and for one at least', () => {
  const now = Date.parse('2026-03-10T12:00:00.000Z')
  expect(secondsLeft('2026-03-10T12:15:00.900Z', now)).toBe(900)
  expect(secondsLeft('2026-03-10T11:00:00.000Z', now)).toBe(1)
})
