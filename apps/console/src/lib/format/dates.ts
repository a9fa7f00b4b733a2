import { dayMonthsLater } from '@keyward/contract/calendar'

const dayFormat = new Intl.DateTimeFormat('en-US', { month: 'short', day: '2-digit', year: 'numeric' })

export type DateInput = string | number | Date

/** 'MMM dd, yyyy' in the reader's own time zone. */
export function formatDate(value: DateInput): string {
  return dayFormat.format(new Date(value))
}

const timeFormat = new Intl.DateTimeFormat('en-US', { hour: 'numeric', minute: '2-digit', second: '2-digit' })

/** The time of day, to the second. */
export function formatTime(value: DateInput): string {
  return timeFormat.format(new Date(value))
}

/** Date and time of day in the reader's own time zone. */
export const formatMoment = (value: DateInput): string => `${formatDate(value)}, ${formatTime(value)}`

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
