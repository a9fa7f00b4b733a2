import { expect, test } from 'vitest'
import { badgeOf, percentOf } from './status.ts'

test.each([
  [true, 'ACTIVE', 'Used'],
  [true, 'EXPIRED', 'Used'],
  [false, 'EXPIRED', 'Expired'],
  [false, 'ACTIVE', 'Available'],
] as const)('a license that is used: %s, and %s, has the badge %s', (used, status, label) => {
  expect(badgeOf({ used, status }).label).toBe(label)
})

test('percent are whole, and none of nothing', () => {
  expect(percentOf(1, 3)).toBe(33)
  expect(percentOf(0, 0)).toBe(0)
})
