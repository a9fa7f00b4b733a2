import { expect, test } from 'vitest'
import { badgeOf } from './status.ts'

test.each([
  [true, 'ACTIVE', 'Used', 'success'],
  [true, 'EXPIRED', 'Used', 'success'],
  [false, 'EXPIRED', 'Expired', 'warning'],
  [false, 'ACTIVE', 'Available', 'accent'],
] as const)('a license with used %s and status %s has the badge %s', (used, status, label, tone) => {
  expect(badgeOf({ used, status })).toEqual({ label, tone })
})
