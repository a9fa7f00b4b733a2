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

export const toIso = (epochMs: number): string => new Date(epochMs).toISOString()
export const toIsoOrNull = (epochMs: number | null): string | null =>
  epochMs === null ? null : toIso(epochMs)

/** UTC day number, for daily counts. */
export const dayNumber = (epochMs: number): number => Math.floor(epochMs / day)
