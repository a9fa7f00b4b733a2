import { day, lastInstant } from '../../core/clock.ts'
import type { LicenseRow } from '../../db/tables.ts'

/** The end of the updates that a license covers; null for all, and before the first use starts the clock. */
export function updatesUntil(
  license: Pick<LicenseRow, 'term' | 'started_at' | 'created_at' | 'updates_for_days'> | null | undefined,
): number | null {
  if (!license || license.updates_for_days === null) return null
  const start = license.term === 'first_use' ? license.started_at : license.created_at
  return start === null ? null : Math.min(lastInstant, start + license.updates_for_days * day)
}
