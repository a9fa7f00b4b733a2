import { expect, test } from 'vitest'
import { addDuration, endOfLocalDay, formatDate, formatMoment, formatRelative, toDayInput } from './dates.ts'

test('a date is shown as MMM dd, yyyy', () => {
  expect(formatDate(new Date(2026, 8, 5, 12))).toBe('Sep 05, 2026')
})

test('the last millisecond of a day in UTC is shown as that day in every time zone', () => {
  const end = '2027-12-31T23:59:59.999Z'
  expect(formatDate(end)).toBe('Dec 31, 2027')
  expect(formatMoment(end)).toBe('Dec 31, 2027')
})

test.each([
  [0, 'just now'],
  [-59_000, 'just now'],
  [30_000, 'in a minute'],
  [-60_000, '1 minute ago'],
  [-59 * 60_000, '59 minutes ago'],
  [3 * 3_600_000, 'in 3 hours'],
  [-86_399_000, '23 hours ago'],
])('a moment that is %i ms from now is shown as "%s"', (ms, expected) => {
  expect(formatRelative(1.8e12 + ms, 1.8e12)).toBe(expected)
})

test('a moment that is a day away is shown as date and time', () => {
  expect(formatRelative(0, 86_400_000)).toBe(formatMoment(0))
})

test('the end of a day is the last millisecond of that local day', () => {
  const end = new Date(endOfLocalDay('2026-03-01'))
  expect(toDayInput(end)).toBe('2026-03-01')
  expect(end.getTime() + 1).toBe(new Date(2026, 2, 2).getTime())
})

test.each([
  [new Date(2026, 0, 31, 9), 1, 'months', new Date(2026, 1, 28, 9)],
  [new Date(2028, 0, 31, 9), 1, 'months', new Date(2028, 1, 29, 9)],
  [new Date(2026, 1, 28, 9), 1, 'months', new Date(2026, 2, 31, 9)],
  [new Date(2028, 1, 29, 9), 1, 'years', new Date(2029, 1, 28, 9)],
  [new Date(2026, 11, 15, 9), 2, 'months', new Date(2027, 1, 15, 9)],
  [new Date(2026, 0, 31, 9), 30, 'days', new Date(2026, 2, 2, 9)],
] as const)('%s plus %i %s is the right day of the calendar', (from, amount, unit, expected) => {
  expect(addDuration(from, amount, unit)).toEqual(expected)
})

test('hours count elapsed time', () => {
  expect(addDuration(0, 36, 'hours').getTime()).toBe(36 * 3_600_000)
})
