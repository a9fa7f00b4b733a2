import type { Duration } from '@keyward/contract'
import { toIsoOrNull } from '../../core/clock.ts'
import { addDuration } from '../../core/time-zones.ts'
import { accessEnd, displayedEnd, never, toAccessEnd } from '../../db/stored-end.ts'
import type { LicenseRow } from '../../db/tables.ts'

type Ending = Pick<LicenseRow, 'expires_at' | 'grace_days'> & { left_ms?: number | null }
export type TermColumns = Pick<LicenseRow, 'term' | 'duration_value' | 'duration_unit' | 'started_at'>

export const toDuration = (row: Pick<LicenseRow, 'duration_value' | 'duration_unit'>): Duration | null =>
  row.duration_value === null || row.duration_unit === null
    ? null
    : { value: row.duration_value, unit: row.duration_unit }

/** The columns that the first use of a license sets; none if its clock has started or it has none. */
export function atFirstUse(
  license: TermColumns & Ending,
  now: number,
): Partial<Pick<LicenseRow, 'started_at' | 'expires_at'>> {
  const duration = toDuration(license)
  if (license.term !== 'first_use' || license.started_at !== null || duration === null) return {}
  return { started_at: now, expires_at: toAccessEnd(addDuration(now, duration), license.grace_days) }
}

/** The response's fields for an end. */
export function endFields(row: Ending, now: number) {
  const end = displayedEnd(row, now)
  const inGrace = end !== null && end <= now && accessEnd(row, now) > now
  return { expiresAt: toIsoOrNull(end), graceDays: row.grace_days, inGrace }
}

/** The response's fields for a license's term. */
export const toTerms = (license: TermColumns) => ({
  term: license.term,
  duration: license.term === 'first_use' ? toDuration(license) : null,
  startedAt: toIsoOrNull(license.started_at),
})

/** How much time a license adds to an end user who upgrades with it now; null for all time. */
export function timeLeft(license: TermColumns & Ending, now: number): number | null {
  const expiresAt = displayedEnd({ ...license, ...atFirstUse(license, now) }, now)
  return expiresAt === null ? null : Math.max(0, expiresAt - now)
}

/** The term of an end user: that of the first license, or by the end alone without one. */
export const termOf = (license: { term: LicenseRow['term'] } | null | undefined, expiresAt: number) =>
  license?.term ?? (expiresAt === never ? 'forever' : 'date')
