import { expect, test } from 'vitest'
import { day, hour, minute } from '../../core/clock.ts'
import { ClockGuard } from './housekeeping.ts'

const start = Date.UTC(2027, 0, 1)

/** A guard that has run for an hour beside a right clock. */
function running() {
  const guard = new ClockGuard()
  expect(guard.findDoubt({ now: start, monotonic: 0 }, undefined)).toBeUndefined()
  expect(guard.findDoubt({ now: start + hour, monotonic: hour }, start)).toBeUndefined()
  return guard
}

test('a clock that jumps by more than a day is doubted, ahead and back, until it is right again', () => {
  for (const jump of [400 * day, 25 * hour, -25 * hour, -400 * day]) {
    const guard = running()
    const wrong = { now: start + 2 * hour + jump, monotonic: 2 * hour }
    expect(guard.findDoubt(wrong, start)).toBe(start + 2 * hour)
    expect(guard.findDoubt({ now: start + 3 * hour, monotonic: 3 * hour }, start)).toBeUndefined()
  }
})

test('a jump of up to a day is believed', () => {
  for (const jump of [day, -day, minute]) {
    expect(running().findDoubt({ now: start + 2 * hour + jump, monotonic: 2 * hour }, start)).toBeUndefined()
  }
})

test('a running server believes a new time after a day, and from then on doubts the old one', () => {
  const guard = running()
  const at = (passed: number) => ({ now: start + 400 * day + passed, monotonic: hour + passed })
  expect(guard.findDoubt(at(minute), start)).toBeDefined()
  expect(guard.findDoubt(at(day), start)).toBeDefined()
  expect(guard.findDoubt(at(day + minute), start)).toBeUndefined()
  expect(guard.findDoubt({ now: start + 2 * day, monotonic: hour + day + 2 * minute }, start)).toBeDefined()
})

test('a start after more than a day is doubted for two hours, a sooner one not at all', () => {
  const guard = new ClockGuard()
  const at = (passed: number) => ({ now: start + 10 * day + passed, monotonic: 5 + passed })
  expect(guard.findDoubt(at(0), start)).toBe(start)
  expect(guard.findDoubt(at(2 * hour - minute), start)).toBe(start)
  expect(guard.findDoubt(at(2 * hour), start)).toBeUndefined()
  expect(new ClockGuard().findDoubt({ now: start + hour, monotonic: 5 }, start)).toBeUndefined()
})
