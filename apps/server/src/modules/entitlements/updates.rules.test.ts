import { expect, test } from 'vitest'
import { day, lastInstant } from '../../core/clock.ts'
import { updatesUntil } from './updates.rules.ts'

const license = {
  term: 'date',
  started_at: null,
  created_at: 5 * day,
  updates_for_days: 30,
  updates_until: null,
} as const

test.each([
  ['no license', undefined, null],
  ['all updates', { ...license, updates_for_days: null }, null],
  ['a date counts from creation', license, 35 * day],
  ['no end counts from creation', { ...license, term: 'forever' as const }, 35 * day],
  ['a first use that has not happened', { ...license, term: 'first_use' as const }, null],
  ['a first use', { ...license, term: 'first_use' as const, started_at: 9 * day }, 39 * day],
  ['the year 9999', { ...license, created_at: lastInstant - day }, lastInstant],
])('%s', (_what, row, expected) => {
  expect(updatesUntil(row)).toBe(expected)
})
