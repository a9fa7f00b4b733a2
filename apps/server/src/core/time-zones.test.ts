import { expect, test } from 'vitest'
import { addDuration } from './clock.ts'

const at = (text: string) => new Date(text).getTime()

test.each([
  // A day of March 2026 has 23 hours in Berlin and one of October 25.
  ['2026-03-28T12:00:00+01:00', 1, 'days', 'Europe/Berlin', '2026-03-29T12:00:00+02:00'],
  ['2026-03-28T12:00:00+01:00', 24, 'hours', 'Europe/Berlin', '2026-03-29T13:00:00+02:00'],
  ['2026-02-28T23:59:59.999+01:00', 1, 'months', 'Europe/Berlin', '2026-03-31T23:59:59.999+02:00'],
  ['2026-10-31T12:00:00+01:00', 1, 'months', 'Europe/Berlin', '2026-11-30T12:00:00+01:00'],
  ['2026-09-30T12:00:00+02:00', 1, 'months', 'Europe/Berlin', '2026-10-31T12:00:00+01:00'],
  // A time that the day lacks becomes the one after the change.
  ['2026-02-28T02:30:00+01:00', 29, 'days', 'Europe/Berlin', '2026-03-29T03:30:00+02:00'],
  // There it is still January 30.
  ['2026-01-31T04:00:00Z', 1, 'months', 'America/New_York', '2026-02-28T23:00:00-05:00'],
  ['2026-01-31T04:00:00Z', 1, 'months', 'UTC', '2026-02-28T04:00:00Z'],
  ['2028-02-29T00:00:00Z', 1, 'years', 'UTC', '2029-02-28T00:00:00Z'],
  ['2027-02-28T00:00:00Z', 1, 'years', 'UTC', '2028-02-29T00:00:00Z'],
  ['9950-01-01T00:00:00Z', 100, 'years', 'UTC', '9999-12-31T23:59:59.999Z'],
] as const)('%s and %i %s in %s are %s', (from, value, unit, timeZone, then) => {
  expect(addDuration(at(from), { value, unit }, timeZone)).toBe(at(then))
})
