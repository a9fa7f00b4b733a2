import { serverNow } from '../../lib/api/server-time.ts'
import { addDuration, type DurationUnit } from '../../lib/format/dates.ts'

export const durationUnits: { value: DurationUnit; label: string }[] = [
  { value: 'hours', label: 'Hours' },
  { value: 'days', label: 'Days' },
  { value: 'months', label: 'Months' },
]

/** Now plus the duration; undefined unless it is a positive integer and the result is before the year 10000. */
export function expiryAfter(duration: number, unit: DurationUnit): Date | undefined {
  if (!Number.isInteger(duration) || duration < 1) return undefined
  const expiry = addDuration(serverNow(), duration, unit)
  return Number.isNaN(expiry.getTime()) || expiry.getUTCFullYear() > 9999 ? undefined : expiry
}
