import type { LicenseStatus } from '@keyward/contract'
import type { Tone } from '../../ui/badge.tsx'

export const statusFacts: Record<LicenseStatus, { label: string; tone: Tone }> = {
  unused: { label: 'Unused', tone: 'accent' },
  active: { label: 'Active', tone: 'success' },
  expired: { label: 'Expired', tone: 'warning' },
  banned: { label: 'Banned', tone: 'danger' },
}

/** The statuses that lists are filtered by. */
export const statusFilters = { ...statusFacts, expiring: { label: 'Expiring soon' } }
