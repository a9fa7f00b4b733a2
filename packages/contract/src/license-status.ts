import type { LicenseStatus } from './licenses.ts'

interface StatusFacts {
  banned: boolean
  used: boolean
  /** When access ends, grace days included; milliseconds since 1970. */
  endsAt: number
}

/** The status of a license: Banned overrides Expired, and Expired overrides Active (used) and Unused. */
export function licenseStatus({ banned, used, endsAt }: StatusFacts, now: number): LicenseStatus {
  if (banned) return 'banned'
  if (endsAt <= now) return 'expired'
  return used ? 'active' : 'unused'
}
