import { day, lastInstant } from '../core/clock.ts'

// `expires_at` of licenses and end users is the moment when access ends: the end that people see plus the grace days.
// Counts, triggers, filters and verdicts compare that one column.

/** The `expires_at` of what never ends or has not started; later than any real end with its grace days. */
export const never = Date.parse('+010001-01-01T00:00:00.000Z')

/** The `expires_at` of what a pause holds, whose time left is in `left_ms`; later than any real end, earlier than never. */
export const held = Date.parse('+010000-07-01T00:00:00.000Z')

/** The end of access for the end that people see; null for never. */
export const toAccessEnd = (end: number | null, graceDays: number): number =>
  end === null ? never : end + graceDays * day

interface Stored {
  expires_at: number
  /** The time that access has left while a pause holds it, grace days included; null while it runs. */
  left_ms?: number | null
}

/** When access ends, grace days included: a pause moves it with the clock. */
export const accessEnd = ({ expires_at, left_ms }: Stored, now: number): number =>
  left_ms == null ? expires_at : Math.min(lastInstant, now + left_ms)

/** The end that people see: without the grace days; null if it never comes or is not known yet. */
export function displayedEnd(row: Stored & { grace_days: number }, now: number): number | null {
  const end = accessEnd(row, now)
  return end === never ? null : end - row.grace_days * day
}
