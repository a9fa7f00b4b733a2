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
  const pass = () => gate('10.0.0.1') === undefined
  expect([pass(), pass()]).toEqual([true, false])
  vi.setSystemTime(Date.now() - hour)
  expect(pass()).toBe(false)
  vi.advanceTimersByTime(minute)
  expect([pass(), pass()]).toEqual([true, false])
})

test('counts a bounded number of addresses and forgets the least recent one', () => {
  const gate = createFloodGate({ max: 1, windowMs: minute, callers: 3 })
  const pass = (host: number) => gate(`10.0.0.${host}`) === undefined
  expect([pass(1), pass(2), pass(3)]).toEqual([true, true, true])
  expect(pass(1)).toBe(false)
  expect(pass(4)).toBe(true)
  expect(pass(1)).toBe(false)
  expect(pass(2)).toBe(true)
})

test('a request from a new address costs little when very many addresses were seen', () => {
  const gate = createFloodGate({ max: 1, windowMs: minute })
  let host = 0
  const microsecondsOf = (addresses: number) => {
    const before = process.cpuUsage().user
    for (let at = 0; at < addresses; at += 1) {
      host += 1
      gate(`10.0.${host}`)
    }
    return (process.cpuUsage().user - before) / addresses
  }
  const withFew = microsecondsOf(25_000)
  microsecondsOf(100_000)
  expect(microsecondsOf(50_000)).toBeLessThan(6 * withFew)
})
