import { expect, test } from 'vitest'
import { everyRow } from '../../../test/every-row.ts'
import { type OrderFact, type ToldOrder, toldBy } from './orders.rules.ts'

const paid: OrderFact = {
  ...{ order: '1', at: 0, kind: 'paid', email: 'ada@example.com', name: null, amount: 1000, currency: 'EUR' },
  ...{ test: false, lines: [{ product: 'pro', quantity: 1 }] },
}
type More = OrderFact extends infer F ? (F extends unknown ? Omit<F, 'order'> : never) : never
const told = (...facts: More[]) =>
  toldBy(
    [paid, ...facts.map((fact) => ({ ...fact, order: '1' }) as OrderFact)].map((fact, at) => ({
      fact,
      eventId: `${at}`,
    })),
  )

const rows: [name: string, facts: More[], expected: Partial<ToldOrder>][] = [
  ['nothing more', [], { ban: null, end: undefined, product: null, partlyRefunded: 0 }],
  ['a refund', [{ kind: 'refunded', at: 1, amount: null }], { ban: 'refund' }],
  ['a partial refund', [{ kind: 'refunded', at: 1, amount: 400 }], { ban: null, partlyRefunded: 400 }],
  [
    'partial refunds of everything',
    [
      { kind: 'refunded', at: 1, amount: 400 },
      { kind: 'refunded', at: 2, amount: 600 },
    ],
    { ban: 'refund', partlyRefunded: 0 },
  ],
  [
    'sums of refunds beyond the first payment, which say that a part was refunded',
    [
      { kind: 'refunded', at: 1, amount: 1200, isSum: true },
      { kind: 'refunded', at: 2, amount: 1500, isSum: true },
    ],
    { ban: null, partlyRefunded: 1500 },
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
    expect(told(...facts)).toMatchObject(expected)
    expect(told(...facts.toReversed())).toEqual(told(...facts))
  })
})

test('counts a product once that is told in two events, and adds up its lines within one', () => {
  const lines = [
    { product: 'pro', quantity: 1 },
    { product: 'pro', quantity: 2 },
  ]
  expect(told({ ...paid, at: 1 }, { ...paid, at: 2, lines }).lines).toEqual([{ product: 'pro', quantity: 3 }])
})
