import type { LicenseStatus } from '@keyward/contract'

/** How a license is shown: Banned, then Expired, then Active (used), then Unused. */
export function licenseStatus(
  license: { banned: number; used: number; expires_at: number },
  now: number,
): LicenseStatus {
  if (license.banned === 1) return 'banned'
  if (license.expires_at <= now) return 'expired'
  return license.used === 1 ? 'active' : 'unused'
}
