import { expect, test } from 'vitest'
import { licenseStatus } from './licenses.rules.ts'

const now = 1_000_000

test.each([
  [0, 0, now + 1, 'unused'],
  [0, 1, now + 1, 'active'],
  [0, 0, now, 'expired'],
  [0, 1, now, 'expired'],
  [0, 1, now - 1, 'expired'],
  [1, 0, now + 1, 'banned'],
  [1, 1, now + 1, 'banned'],
  [1, 1, now - 1, 'banned'],
])(
  'a license with banned %i, used %i, that ends at %i is shown as %s',
  (banned, used, expires_at, status) => {
    expect(licenseStatus({ banned, used, expires_at }, now)).toBe(status)
  },
)
