import { isSaleRange } from '@keyward/contract/calendar'

export interface DayRange {
  from: string
  to: string
}

/** The browser's time zone. */
export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone

const dayMs = 86_400_000
/** Dates of the calendar, as UTC. */
const toDay = (at: number | Date): string => new Date(at).toISOString().slice(0, 10)
const month = (day: string, months: number): number => {
  const [year = 0, number = 1] = day.split('-').map(Number)
  return Date.UTC(year, number - 1 + months, 1)
}
const monthOf = (day: string, months: number): DayRange => ({
  from: toDay(month(day, months)),
  to: toDay(month(day, months + 1) - dayMs),
})

export const presets = ['month', 'last-month', '30', '90', 'year', 'last-year'] as const
export type Preset = (typeof presets)[number]

export const presetLabels: Readonly<Record<Preset, string>> = {
  month: 'This month',
  'last-month': 'Last month',
  30: 'Last 30 days',
  90: 'Last 90 days',
  year: 'This year',
  'last-year': 'Last year',
}

/** The days of a preset, by today's date. */
export function rangeOf(preset: Preset, today: string): DayRange {
  const year = today.slice(0, 4)
  if (preset === 'month') return monthOf(today, 0)
  if (preset === 'last-month') return monthOf(today, -1)
  if (preset === 'year') return { from: `${year}-01-01`, to: `${year}-12-31` }
  if (preset === 'last-year') return { from: `${Number(year) - 1}-01-01`, to: `${Number(year) - 1}-12-31` }
  return { from: toDay(Date.parse(today) - (Number(preset) - 1) * dayMs), to: today }
}

const isWholeMonths = ({ from, to }: DayRange) =>
  from.endsWith('-01') && toDay(Date.parse(to) + dayMs).endsWith('-01')

/** What a range is compared with: as many months before it if it has whole ones, else as many days. */
export function rangeBefore(range: DayRange): DayRange {
  const { from, to } = range
  if (isWholeMonths(range)) {
    const [[year = 0, first = 0], [lastYear = 0, last = 0]] = [from, to].map((day) =>
      day.split('-').map(Number),
    ) as [number[], number[]]
    const months = (lastYear - year) * 12 + last - first + 1
    return { from: toDay(month(from, -months)), to: toDay(Date.parse(from) - dayMs) }
  }
  const days = (Date.parse(to) - Date.parse(from)) / dayMs + 1
  return { from: toDay(Date.parse(from) - days * dayMs), to: toDay(Date.parse(from) - dayMs) }
}

export const isDay = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))

/** What the address says; this month if it says nothing that can be shown. */
export function chosenRange(
  { range, from, to }: Record<'range' | 'from' | 'to', string | undefined>,
  today: string,
): DayRange & { preset: Preset | undefined } {
  if (isDay(from) && isDay(to) && isSaleRange(from, to)) return { from, to, preset: undefined }
  const preset = presets.find((one) => one === range) ?? 'month'
  return { ...rangeOf(preset, today), preset }
}
