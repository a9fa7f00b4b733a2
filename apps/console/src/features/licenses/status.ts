import type { License, LicenseStatus } from '@keyward/contract'
import type { Tone } from '../../ui/badge.tsx'

export const statusFacts: Record<LicenseStatus, { label: string; tone: Tone }> = {
  unused: { label: 'Unused', tone: 'accent' },
  active: { label: 'Active', tone: 'success' },
  expired: { label: 'Expired', tone: 'warning' },
  banned: { label: 'Banned', tone: 'danger' },
}

/** Banned wins over Expired, Active, Unused. */
export function statusOf(license: Pick<License, 'banned' | 'expiresAt' | 'used'>): LicenseStatus {
  if (license.banned) return 'banned'
  if (Date.parse(license.expiresAt) < Date.now()) return 'expired'
  return license.used ? 'active' : 'unused'
}
