import { expect, test } from 'vitest'
import { day, minute } from '../../core/clock.ts'
import { noteOfUse } from './sessions.service.ts'

test.each([
  [0, undefined],
  [10 * minute - 1, undefined],
  [10 * minute, 30 * day + 10 * minute],
  [29 * day, 59 * day],
  [60 * day, 90 * day],
  [75 * day, 90 * day],
])('a 30-day session used %i ms after its start ends at %s', (now, end) => {
  const note = end === undefined ? undefined : { last_used_at: now, expires_at: end }
  expect(noteOfUse({ created_at: 0, last_used_at: 0 }, now)).toEqual(note)
})

test('the use of a session is noted again after the clock was set back', () => {
  const session = { created_at: 0, last_used_at: 5 * day }
  expect(noteOfUse(session, 4 * day)).toEqual({ last_used_at: 4 * day, expires_at: 34 * day })
})
