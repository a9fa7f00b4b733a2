import { expect, test } from 'vitest'
import { statusOf } from './status.ts'

const past = new Date(Date.now() - 1000).toISOString()
const future = new Date(Date.now() + 60_000).toISOString()

test.each([
  [{ banned: true, used: true, expiresAt: past }, 'banned'],
  [{ banned: true, used: false, expiresAt: future }, 'banned'],
  [{ banned: false, used: true, expiresAt: past }, 'expired'],
  [{ banned: false, used: false, expiresAt: past }, 'expired'],
  [{ banned: false, used: true, expiresAt: future }, 'active'],
  [{ banned: false, used: false, expiresAt: future }, 'unused'],
] as const)('%o is shown as %s', (license, status) => {
  expect(statusOf(license)).toBe(status)
})
