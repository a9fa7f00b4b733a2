import type { PortalLicense } from '@keyward/contract'
import type { Tone } from '../../ui/badge.tsx'

/** Used overrides Expired, and Expired overrides Available. */
export function badgeOf({ used, status }: Pick<PortalLicense, 'used' | 'status'>): {
  label: string
  tone: Tone
} {
  if (used) return { label: 'Used', tone: 'success' }
  return status === 'EXPIRED' ? { label: 'Expired', tone: 'warning' } : { label: 'Available', tone: 'accent' }
}
