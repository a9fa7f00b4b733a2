import { expect, test } from 'vitest'
import { chosenRange, rangeBefore, rangeOf } from './ranges.ts'

const today = '2026-03-31'

test('a preset is a range of days, and whole months are compared with as many months before', () => {
  expect(rangeOf('month', today)).toEqual({ from: '2026-03-01', to: '2026-03-31' })
  expect(rangeBefore(rangeOf('month', today))).toEqual({ from: '2026-02-01', to: '2026-02-28' })
  expect(rangeOf('last-month', '2026-01-15')).toEqual({ from: '2025-12-01', to: '2025-12-31' })
  expect(rangeOf('30', today)).toEqual({ from: '2026-03-02', to: '2026-03-31' })
  expect(rangeBefore(rangeOf('30', today))).toEqual({ from: '2026-01-31', to: '2026-03-01' })
  expect(rangeBefore(rangeOf('year', today))).toEqual({ from: '2025-01-01', to: '2025-12-31' })
  expect(rangeBefore({ from: '2026-01-01', to: '2026-03-31' })).toEqual({
    from: '2025-10-01',
    to: '2025-12-31',
  })
})

test('an address that names no range shows this month', () => {
  const none = { range: undefined, from: undefined, to: undefined }
  const month = { from: '2026-03-01', to: '2026-03-31', preset: 'month' }
  expect(chosenRange(none, today)).toEqual(month)
  expect(chosenRange({ ...none, from: '2026-03-09', to: '2026-03-01' }, today)).toEqual(month)
  expect(chosenRange({ ...none, range: 'later' }, today)).toEqual(month)
  expect(chosenRange({ ...none, from: '2026-03-01', to: '2026-03-09' }, today)).toEqual({
    ...{ from: '2026-03-01', to: '2026-03-09' },
    preset: undefined,
  })
})
