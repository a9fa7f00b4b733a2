import { toFlag } from '@keyward/contract/imported-files'

const dayMs = 86_400_000
/** 3652.42 days: what KeyAuth sells as a lifetime. */
const lifetimeMs = 315_569_260_000
const [earliest, latest] = [Date.UTC(1990, 0, 1), Date.UTC(2200, 0, 1)]

/** A duration, or a moment in milliseconds since 1970; `never` for a lifetime. */
export type Lasting = number | 'never'

const edge = /[\s\p{Cc}]/u

/** Without white space and zero characters at both ends, as old servers removed them; a regular expression for the end would be quadratic. */
function trim(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && edge.test(text.charAt(start))) start += 1
  while (end > start && edge.test(text.charAt(end - 1))) end -= 1
  return text.slice(start, end)
}

/** The text of a field without white space at its ends; undefined if nothing is left, or if it is no text or number. */
export function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return undefined
  if (typeof value === 'string' && value.length > 100_000) return value.slice(0, 100_000)
  return trim(String(value)) || undefined
}

/** Characters that no database stores, or that no one can type. */
const unusable = /[\p{Cc}\ufffd]/u

export const isStorable = (text: string): boolean => text.isWellFormed() && !unusable.test(text)

/** The number of a field that holds only digits, and perhaps a fraction. */
export function numberOf(value: unknown): number | undefined {
  const text = textOf(value)
  if (text === undefined || !/^-?\d{1,15}(?:[.,]\d{1,20})?(?:e[+-]?\d{1,2})?$/i.test(text)) return undefined
  const number = Number(text.replace(',', '.'))
  return Number.isFinite(number) ? number : undefined
}

/** A duration in days; from 3650 days it is a lifetime, because old systems have no other word for it. */
export const daysOf = (value: unknown): Lasting | undefined => durationOf(value, dayMs)
export const secondsOf = (value: unknown): Lasting | undefined => durationOf(value, 1000)

function durationOf(value: unknown, unitMs: number): Lasting | undefined {
  const number = numberOf(value)
  if (number === undefined || number <= 0) return undefined
  const ms = number * unitMs
  // Exports round it differently, and systems that came after it use round ten years and more.
  return ms >= lifetimeMs - 100 * dayMs ? 'never' : Math.max(Math.round(ms), 1000)
}

/** ISO 8601 durations such as P1Y and P30D. */
export function isoDurationOf(value: unknown): Lasting | undefined {
  const found = /^P(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})W)?(?:(\d{1,5})D)?$/i.exec(textOf(value) ?? '')
  if (!found) return undefined
  const [years = 0, months = 0, weeks = 0, days = 0] = found.slice(1).map((part) => Number(part ?? 0))
  return daysOf(years * 365 + months * 30 + weeks * 7 + days)
}

/** Whether the day or the month is first in dates such as 03/04/2027. */
export type DateOrder = 'day' | 'month'

export type ReadMoment = { ms: number } | { ambiguous: true } | { problem: string }

const unreadable = { problem: 'The date is not one of ISO 8601, Unix time, or day, month and year' }

/** Words for a license without an end. */
export const forever = /^(?:never|lifetime|unlimited|forever|perpetual|permanent|infinite|none|∞)$/i

/** A moment as ISO 8601, as Unix time in seconds or milliseconds, or as day, month and year. */
export function readMoment(value: unknown, order?: DateOrder): ReadMoment {
  const text = textOf(value)
  if (text === undefined || text.length > 64) return unreadable
  const number = numberOf(text)
  if (number !== undefined) return bounded(Math.abs(number) >= 100_000_000_000 ? number : number * 1000)
  const iso =
    /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?))? ?(Z|[+-]\d\d:?\d\d)?$/i.exec(text)
  if (iso) {
    const [, year, month, day, time, zone = 'Z'] = iso
    if (!isDay(Number(year), Number(month), Number(day))) return unreadable
    // A day without a time counts to its end.
    if (time === undefined) return bounded(Date.UTC(Number(year), Number(month) - 1, Number(day) + 1) - 1000)
    return bounded(Date.parse(`${year}-${month}-${day}T${time}${zone.toUpperCase()}`))
  }
  const parts = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:,?[T ]+(\d{1,2}):(\d\d)(?::(\d\d))?)?$/.exec(text)
  if (!parts) return unreadable
  const [first, second, year] = [Number(parts[1]), Number(parts[3]), Number(parts[4])]
  const readings = (['day', 'month'] as const).filter((reading) =>
    reading === 'day' ? isDay(year, second, first) : isDay(year, first, second),
  )
  // Points are only used where the day is first.
  const known = parts[2] === '.' ? 'day' : first === second ? 'day' : order
  if (readings.length === 2 && known === undefined) return { ambiguous: true }
  const reading = readings.length === 2 ? known : readings[0]
  if (reading === undefined || (parts[2] === '.' && reading === 'month')) return unreadable
  const [day, month] = reading === 'day' ? [first, second] : [second, first]
  if (parts[5] === undefined) return bounded(Date.UTC(year, month - 1, day + 1) - 1000)
  const [hour, minute, seconds] = [Number(parts[5]), Number(parts[6]), Number(parts[7] ?? 0)]
  if (hour > 23 || minute > 59 || seconds > 59) return unreadable
  return bounded(Date.UTC(year, month - 1, day, hour, minute, seconds))
}

