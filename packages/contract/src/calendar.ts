/** A day of the calendar; `month` is 1 to 12. */
export interface Day {
  year: number
  month: number
  day: number
}

/**
 * The day of the month that a day leads to so many months later: the same one. The last day of a month leads to the last day
 * of the other, as does a day that the other lacks. Everything that adds months or years counts them so.
 */
export function dayMonthsLater({ year, month, day }: Day, months: number): number {
  const last = daysIn(year, month + months)
  return day === daysIn(year, month) ? last : Math.min(day, last)
}

/** `month` may go on after the end of its year. */
const daysIn = (year: number, month: number): number => new Date(year, month, 0).getDate()
