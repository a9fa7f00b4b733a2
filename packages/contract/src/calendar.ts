/** A day of the calendar; `month` is 1 to 12. */
export interface Day {
  year: number
  month: number
  day: number
}

/**
 * The same day so many months later. The last day of a month leads to the last day of the other, as does a day that the
 * other lacks. Everything that adds months or years counts them so.
 */
export function monthsLater({ year, month, day }: Day, months: number): Day {
  const count = 12 * year + month - 1 + months
  const then = { year: Math.floor(count / 12), month: (count % 12) + 1 }
  const last = daysIn(then)
  return { ...then, day: day === daysIn({ year, month }) ? last : Math.min(day, last) }
}

const daysIn = ({ year, month }: Omit<Day, 'day'>): number => new Date(Date.UTC(year, month, 0)).getUTCDate()
