import type { Duration } from '@keyward/contract'
import { lastInstant } from './clock.ts'

/** `start` plus a duration of the calendar in a time zone: months are clamped to the month's last day, ends to the year 9999. */
export function addInZone(start: number, { value, unit }: Duration, timeZone: string): number {
  const end = Temporal.Instant.fromEpochMilliseconds(start)
    .toZonedDateTimeISO(timeZone)
    .add({ [unit]: value })
  return Math.min(lastInstant, end.epochMilliseconds)
}
