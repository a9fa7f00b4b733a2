import { expect, test } from 'vitest'
import { day, lastInstant } from '../../core/clock.ts'
import { afterReturn, afterTaking } from './added-time.rules.ts'

const now = 1_000 * day

test.each([
  ['all of it while the time is left', 30, 10, 20, 10],
  ['what is left of it', 4, 10, 0, 4],
  ['nothing after the end', -3, 10, -3, 0],
  ['nothing for a key that added nothing', 30, 0, 30, 0],
])('takes back %s', (_what, leftDays, addedDays, expectedLeft, expectedTaken) => {
  const { after, takenMs } = afterTaking(now + leftDays * day, addedDays * day, now)
  expect([(after - now) / day, takenMs / day]).toEqual([expectedLeft, expectedTaken])
  expect(afterReturn(after, takenMs)).toBe(now + leftDays * day)
})

test('returns time at most up to the year 9999', () => {
  expect(afterReturn(lastInstant - day, 3 * day)).toBe(lastInstant)
})
