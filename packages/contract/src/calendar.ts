/**
 * The day of the month that a day of the calendar leads to so many months later: the same one. The last day of a month leads
 * to the last day of the other, as does a day that the other lacks. Everything that adds months or years counts them so.
 * `month` is 1 to 12.
 */
export function dayMonthsLater(year: number, month: number, day: number, months: number): number {
  const last = daysIn(year, month + months)
  return day === daysIn(year, month) ? last : Math.min(day, last)
}

/** `month` may go on after the end of its year. */
const daysIn = (year: number, month: number): number => new Date(year, month, 0).getDate()
