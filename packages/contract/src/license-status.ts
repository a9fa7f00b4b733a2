import type { LicenseStatus } from './licenses.ts'

interface StatusFacts {
  banned: boolean
  used: boolean
  /** Milliseconds since 1970. */
  expiresAt: number
}

/** The status of a license: Banned overrides Expired, and Expired overrides Active (used) and Unused. */
export function licenseStatus({ banned, used, expiresAt }: StatusFacts, now: number): LicenseStatus {
  if (banned) return 'banned'
  if (expiresAt <= now) return 'expired'
  return used ? 'active' : 'unused'
}
