import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { day, hour, minute } from '../../core/clock.ts'
import { forever } from '../owners/plan.rules.ts'
import { createRazorpay } from './payments.razorpay.ts'
import {
  discounted,
  isRefunded,
  moneyBackUntil,
  nextCheck,
  nextPeriod,
  remainingOf,
} from './payments.rules.ts'

const provider = createRazorpay({
  timeoutMs: 1000,
  keyId: 'rzp_test',
  keySecret: 'EnLs21M47BllR3X8PSFtjtbd',
  webhookSecret: 'hook',
  apiUrl: 'http://127.0.0.1:1',
})

test("the checkout signature matches the provider's documentation", () => {
  const report = {
    orderId: 'order_IEIaMR65cu6nz3',
    paymentId: 'pay_IH4NVgf4Dreq1l',
    signature: '0d4e745a1838664ad6c9c9902212a32d627d68e917290b0ad5f08ff4561bc50f',
  }
  expect(provider.isGenuine(report)).toBe(true)
  expect(provider.isGenuine({ ...report, orderId: report.paymentId, paymentId: report.orderId })).toBe(false)
  expect(provider.isGenuine({ ...report, signature: '' })).toBe(false)
})

test('without a webhook secret accepts no event', () => {
  const closed = createRazorpay({
    timeoutMs: 1000,
    keyId: 'a',
    keySecret: 'b',
    webhookSecret: undefined,
    apiUrl: 'http://127.0.0.1:1',
  })
  expect(closed.readEvent(Buffer.from('{}'), '')).toBeUndefined()
})

describe('prices', () => {
  test('are whole, positive, and fall with the discount', () => {
    const amount = fc.integer({ min: 100, max: 1_000_000_000 })
    const percent = fc.integer({ min: 0, max: 99 })
    fc.assert(
      fc.property(amount, percent, percent, (full, one, other) => {
        const [low, high] = [Math.max(one, other), Math.min(one, other)].map((p) => discounted(full, p))
        expect(Number.isInteger(low)).toBe(true)
        expect(low).toBeGreaterThan(0)
        expect(low).toBeLessThanOrEqual(high ?? 0)
        expect(high).toBeLessThanOrEqual(full)
      }),
    )
  })

  test.each([
    [69_900, 10, 62_910],
    [69_900, 15, 59_415],
    [119_900, 25, 89_925],
    [119_900, 30, 83_930],
    [101, 50, 50],
    [69_900, 0, 69_900],
  ])('%i less %i percent is %i', (amount, percent, expected) => {
    expect(discounted(amount, percent)).toBe(expected)
  })
})

test.each([
  [{ amount: 69_900, amount_refunded: 0, dispute: null }, false],
  [{ amount: 69_900, amount_refunded: 69_800, dispute: null }, false],
  [{ amount: 69_900, amount_refunded: 69_801, dispute: null }, true],
  [{ amount: 69_900, amount_refunded: 69_900, dispute: null }, true],
  [{ amount: 69_900, amount_refunded: 0, dispute: 'open' }, false],
  [{ amount: 69_900, amount_refunded: 0, dispute: 'won' }, false],
  [{ amount: 69_900, amount_refunded: 0, dispute: 'lost' }, true],
])('%j is refunded: %j', (payment, refunded) => {
  expect(isRefunded(payment)).toBe(refunded)
})

test('a period starts now or when the current one ends', () => {
  const now = 1_000_000
  expect(nextPeriod(null, 'monthly', now)).toEqual({ start: now, end: now + 30 * day })
  expect(nextPeriod(now - 1, 'yearly', now)).toEqual({ start: now, end: now + 365 * day })
  expect(nextPeriod(now + day, 'monthly', now)).toEqual({ start: now + day, end: now + 31 * day })
  expect(nextPeriod(forever, 'monthly', now)).toEqual({ start: now, end: now + 30 * day })
})

test('only future time of a period remains', () => {
  expect(remainingOf({ start: 10, end: 20 }, 5)).toBe(10)
  expect(remainingOf({ start: 10, end: 20 }, 15)).toBe(5)
  expect(remainingOf({ start: 10, end: 20 }, 25)).toBe(0)
})

test('the guarantee ends exactly seven days after the first payment', () => {
  expect(moneyBackUntil(null, 0)).toBeUndefined()
  expect(moneyBackUntil(0, 7 * day - 1)).toBe(7 * day)
  expect(moneyBackUntil(0, 7 * day)).toBeUndefined()
})

describe('the next check of an order', () => {
  const none = { refundsDue: false, lastPeriodEnd: null }
  const open = { status: 'open', checks: 0, created_at: 0 } as const

  test('is soon at first, then seldom, and none after eight days', () => {
    expect(nextCheck(open, none, 0)).toBe(2 * minute)
    expect(nextCheck({ ...open, checks: 5 }, none, hour)).toBe(2 * hour)
    expect(nextCheck({ ...open, checks: 20 }, none, 6 * day)).toBe(7 * day)
    expect(nextCheck({ ...open, checks: 20 }, none, 7 * day + 1)).toBeNull()
  })

  test('is daily while a refund may fail, and none when nothing can follow', () => {
    const paid = { ...open, status: 'paid' } as const
    expect(nextCheck(paid, { refundsDue: false, lastPeriodEnd: 30 * day }, day)).toBe(2 * day)
    expect(nextCheck(paid, { refundsDue: false, lastPeriodEnd: 30 * day }, 43 * day)).toBe(44 * day)
    expect(nextCheck(paid, { refundsDue: false, lastPeriodEnd: 30 * day }, 44 * day)).toBeNull()
    expect(nextCheck({ ...open, status: 'closed' }, none, 0)).toBe(2 * minute)
    expect(nextCheck({ ...open, status: 'closed' }, none, 8 * day)).toBeNull()
    expect(nextCheck({ ...open, status: 'failed' }, none, 0)).toBeNull()
  })

  test('is within the hour while a refund is due', () => {
    const due = { refundsDue: true, lastPeriodEnd: null }
    expect(nextCheck({ ...open, status: 'closed', checks: 50 }, due, day)).toBe(day + hour)
  })
})
