import { expect, test } from 'vitest'
import { addDuration, endOfLocalDay, formatDate, toDayInput } from './dates.ts'

test('a date is shown as MMM dd, yyyy', () => {
  expect(formatDate(new Date(2026, 8, 5, 12))).toBe('Sep 05, 2026')
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
