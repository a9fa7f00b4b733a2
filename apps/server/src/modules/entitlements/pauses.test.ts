import { expect, test } from 'vitest'
import { day, lastInstant } from '../../core/clock.ts'
import { never } from '../../db/stored-end.ts'
import { endOf } from './pauses.ts'

const paused = 1_000 * day
const now = paused + 7 * day

test.each<[what: string, paused_at: number | null, end: number, expected: number]>([
  ['stays without a pause', null, paused + day, paused + day],
  ['moves by the time of the pause', paused, paused + day, now + day],
  ['stays if it had passed before the pause', paused, paused - day, paused - day],
  ['stays if the pause began when it passed', paused, paused, paused],
  ['moves to the end of the year 9999 at most', paused, lastInstant - day, lastInstant],
  ['stays never', paused, never, never],
  ['does not move back if another clock began the pause later', now + day, now + 2 * day, now + 2 * day],
])('an end %s', (_what, paused_at, expires_at, expected) => {
  expect(endOf({ paused_at, expires_at }, now)).toBe(expected)
})
