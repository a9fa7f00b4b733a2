import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { hour, minute } from '../core/clock.ts'
import { createFloodGate } from './flood-gate.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('a window ends on time after the clock was set back by an hour', () => {
  const gate = createFloodGate({ max: 1, windowMs: minute })
  const pass = () => gate({ ip: '10.0.0.1' }) === undefined
  expect([pass(), pass()]).toEqual([true, false])
  vi.setSystemTime(Date.now() - hour)
  expect(pass()).toBe(false)
  vi.advanceTimersByTime(minute)
  expect([pass(), pass()]).toEqual([true, false])
})

test('counts a bounded number of addresses and forgets the least recent one', () => {
  const gate = createFloodGate({ max: 1, windowMs: minute, visitors: 3 })
  const pass = (host: number) => gate({ ip: `10.0.0.${host}` }) === undefined
  expect([pass(1), pass(2), pass(3)]).toEqual([true, true, true])
  expect(pass(1)).toBe(false)
  expect(pass(4)).toBe(true)
  expect(pass(1)).toBe(false)
  expect(pass(2)).toBe(true)
})

test('costs about the same with more addresses than it counts', () => {
  const gate = createFloodGate({ max: 1, windowMs: minute, visitors: 20_000 })
  let host = 0
  const costOf = (addresses: number) => {
    const before = process.cpuUsage().user
    for (let at = 0; at < 40_000; at += 1) {
      host += 1
      gate({ ip: `10.0.${host % addresses}` })
    }
    return process.cpuUsage().user - before
  }
  costOf(100)
  const few = Math.max(costOf(100), 10_000)
  expect(costOf(40_000)).toBeLessThan(10 * few)
})
