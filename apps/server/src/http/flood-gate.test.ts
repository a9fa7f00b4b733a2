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

test('a request from a new address neither searches nor deletes others, however many were seen', () => {
  const gate = createFloodGate({ max: 1, windowMs: minute, callers: 1000 })
  gate('10.0.0.1')
  const names = ['keys', 'values', 'entries', 'forEach', 'delete', Symbol.iterator] as const
  const spies = names.map((name) => vi.spyOn(Map.prototype, name as 'delete'))
  for (let host = 0; host < 5000; host += 1) gate(`10.1.${host}`)
  const calls = spies.map(({ mock }) => mock.calls.length)
  vi.restoreAllMocks()
  expect(calls).toEqual(names.map(() => 0))
})
