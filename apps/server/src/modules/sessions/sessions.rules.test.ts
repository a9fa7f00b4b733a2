import { expect, test } from 'vitest'
import { day, hour } from '../../core/clock.ts'
import { extendedEnd, newSessionEnd } from './sessions.rules.ts'

test.each([
  [0, undefined],
  [hour, undefined],
  [hour + 1, 30 * day + hour + 1],
  [29 * day, 59 * day],
  [60 * day, 90 * day],
  [75 * day, 90 * day],
])('a 30-day session used %i ms after its start ends at %s', (now, end) => {
  expect(extendedEnd({ created_at: 0, expires_at: newSessionEnd(0) }, now)).toBe(end)
})

test('a session at its final expiry is not written again', () => {
  expect(extendedEnd({ created_at: 0, expires_at: 90 * day }, 89 * day)).toBeUndefined()
})
