import { expect, test } from 'vitest'
import { everyRow } from '../../../test/every-row.ts'
import { day } from '../../core/clock.ts'
import { lastPaidEnd, paidMonths } from './fallback.rules.ts'
import type { Payment } from './payments.rules.ts'

const on = (date: string) => Date.parse(`${date}T10:00:00Z`)
/** What was paid on a day until another one. */
const pay = (from: string, to: string, more: Partial<Payment> = {}): Payment => ({
  ...{ key: from, isNamed: true, at: on(from), amount: 1000, untils: [on(to)], lost: null },
  ...more,
})
const january = pay('2026-01-01', '2026-02-01')
const february = pay('2026-02-01', '2026-03-01')
const march = pay('2026-03-01', '2026-04-01')

const rows: [name: string, payments: Payment[], until: string, months: number, end: string][] = [
  ['months that follow each other', [january, february, march], '2027-01-01', 3, '2026-04-01'],
  ['payments in another order', [march, january, february], '2027-01-01', 3, '2026-04-01'],
  ['a year at once, at its end', [pay('2026-01-31', '2027-01-31')], '2027-01-31', 12, '2027-01-31'],
  ['a year at once, in its middle', [pay('2026-01-31', '2027-01-31')], '2026-07-30', 5, '2027-01-31'],
  ['an end that has not come', [january, february], '2026-02-20', 1, '2026-03-01'],
  ['a month that is not whole', [pay('2026-01-01', '2026-01-30')], '2027-01-01', 0, '2026-01-30'],
  ['a gap of a month', [january, march], '2027-01-01', 2, '2026-04-01'],
  [
    'a gap between parts of a month',
    [pay('2026-01-01', '2026-01-16'), pay('2026-03-01', '2026-03-18')],
    ...(['2027-01-01', 1, '2026-03-18'] as const),
  ],
  [
    'a refund in the middle',
    [january, { ...february, lost: 'refund' }, march],
    ...(['2027-01-01', 2, '2026-04-01'] as const),
  ],
  ['a refund of the last', [january, { ...february, lost: 'refund' }], '2027-01-01', 1, '2026-02-01'],
  ['a lost dispute', [{ ...january, lost: 'dispute' }, february], '2027-01-01', 1, '2026-03-01'],
  ['a trial', [{ ...january, amount: 0 }, february, march], '2027-01-01', 2, '2026-04-01'],
  ['an unknown amount', [{ ...january, amount: null }], '2027-01-01', 1, '2026-02-01'],
  [
    'a month that was paid some days late',
    [january, pay('2026-02-05', '2026-03-01'), march],
    ...(['2027-01-01', 3, '2026-04-01'] as const),
  ],
  [
    'a month that began anew some days later',
    [january, pay('2026-02-10', '2026-03-10')],
    ...(['2027-01-01', 2, '2026-03-10'] as const),
  ],
  ['a payment without an end', [pay('2026-01-01', '2026-01-01', { untils: [] })], '2027-01-01', 0, ''],
]

test('counts the whole calendar months that were paid', async () => {
  await everyRow(rows, (_name, payments, until, months, end) => {
    expect(paidMonths(payments, on(until))).toBe(months)
    const told = on('2030-01-01')
    expect(lastPaidEnd(payments, told)).toBe(end === '' ? told : on(end))
  })
})

test('an end that was told before the paid one counts', () => {
  const told = on('2026-02-01') - day
  expect(lastPaidEnd([january], told)).toBe(told)
  expect(paidMonths([january], told)).toBe(0)
})
