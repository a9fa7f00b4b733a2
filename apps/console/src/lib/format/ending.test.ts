import { expect, test } from 'vitest'
import { accessEnds, noDateText, oldProgramsWarning, oldProgramsWarningOf } from './ending.ts'

test('shows a license without a date by its term', () => {
  expect(noDateText({ term: 'first_use', duration: { value: 30, unit: 'days' } })).toBe(
    '30 days from first use',
  )
  expect(noDateText({ term: 'first_use', duration: { value: 1, unit: 'years' } })).toBe(
    '1 year from first use',
  )
  expect(noDateText({ term: 'forever', duration: null })).toBe('Never')
  expect(noDateText({})).toBe('Never')
})

test('access ends after the grace days, or never', () => {
  const end = Date.parse('2030-01-03T00:00:00.000Z')
  expect(accessEnds({ expiresAt: '2030-01-01T00:00:00.000Z', graceDays: 2 })).toBe(end)
  expect(accessEnds({ expiresAt: null, graceDays: 2 })).toBe(Number.POSITIVE_INFINITY)
})

test('warns about licenses without an end only while old programs are in use', () => {
  const daysAgo = (days: number) => ({
    sdklessInitAt: new Date(Date.now() - days * 86_400_000).toISOString(),
  })
  expect(oldProgramsWarning(daysAgo(1))).toContain('1970')
  expect([daysAgo(31), { sdklessInitAt: null }, undefined].map(oldProgramsWarning)).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(oldProgramsWarningOf([{ sdklessInitAt: null }, daysAgo(1)])).toContain('1970')
  expect(oldProgramsWarningOf([{ sdklessInitAt: null }, daysAgo(31)])).toBeUndefined()
})
