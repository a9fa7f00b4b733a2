import { expect, test } from 'vitest'
import { badgeOf } from './status.ts'

test.each([
  [true, 'ACTIVE', 'Used'],
  [true, 'EXPIRED', 'Used'],
  [false, 'EXPIRED', 'Expired'],
  [false, 'ACTIVE', 'Available'],
] as const)('a license with used %s and status %s has the badge %s', (used, status, label) => {
  expect(badgeOf({ used, status }).label).toBe(label)
})
