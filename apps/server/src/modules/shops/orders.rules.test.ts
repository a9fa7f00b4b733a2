import { expect, test } from 'vitest'
import { everyRow } from '../../../test/every-row.ts'
import { day } from '../../core/clock.ts'
import type { OrderFact } from './orders.facts.ts'
import { type FoldedOrder, foldFacts } from './orders.rules.ts'

const bought = {
  ...{ email: 'ada@example.com', name: null, amount: 1000, currency: 'EUR', test: false },
  lines: [{ product: 'pro', quantity: 1 }],
}
const paid: OrderFact = { order: '1', at: 0, kind: 'paid', ...bought }
const five = { product: 'pro', quantity: 5 }
const two = { product: 'pro', quantity: 2 }
type More = OrderFact extends infer F ? (F extends unknown ? Omit<F, 'order'> : never) : never
const folded = (...facts: More[]) =>
  foldFacts(
    [paid, ...facts.map((fact) => ({ ...fact, order: '1' }) as OrderFact)].map((fact, at) => ({
      fact,
      eventId: `${at}`,
    })),
  )

const until = (at: number, end: number): More => ({ kind: 'renewed', at, until: end })

const rows: [name: string, facts: More[], expected: Partial<FoldedOrder>][] = [
  [
    'a failed payment',
    [until(1, 5), { kind: 'payment_failed', at: 5 }],
    { isPastDue: true, isRunning: false },
  ],
  [
    'a failed payment that was paid after all',
    [until(1, 5), { kind: 'payment_failed', at: 5 }, until(6, 9)],
    { isPastDue: false, isRunning: true },
  ],
  ['a cancellation for later', [until(1, 5), { kind: 'canceled', at: 2 }], { end: 5, isRunning: false }],
  [
    'a cancellation that was taken back',
    [until(1, 5), { kind: 'resumed', at: 3 }, { kind: 'canceled', at: 2 }],
    { end: 5, isRunning: true },
  ],
  ['nothing more', [], { ban: null, end: undefined, product: null, partlyRefunded: {} }],
  ['a refund', [{ kind: 'refunded', at: 1, amount: null }], { ban: 'refund' }],
  [
    'a partial refund',
    [{ kind: 'refunded', at: 1, amount: 400 }],
    { ban: null, partlyRefunded: { '': 400 } },
  ],
  [
    'partial refunds of everything',
    [
      { kind: 'refunded', at: 1, amount: 400 },
      { kind: 'refunded', at: 2, amount: 600 },
    ],
    { ban: 'refund', partlyRefunded: {} },
  ],
  [
    'sums of refunds beyond the first payment, which say that a part was refunded',
    [
      { kind: 'refunded', at: 1, amount: 1200, isSum: true },
      { kind: 'refunded', at: 2, amount: 1500, isSum: true },
    ],
    { ban: null, partlyRefunded: { '': 1500 } },
  ],
  ['a dispute', [{ kind: 'disputed', at: 1 }], { ban: 'dispute' }],
  [
    'a won dispute within one second',
    [
      { kind: 'dispute_won', at: 1 },
      { kind: 'disputed', at: 1 },
    ],
    { ban: null },
  ],
  [
    'a won dispute and a refund',
    [
      { kind: 'disputed', at: 1 },
      { kind: 'refunded', at: 2, amount: null },
      { kind: 'dispute_won', at: 3 },
    ],
    { ban: 'refund' },
  ],
  [
    'failed payments, of which only the first begins the grace days',
    [
      { kind: 'renewed', at: 1, until: 50 },
      { kind: 'payment_failed', at: 10 },
      { kind: 'payment_failed', at: 20 },
    ],
    { end: 10 },
  ],
  [
    'a failed payment and its renewal',
    [
      { kind: 'payment_failed', at: 10 },
      { kind: 'renewed', at: 20, until: 80 },
    ],
    { end: 80 },
  ],
  [
    'an older renewal of a shorter time',
    [
      { kind: 'renewed', at: 20, until: 80 },
      { kind: 'renewed', at: 21, until: 50 },
    ],
    { end: 80 },
  ],
  [
    'a later statement of an earlier end, where both say when they happened',
    [
      { kind: 'renewed', at: 20, until: 80, timed: true },
      { kind: 'renewed', at: 21, until: 50, timed: true },
    ],
    { end: 50 },
  ],
  [
    'an earlier end of a statement without a time, beside one with a time',
    [
      { kind: 'renewed', at: 20, until: 80, timed: false },
      { kind: 'renewed', at: 21, until: 50, timed: true },
    ],
    { end: 80 },
  ],
  [
    'a refunded renewal, by its name',
    [
      { kind: 'renewed', at: 1, until: 50, payment: 'p1' },
      { kind: 'renewed', at: 50, until: 80, payment: 'p2', amount: 1900 },
      { kind: 'refunded', at: 60, payment: 'p2', amount: 1900 },
    ],
    { ban: null, end: 50, partlyRefunded: {} },
  ],
  [
    'a refunded payment in the middle',
    [
      { kind: 'renewed', at: 50, until: 80, payment: 'p2', timed: true },
      { kind: 'refunded', at: 60, payment: 'p2', amount: null },
      { kind: 'renewed', at: 80, until: 110, payment: 'p3', timed: true },
    ],
    { ban: null, end: 110 },
  ],
  [
    'refunds of all payments, and a later payment',
    [
      { kind: 'renewed', at: 50, until: 80, payment: 'p2' },
      { kind: 'refunded', at: 60, amount: null },
      { kind: 'renewed', at: 80, until: 110, payment: 'p3' },
    ],
    { ban: null, end: 110 },
  ],
  [
    'a refund of everything after a renewal, without names',
    [
      { kind: 'renewed', at: day, until: 80 * day },
      { kind: 'refunded', at: 2 * day, amount: null },
    ],
    { ban: 'refund', end: 80 * day },
  ],
  [
    'a refund of the price without a name, after a renewal of an unknown price',
    [
      { kind: 'renewed', at: 2, until: 80 },
      { kind: 'refunded', at: 3, amount: 1000 },
    ],
    { ban: null, partlyRefunded: { '': 1000 } },
  ],
  [
    'partial refunds without a name of two payments',
    [
      { kind: 'renewed', at: 50, until: 80, amount: 1000 },
      { kind: 'refunded', at: 60, amount: 1000 },
      { kind: 'refunded', at: 61, amount: 1000 },
    ],
    { ban: 'refund' },
  ],
  [
    'a partial refund of a payment that is refunded whole later',
    [
      { kind: 'renewed', at: 50, until: 80, payment: 'p2', amount: 900 },
      { kind: 'refunded', at: 60, payment: 'p2', amount: 400 },
      { kind: 'refunded', at: 61, payment: 'p2', amount: 500 },
    ],
    { ban: null, end: undefined, partlyRefunded: {} },
  ],
  [
    'a refund of a payment that was not told',
    [
      { kind: 'paid', ...bought, payment: 'p1', at: 0 },
      { kind: 'refunded', at: 60, payment: 'p9', amount: null },
    ],
    { ban: null, partlyRefunded: { p9: 1 } },
  ],
  [
    'a refund that failed later',
    [
      { kind: 'refunded', at: 1, amount: null, isSum: true, payment: 'p1' },
      { kind: 'refunded', at: 2, amount: 0, isSum: true, payment: 'p1' },
    ],
    { ban: null, partlyRefunded: {} },
  ],
  [
    'a refund that finds its nameless payment by the end of its period',
    [
      { kind: 'renewed', at: 50, until: 80 },
      { kind: 'renewed', at: 80, until: 110 },
      { kind: 'refunded', at: 90, amount: null, isSum: true, payment: 'in_2', periodEnd: 110 },
    ],
    { ban: null, end: 80 },
  ],
  [
    'a refund that finds its nameless payment by the beginning of its period',
    [
      { kind: 'changed', at: 1, product: 'pro', until: 30 * day, pays: true },
      { kind: 'changed', at: 30 * day, product: 'pro', until: 60 * day, pays: true },
      { kind: 'refunded', at: 40 * day, amount: null, isSum: true, payment: 'i', periodStart: 30 * day },
    ],
    { ban: null, end: 30 * day },
  ],
  [
    'two disputes of which one is won',
    [
      { kind: 'disputed', at: 1, dispute: 'd1' },
      { kind: 'disputed', at: 2, dispute: 'd2' },
      { kind: 'dispute_won', at: 3, dispute: 'd1' },
    ],
    { ban: 'dispute' },
  ],
  [
    'one of two disputes that is won, as two events tell',
    [
      { kind: 'disputed', at: 1, dispute: 'd1' },
      { kind: 'disputed', at: 2, dispute: 'd2' },
      { kind: 'dispute_won', at: 3, dispute: 'd1' },
      { kind: 'dispute_won', at: 4, dispute: 'd1' },
    ],
    { ban: 'dispute' },
  ],
  [
    'two disputes that are won',
    [
      { kind: 'disputed', at: 1, dispute: 'd1' },
      { kind: 'disputed', at: 2, dispute: 'd2' },
      { kind: 'dispute_won', at: 3, dispute: 'd2' },
      { kind: 'dispute_won', at: 4, dispute: 'd1' },
    ],
    { ban: null },
  ],
  [
    'a dispute without a name that is won under its name',
    [
      { kind: 'disputed', at: 1 },
      { kind: 'dispute_won', at: 2, dispute: 'd1', payment: 'p1' },
    ],
    { ban: null },
  ],
  [
    'a dispute of one renewal',
    [
      { kind: 'renewed', at: 50, until: 80, payment: 'p2' },
      { kind: 'disputed', at: 60, payment: 'p2', dispute: 'd1' },
    ],
    { ban: null, end: undefined, standing: [''] },
  ],
  [
    'a warning, which takes nothing',
    [{ kind: 'warned', at: 1, dispute: 'd1', payment: 'p1' }],
    { ban: null, warnings: ['d1'] },
  ],
  [
    'a warning that ended, and one that became a dispute',
    [
      { kind: 'warned', at: 1, dispute: 'd1' },
      { kind: 'dispute_won', at: 2, dispute: 'd1' },
      { kind: 'warned', at: 3, dispute: 'd2' },
      { kind: 'disputed', at: 4, dispute: 'd2' },
    ],
    { ban: 'dispute', warnings: [] },
  ],
  [
    'a failed payment of another invoice',
    [
      { kind: 'renewed', at: 1, until: 300, payment: 'p2' },
      { kind: 'payment_failed', at: 10, payment: 'upgrade' },
    ],
    { end: 300 },
  ],
  [
    'a payment that fails after it was told, and is paid again',
    [
      { kind: 'renewed', at: 1, until: 30, payment: 'p2' },
      { kind: 'renewed', at: 30, until: 60, payment: 'p3' },
      { kind: 'payment_failed', at: 35, payment: 'p3' },
    ],
    { end: 35 },
  ],
  [
    'a renewal that fails while the period before is not over',
    [
      { kind: 'renewed', at: 1, until: 30, payment: 'p2', timed: true },
      { kind: 'renewed', at: 10, until: 60, payment: 'p3', timed: true },
      { kind: 'payment_failed', at: 20, payment: 'p3' },
    ],
    { end: 30 },
  ],
  [
    'a renewal to an earlier end that fails',
    [
      { kind: 'renewed', at: 1, until: 60, payment: 'p2', timed: true },
      { kind: 'renewed', at: 10, until: 45, payment: 'p3', timed: true },
      { kind: 'payment_failed', at: 20, payment: 'p3' },
    ],
    { end: 60 },
  ],
  [
    'a renewal that failed and is paid after all',
    [
      { kind: 'renewed', at: 1, until: 30, payment: 'p2', timed: true },
      { kind: 'renewed', at: 10, until: 60, payment: 'p3', timed: true },
      { kind: 'payment_failed', at: 20, payment: 'p3' },
      { kind: 'renewed', at: 40, until: 60, payment: 'p3', timed: true },
    ],
    { end: 60 },
  ],
  [
    'a first payment that fails',
    [
      { kind: 'paid', at: 1, ...bought, payment: 'p1' },
      { kind: 'payment_failed', at: 20, payment: 'p1' },
    ],
    { end: 20 },
  ],
  [
    'an end of a subscription whose last payment was refunded',
    [
      { kind: 'renewed', at: 30, until: 60, payment: 'p3' },
      { kind: 'refunded', at: 40, payment: 'p3', amount: null },
      { kind: 'ended', at: 41 },
    ],
    { end: 41, ban: null },
  ],
  [
    'more units, once they are paid',
    [
      { kind: 'changed', at: 1, product: 'pro', until: null, lines: [five], pays: false },
      { kind: 'renewed', at: 2, until: 60, payment: 'p2', lines: [five], timed: true },
    ],
    { lines: [five], bought: [{ ...five, shares: [{ units: 5, end: 60, ban: null }] }] },
  ],
  [
    'more units that are not paid yet',
    [{ kind: 'changed', at: 1, product: 'pro', until: null, lines: [five], pays: false }],
    {
      lines: [five],
      bought: [{ product: 'pro', quantity: 1, shares: [{ units: 1, end: undefined, ban: null }] }],
    },
  ],
  [
    'fewer units, of which a renewal pays some',
    [
      { kind: 'renewed', at: 1, until: 30, payment: 'p2', lines: [five], timed: true },
      { kind: 'changed', at: 2, product: 'pro', until: null, lines: [two], pays: false, timed: true },
      { kind: 'renewed', at: 30, until: 60, payment: 'p3', lines: [two], timed: true },
    ],
    {
      lines: [two],
      bought: [
        {
          ...five,
          shares: [
            { units: 2, end: 60, ban: null },
            { units: 5, end: 30, ban: null },
          ],
        },
      ],
    },
  ],
  [
    'units whose payment was refunded',
    [
      { kind: 'renewed', at: 1, until: 30, payment: 'p2', lines: [five], timed: true },
      { kind: 'refunded', at: 3, amount: null, payment: 'p2' },
    ],
    {
      bought: [
        {
          ...five,
          shares: [
            { units: 1, end: undefined, ban: null },
            { units: 5, end: 30, ban: 'refund' },
          ],
        },
      ],
    },
  ],
  [
    'a product that is added, and one that replaces another',
    [
      { kind: 'changed', at: 1, product: 'pro', products: ['addon', 'pro'], until: null },
      { kind: 'changed', at: 2, product: 'pro', products: ['addon', 'pro'], until: null },
    ],
    { product: null, added: ['addon'] },
  ],
  [
    'an addition that ends, and a replacement',
    [
      { kind: 'changed', at: 1, product: 'pro', products: ['pro', 'addon'], until: null },
      { kind: 'changed', at: 2, product: 'plus', products: ['plus'], until: null },
    ],
    { product: 'plus', added: [] },
  ],
  [
    'a change to a shorter time',
    [
      { kind: 'renewed', at: 1, until: 80 },
      { kind: 'changed', at: 2, product: 'plus', until: 40 },
    ],
    { end: 40, product: 'plus' },
  ],
]

test('reads what a shop told, whatever came first', async () => {
  await everyRow(rows, (_name, facts, expected) => {
    expect(folded(...facts)).toMatchObject(expected)
    expect(folded(...facts.toReversed())).toEqual(folded(...facts))
  })
})

test('counts a product once that is told in two events, and adds up its lines within one', () => {
  const lines = [
    { product: 'pro', quantity: 1 },
    { product: 'pro', quantity: 2 },
  ]
  expect(folded({ ...paid, at: 1 }, { ...paid, at: 2, lines }).lines).toEqual([
    { product: 'pro', quantity: 3 },
  ])
})

test('bans what was paid until the vendor bans it, and nothing that is paid later', () => {
  const facts = [paid, { ...paid, kind: 'renewed', at: 50, until: 80, payment: 'p2' } as OrderFact]
  const placed = facts.map((fact, at) => ({ fact, eventId: `${at}` }))
  const { standing } = foldFacts(placed)
  expect(standing).toEqual(['', 'p2'])
  expect(foldFacts(placed, standing)).toMatchObject({ ban: 'refund', standing: [] })
  expect(foldFacts(placed, ['']).ban).toBeNull()
})
