import { expect, test } from 'vitest'
import { endAfter, findNotice } from './notice.ts'

const now = Date.parse('2026-03-10T12:00:00.000Z')
const running = (expiryDate: string | null) =>
  findNotice({ hasActiveSubscription: true, expiryDate, endedAt: null }, now)
const over = (endedAt: string | null) =>
  findNotice({ hasActiveSubscription: false, expiryDate: null, endedAt }, now)

test('announces an end within seven days, but no later one', () => {
  expect(running('2026-03-17T12:00:00.000Z')).toEqual({ kind: 'ending', date: '2026-03-17T12:00:00.000Z' })
  expect(running('2026-03-10T12:00:01.000Z')?.kind).toBe('ending')
  expect(running('2026-03-17T12:00:00.001Z')).toBeUndefined()
  expect(running(null)).toBeUndefined()
})

test('shows nothing after the end while the server still reports premium as active', () => {
  expect(running('2026-03-10T12:00:00.000Z')).toBeUndefined()
})

test('reports the end of premium for thirty days', () => {
  expect(over('2026-03-10T12:00:00.000Z')).toEqual({ kind: 'ended', date: '2026-03-10T12:00:00.000Z' })
  expect(over('2026-02-08T12:00:00.000Z')?.kind).toBe('ended')
  expect(over('2026-02-08T11:59:59.999Z')).toBeUndefined()
  expect(over(null)).toBeUndefined()
})

test('adds a term bought early to the current end', () => {
  expect(endAfter('2026-03-17T12:00:00.000Z', 30).toISOString()).toBe('2026-04-16T12:00:00.000Z')
})
