import type { Duration } from '@keyward/contract'
import { dayMonthsLater } from '@keyward/contract/calendar'
import { day, hour, lastInstant } from './clock.ts'

/**
 * `start`, in milliseconds since 1970, plus a duration: hours pass, days, months and years are those of the calendar in a
 * time zone, months by `dayMonthsLater`. It ends in the year 9999 at the latest.
 */
export function addDuration(start: number, { value, unit }: Duration, timeZone = 'UTC'): number {
  const passing = unit === 'hours' ? hour : unit === 'days' && timeZone === 'UTC' ? day : undefined
  if (passing !== undefined) return Math.min(lastInstant, start + value * passing)
  const from = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(timeZone)
  if (unit === 'days') return Math.min(lastInstant, from.add({ days: value }).epochMilliseconds)
  const months = unit === 'years' ? 12 * value : value
  const { year, month } = from.toPlainDate().toPlainYearMonth().add({ months })
  const end = from.with({ year, month, day: dayMonthsLater(from.year, from.month, from.day, months) })
  return Math.min(lastInstant, end.epochMilliseconds)
}
