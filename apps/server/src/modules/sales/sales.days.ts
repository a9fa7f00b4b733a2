import { day, hour } from '../../core/clock.ts'

/** Days of a time zone, as their first moments; the last one is the end of the last day. */
export interface Days {
  dates: string[]
  starts: number[]
}

export function daysOf(from: string, to: string, timeZone: string): Days {
  const offsetAt = offsetsOf(timeZone)
  const first = Date.parse(from) / day
  const count = Date.parse(to) / day - first + 1
  const numbers = Array.from({ length: count + 1 }, (_, at) => first + at)
  return {
    dates: numbers.slice(0, -1).map((number) => new Date(number * day).toISOString().slice(0, 10)),
    starts: numbers.map((number) => startOf(number * day, offsetAt)),
  }
}

/** What is added to UTC to get the local time. */
function offsetsOf(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', era: 'short' },
    ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  })
  return (at) => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0
    const local = [part('year'), part('month') - 1, part('day')] as const
    return Date.UTC(...local, part('hour'), part('minute'), part('second')) - at
  }
}

/**
 * When a local day begins, given its midnight as if it were of UTC: with its first midnight if clocks go back to it, and with
 * the end of the gap if they skip it.
 */
function startOf(midnight: number, offsetAt: (at: number) => number): number {
  const offsets = [offsetAt(midnight - day), offsetAt(midnight + day)]
  const [first, last] = [midnight - Math.max(...offsets), midnight - Math.min(...offsets)]
  const isBeforeLast = last - 1 + offsetAt(last - 1) >= midnight
  return isBeforeLast ? first : last
}

/** A run of days of 24 hours, or one of another length. */
export interface Run {
  first: number
  start: number
  end: number
}

export function runsOf({ starts }: Days): Run[] {
  const runs: Run[] = []
  for (const [at, start] of starts.slice(0, -1).entries()) {
    const end = starts[at + 1] ?? start
    const last = runs.at(-1)
    const isUsual = end - start === day
    if (last && isUsual && (last.end - last.start) % day === 0) last.end = end
    else runs.push({ first: at, start, end })
  }
  return runs
}

/** The hours in which one day ends and another begins. */
export const splitHours = ({ starts }: Days): number[] =>
  starts.filter((start) => start % hour !== 0).map((start) => Math.floor(start / hour) * hour)
