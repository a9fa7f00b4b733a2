import { expect, test } from 'vitest'
import { badgeOf } from './status.ts'

test.each([
  [true, 'ACTIVE', 'Used'],
  [true, 'EXPIRED', 'Used'],
  [false, 'EXPIRED', 'Expired'],
  [false, 'ACTIVE', 'Available'],
] as const)('a license that is used: %s, and %s, has the badge %s', (used, status, label) => {
  expect(badgeOf({ used, status }).label).toBe(label)
})