const bounded = (ms: number): ReadMoment =>
  ms >= earliest && ms < latest
    ? { ms: Math.floor(ms) }
    : { problem: 'The date is before 1990 or after 2200' }

const isDay = (year: number, month: number, day: number) => {
  const date = new Date(Date.UTC(year, month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

const negative = new Set(['', '0', 'false', 'no', 'none', 'null', 'n/a', 'not banned', 'active'])
const positive = new Set(['1', 'true', 'yes', 'banned', 'revoked', 'suspended'])

/** A ban as old systems write it: a flag, or the reason itself. Null for none. */
export function banOf(value: unknown): { reason: string | null } | null {
  if (value === true) return { reason: null }
  const text = textOf(value)
  if (text === undefined || negative.has(text.toLowerCase()) || toFlag(text) === false) return null
  return { reason: isFlagged(text) ? null : text.slice(0, 200) }
}

export const isFlagged = (value: unknown): boolean =>
  value === true || positive.has((textOf(value) ?? '').toLowerCase()) || toFlag(textOf(value) ?? '') === true

/**
 * The hardware ids of a field. KeyAuth glues several together without a separator: they are split only where it is certain;
 * `glued` if the text can hold several that nobody can tell apart.
 */
export function hardwareIds(value: unknown): { ids: string[]; glued: boolean } {
  const text = textOf(value)
  if (text === undefined || /^(?:n\/a|null|none)$/i.test(text)) return { ids: [], glued: false }
  const parts = splitIds(text)
  return { ids: [...new Set(parts)], glued: parts.length === 1 && text.length >= 40 && !isSingleId(text) }
}

const sid = /S-1-5-21-\d{1,10}-\d{1,10}-\d{1,10}(?:-\d{3,4})?/y
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function splitIds(text: string): string[] {
  if (text.startsWith('S-1-5-21-') && text.length < 4000) {
    const found = text.split(/(?=S-1-5-21-)/)
    if (found.every((part) => matchesWhole(sid, part))) return found
  }
  if (text.length % 36 === 0 && text.length > 36) {
    const pieces = text.match(/.{36}/gs) ?? []
    if (pieces.every((part) => uuid.test(part))) return pieces
  }
  // Both are multiples of 32; 64 digits of hex can as well be one SHA-256.
  if (text.length % 32 === 0 && text.length > 64 && /^[0-9a-f]+$/i.test(text))
    return text.match(/.{32}/g) ?? []
  const half = text.slice(0, text.length / 2)
  if (text.length >= 16 && text.length % 2 === 0 && half === text.slice(text.length / 2)) return [half]
  return [text]
}

function matchesWhole(pattern: RegExp, text: string): boolean {
  pattern.lastIndex = 0
  return pattern.test(text) && pattern.lastIndex === text.length
}

const isSingleId = (text: string) =>
  matchesWhole(sid, text) || (/^[0-9a-f]+$/i.test(text) && [40, 64, 128].includes(text.length))

export type ReadPassword = 'none' | 'bcrypt' | 'other'

/** Which form a stored password has. The text itself is only kept where it is bcrypt. */
export const passwordForm = (value: unknown): ReadPassword => {
  const text = textOf(value)
  if (text === undefined) return 'none'
  return /^\$2[aby]\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/.test(text) ? 'bcrypt' : 'other'
}

/** `email` in KeyAuth's files is the SHA-1 of an address. */
export const isSha1 = (text: string): boolean => /^[0-9a-f]{40}$/i.test(text)
