import { day } from '../core/clock.ts'

// `expires_at` of licenses and end users is the moment when access ends: the end that people see plus the grace days.
// Counts, triggers, filters and verdicts compare that one column.

/** The `expires_at` of what never ends or has not started; later than any real end with its grace days. */
export const never = Date.parse('+010001-01-01T00:00:00.000Z')

/** `expires_at` for an end that people see; null for never. */
export const toStoredEnd = (end: number | null, graceDays: number): number =>
  end === null ? never : end + graceDays * day

/** The end that people see: without the grace days; null if it never comes or is not known yet. */
export const toShownEnd = (row: { expires_at: number; grace_days: number }): number | null =>
  row.expires_at === never ? null : row.expires_at - row.grace_days * day
