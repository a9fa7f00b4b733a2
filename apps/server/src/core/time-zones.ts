import type { Duration } from '@keyward/contract'
import { monthsLater } from '@keyward/contract/calendar'
import { day, hour, lastInstant } from './clock.ts'

/**
 * `start`, in milliseconds since 1970, plus a duration: hours pass, days, months and years are those of the calendar in a
 * time zone, months by `monthsLater`. It ends in the year 9999 at the latest.
 */
export function addDuration(start: number, { value, unit }: Duration, timeZone = 'UTC'): number {
  const passing = unit === 'hours' ? hour : unit === 'days' && timeZone === 'UTC' ? day : undefined
  if (passing !== undefined) return Math.min(lastInstant, start + value * passing)
  const from = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(timeZone)
  const end =
    unit === 'days'
      ? from.add({ days: value })
      : from.with(monthsLater(from, unit === 'years' ? 12 * value : value))
  return Math.min(lastInstant, end.epochMilliseconds)
}
