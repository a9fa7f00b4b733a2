import { expect, test } from 'vitest'
import { licenseStatus } from '../src/license-status.ts'

const now = 1_000_000

test.each([
  [false, false, now + 1, 'unused'],
  [false, true, now + 1, 'active'],
  [false, false, now, 'expired'],
  [false, true, now, 'expired'],
  [false, true, now - 1, 'expired'],
  [true, false, now + 1, 'banned'],
  [true, true, now + 1, 'banned'],
  [true, true, now - 1, 'banned'],
])('shows a license with banned %s, used %s and expiry %i as %s', (banned, used, endsAt, status) => {
  expect(licenseStatus({ banned, used, endsAt }, now)).toBe(status)
})
