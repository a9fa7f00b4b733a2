import { expect, test } from 'vitest'
import { day, hour } from '../../core/clock.ts'
import { daysOf, runsOf, splitHours } from './sales.days.ts'

const startsOf = (from: string, to: string, zone: string) =>
  daysOf(from, to, zone).starts.map((at) => new Date(at).toISOString())

test('days of a time zone begin at its midnights, also where clocks change', () => {
  expect(startsOf('2026-01-01', '2026-01-02', 'UTC')).toEqual([
    '2026-01-01T00:00:00.000Z',
    '2026-01-02T00:00:00.000Z',
    '2026-01-03T00:00:00.000Z',
  ])
  // 23 hours, and 25.
  expect(startsOf('2026-03-29', '2026-03-29', 'Europe/Berlin')).toEqual([
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
  ])
  expect(startsOf('2026-10-25', '2026-10-25', 'Europe/Berlin')).toEqual([
    '2026-10-24T22:00:00.000Z',
    '2026-10-25T23:00:00.000Z',
  ])
  expect(startsOf('2026-07-01', '2026-07-01', 'Asia/Kathmandu')[0]).toBe('2026-06-30T18:15:00.000Z')
  expect(startsOf('2026-07-01', '2026-07-01', 'Pacific/Kiritimati')[0]).toBe('2026-06-30T10:00:00.000Z')
  // Clocks skip this midnight.
  expect(startsOf('2024-03-31', '2024-03-31', 'Asia/Beirut')[0]).toBe('2024-03-30T22:00:00.000Z')
  // Clocks go back to this midnight from one o'clock, so it comes twice.
  expect(startsOf('2016-10-28', '2016-10-28', 'Asia/Amman')[0]).toBe('2016-10-27T21:00:00.000Z')
  expect(startsOf('2026-11-01', '2026-11-01', 'America/Havana')[0]).toBe('2026-11-01T04:00:00.000Z')
  // Half an hour is skipped.
  expect(startsOf('2026-04-05', '2026-04-05', 'Australia/Lord_Howe')).toEqual([
    '2026-04-04T13:00:00.000Z',
    '2026-04-05T13:30:00.000Z',
  ])
})

test('every moment of a year is in the day that its time zone shows', () => {
  for (const [zone, year] of [
    ['America/New_York', 2026],
    ['Asia/Kolkata', 2026],
    ['Pacific/Chatham', 2026],
    ['America/Havana', 2026],
    ['Asia/Beirut', 2026],
    ['Asia/Amman', 2015],
  ] as const) {
    const days = daysOf(`${year}-01-01`, `${year}-12-31`, zone)
    const shown = new Intl.DateTimeFormat('en-CA', { timeZone: zone })
    const runs = runsOf(days)
    const split = new Set(splitHours(days))
    expect(days.dates).toHaveLength(365)
    expect(runs.at(-1)?.end).toBe(days.starts.at(-1))
    const dateAt = (at: number) => {
      const run = runs.find(({ end }) => at < end)!
      const isWhole = (run.end - run.start) % day === 0
      return days.dates[isWhole ? Math.floor((at - run.start) / day) + run.first : run.first]
    }
    const step = 15 * 60_000
    for (let at = days.starts[0]!; at < days.starts.at(-1)!; at += 7 * step) {
      expect(dateAt(at)).toBe(shown.format(at))
      const start = Math.floor(at / hour) * hour
      if (start >= days.starts[0]! && !split.has(start)) expect(dateAt(at)).toBe(dateAt(start))
    }
  }
})
