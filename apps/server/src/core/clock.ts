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
/** `YYYY-MM-DDT` by day number. */
const dates = new Map<number, string>()
const digits = Array.from({ length: 1000 }, (_, value) => String(value).padStart(3, '0'))
const twoDigits = digits.slice(0, 100).map((text) => text.slice(1))

/** Like `Date.toISOString`, which costs a microsecond; a check contains several times. */
export function toIso(epochMs: number): string {
  if (!Number.isInteger(epochMs) || epochMs < 0 || epochMs > lastInstant)
    return new Date(epochMs).toISOString()
  const dayOf = dayNumber(epochMs)
  const rest = epochMs - dayOf * day
  const hours = twoDigits[Math.floor(rest / hour)]
  const minutes = twoDigits[Math.floor((rest % hour) / minute)]
  const seconds = twoDigits[Math.floor((rest % minute) / second)]
  return `${dateOf(dayOf)}${hours}:${minutes}:${seconds}.${digits[rest % second]}Z`
}

function dateOf(dayOf: number): string {
  const kept = dates.get(dayOf)
  if (kept !== undefined) return kept
  const date = new Date(dayOf * day).toISOString().slice(0, 'YYYY-MM-DDT'.length)
  if (dates.size >= datesKept) dates.clear()
  dates.set(dayOf, date)
  return date
}

export const toIsoOrNull = (epochMs: number | null): string | null =>
  epochMs === null ? null : toIso(epochMs)

/** UTC day number, for daily counts. */
export const dayNumber = (epochMs: number): number => Math.floor(epochMs / day)
