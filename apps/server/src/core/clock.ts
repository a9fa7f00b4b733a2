import type { Duration } from '@keyward/contract'
import { dayMonthsLater } from '@keyward/contract/calendar'

/** The only source of the current time (milliseconds since 1970), so that tests can set it. */
export interface Clock {
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** Parses a validated ISO 8601 text; a bare date means the last millisecond of that UTC day. */
export function toEpochMs(text: string): number {
  return Math.min(lastInstant, Date.parse(text.length === 10 ? `${text}T23:59:59.999Z` : text))
}

/** The end of the year 9999: later times would not have a four-digit year, so they are clamped to it. */
export const lastInstant = Date.parse('9999-12-31T23:59:59.999Z')

const datesKept = 2000
/** `YYYY-MM-DD` by day number. */
const dates = new Map<number, string>()

const codeOf = (character: string): number => character.charCodeAt(0)
const [zero, letterT, colon, point, letterZ] = [
  codeOf('0'),
  codeOf('T'),
  codeOf(':'),
  codeOf('.'),
  codeOf('Z'),
]
/** The character code of a decimal digit of a number: of its ones, tens or hundreds. */
const digit = (value: number, unit: 1 | 10 | 100): number => zero + (((value / unit) | 0) % 10)

/**
 * Like `Date.toISOString`, which costs a microsecond; a check contains several times. Built from character codes,
 * because `JSON.stringify` takes twice as long for concatenated strings.
 */
export function toIso(epochMs: number): string {
  if (!Number.isInteger(epochMs) || epochMs < 0 || epochMs > lastInstant)
    return new Date(epochMs).toISOString()
  const dayOf = dayNumber(epochMs)
  const date = dateOf(dayOf)
  const ms = (epochMs - dayOf * day) | 0
  const hours = (ms / hour) | 0
  const minutes = ((ms % hour) / minute) | 0
  const seconds = ((ms % minute) / second) | 0
  return String.fromCharCode(
    date.charCodeAt(0),
    date.charCodeAt(1),
    date.charCodeAt(2),
    date.charCodeAt(3),
    date.charCodeAt(4),
    date.charCodeAt(5),
    date.charCodeAt(6),
    date.charCodeAt(7),
    date.charCodeAt(8),
    date.charCodeAt(9),
    letterT,
    digit(hours, 10),
    digit(hours, 1),
    colon,
    digit(minutes, 10),
    digit(minutes, 1),
    colon,
    digit(seconds, 10),
    digit(seconds, 1),
    point,
    digit(ms, 100),
    digit(ms, 10),
    digit(ms, 1),
    letterZ,
  )
}

function dateOf(dayOf: number): string {
  const kept = dates.get(dayOf)
  if (kept !== undefined) return kept
  const date = new Date(dayOf * day).toISOString().slice(0, 'YYYY-MM-DD'.length)
  if (dates.size >= datesKept) dates.clear()
  dates.set(dayOf, date)
  return date
}

export const toIsoOrNull = (epochMs: number | null): string | null =>
  epochMs === null ? null : toIso(epochMs)

/** UTC day number, for daily counts. */
export const dayNumber = (epochMs: number): number => Math.floor(epochMs / day)

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
