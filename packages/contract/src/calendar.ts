import { limits } from './constants.ts'

/**
 * The day of the month (1 to 31) that is `months` after a date, whose `month` is 1 to 12: usually the same day. From the
 * last day of a month it is the last day of the later one, as it is for a day that the later one does not have.
 */
export function dayMonthsLater(year: number, month: number, day: number, months: number): number {
  const last = daysIn(year, month + months)
  return day === daysIn(year, month) ? last : Math.min(day, last)
}

/** Whether the days from one date to another are as many as a call for sales takes. */
export function isSaleRange(from: string, to: string): boolean {
  const days = (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1
  return days >= 1 && days <= limits.salesDaysMax
}

/** `month` may go on after the end of its year. */
const daysIn = (year: number, month: number): number => new Date(year, month, 0).getDate()
