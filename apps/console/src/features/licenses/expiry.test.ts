import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { expiryAfter } from './expiry.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: new Date(2027, 0, 31, 12, 0, 0) })
})
afterEach(() => {
  vi.useRealTimers()
})

test('counts from now, in hours, days and calendar months', () => {
  expect(expiryAfter(5, 'hours')).toEqual(new Date(2027, 0, 31, 17, 0, 0))
  expect(expiryAfter(2, 'days')).toEqual(new Date(2027, 1, 2, 12, 0, 0))
  expect(expiryAfter(1, 'months')).toEqual(new Date(2027, 1, 28, 12, 0, 0))
})

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
  'is unknown for a duration of %s',
  (duration) => {
    expect(expiryAfter(duration, 'days')).toBeUndefined()
  },
)

test('is undefined if it is not a valid date', () => {
  expect(expiryAfter(200_000, 'months')).toBeUndefined()
  expect(expiryAfter(1e15, 'days')).toBeUndefined()
})
