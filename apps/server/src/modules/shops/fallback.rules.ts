import { addDuration, day } from '../../core/clock.ts'
import { type Payment, slack } from './payments.rules.ts'

// How long a subscription was paid: after so many months as its type says, a license stays when it ends.

interface Span {
  from: number
  to: number
}

const monthsAfter = (start: number, value: number): number => addDuration(start, { value, unit: 'months' })

/** Whole calendar months of the time that payments have paid until a time, without gaps, trials and what was lost. */
export function paidMonths(payments: readonly Payment[], until: number): number {
  let [months, rest] = [0, 0]
  for (const { from, to } of spansOf(payments)) {
    const [start, end] = [from - rest, Math.min(to, until)]
    const whole = wholeMonths(start, end)
    months += whole
    rest = Math.max(0, end - monthsAfter(start, whole))
  }
  return months
}

/** The last end that is paid, of one that was told. */
export const lastPaidEnd = (payments: readonly Payment[], told: number): number =>
  Math.min(told, ...spansOf(payments).flatMap(({ to }, at, all) => (at === all.length - 1 ? to : [])))

/** The times that were paid without a gap. */
function spansOf(payments: readonly Payment[]): Span[] {
  const spans: Span[] = []
  for (const { at, amount, untils, lost } of payments.toSorted((a, b) => a.at - b.at)) {
    if (lost !== null || amount === 0 || untils.length === 0) continue
    const [to, last] = [Math.max(...untils), spans.at(-1)]
    if (last && (at <= last.to + slack || isLate(last.to, { from: at, to }))) last.to = Math.max(last.to, to)
    else spans.push({ from: at, to })
  }
  return spans
}

/** Whether a payment after an end pays from that end on: of whole months, early in them. */
function isLate(end: number, { from, to }: Span): boolean {
  const months = Math.max(1, Math.round((to - end) / (30.4 * day)))
  return Math.abs(monthsAfter(end, months) - to) <= slack && 2 * (from - end) < to - from
}

function wholeMonths(from: number, to: number): number {
  let months = Math.max(0, Math.floor((to - from) / (31 * day)))
  while (monthsAfter(from, months + 1) <= to + slack) months += 1
  return months
}
