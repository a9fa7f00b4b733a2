import { dayMonthsLater } from '@keyward/contract/calendar'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const dayFormat = new Intl.DateTimeFormat('en-US', { month: 'short', day: '2-digit', year: 'numeric' })

export type DateInput = string | number | Date

const utcDayFormat = new Intl.DateTimeFormat('en-US', {
  ...{ month: 'short', day: '2-digit', year: 'numeric', timeZone: 'UTC' },
} as const)

const isBareDate = (date: Date) => date.getTime() % dayMs === dayMs - 1

/**
 * 'MMM dd, yyyy' in the reader's own time zone. The last millisecond of a day in UTC is what a bare date of the API means:
 * it is shown as that date in every time zone.
 */
export function formatDate(value: DateInput): string {
  const date = new Date(value)
  return (isBareDate(date) ? utcDayFormat : dayFormat).format(date)
}

// Hours count to 12 or to 24 as people do where the reader is.
const { hourCycle } = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions()
const clock = { hour: 'numeric', minute: '2-digit', ...(hourCycle && { hourCycle }) } as const
const timeFormat = new Intl.DateTimeFormat('en-US', clock)
const exactFormat = new Intl.DateTimeFormat('en-US', {
  ...{ ...clock, month: 'short', day: '2-digit', year: 'numeric', second: '2-digit', timeZoneName: 'short' },
} as const)

/** The time of day, to the minute. */
export function formatTime(value: DateInput): string {
  return timeFormat.format(new Date(value))
}

/** Date and time of day, to the second, with the reader's time zone. */
export const formatExact = (value: DateInput): string => exactFormat.format(new Date(value))

const relativeFormat = new Intl.RelativeTimeFormat('en-US', { numeric: 'auto' })

/** '5 minutes ago' or 'in 3 hours'; a moment that is a day away or more as date and time. */
export function formatRelative(value: DateInput, now: number): string {
  const ms = new Date(value).getTime() - now
  const distance = Math.abs(ms)
  if (distance >= dayMs) return formatMoment(value)
  // The server's time is known to about a second.
  if (distance < minuteMs) return ms > 2_000 ? 'in a minute' : 'just now'
  const [unit, unitMs] = distance < hourMs ? (['minute', minuteMs] as const) : (['hour', hourMs] as const)
  return relativeFormat.format(Math.trunc(ms / unitMs), unit)
}

/** Date and time of day in the reader's own time zone; a bare date alone. */
export const formatMoment = (value: DateInput): string =>
  isBareDate(new Date(value)) ? formatDate(value) : `${formatDate(value)}, ${formatTime(value)}`

/** In UTC, to the second, for a reader in another time zone. */
export function formatUtcTime(value: DateInput): string {
  return `${new Date(value).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** The first moment of a local day given as 'yyyy-mm-dd', as ISO 8601 UTC. */
export function startOfLocalDay(day: string): string {
  return new Date(`${day}T00:00:00`).toISOString()
}

/** The last millisecond of a local day given as 'yyyy-mm-dd' (what `<input type="date">` holds), as ISO 8601 UTC. */
export function endOfLocalDay(day: string): string {
  return new Date(`${day}T23:59:59.999`).toISOString()
}

/** A date as 'yyyy-mm-dd' of the local calendar, for `<input type="date">`. */
export function toDayInput(value: DateInput): string {
  const date = new Date(value)
  const pad = (part: number) => String(part).padStart(2, '0')
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
}

export type DurationUnit = 'hours' | 'days' | 'months' | 'years'

/** Days, months and years are those of the reader's calendar, as the server counts them. */
export function addDuration(from: DateInput, amount: number, unit: DurationUnit): Date {
  const date = new Date(from)
  if (unit === 'hours') date.setTime(date.getTime() + amount * 3_600_000)
  else if (unit === 'days') date.setDate(date.getDate() + amount)
  else {
    const months = unit === 'years' ? 12 * amount : amount
    const [year, month] = [date.getFullYear(), date.getMonth()]
    date.setFullYear(year, month + months, dayMonthsLater(year, month + 1, date.getDate(), months))
  }
  return date
}
