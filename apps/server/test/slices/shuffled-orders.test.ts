// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { rounds } from '../rounds.ts'
import { expectSums } from '../sale-sums.ts'
import { allUsed, makeShop, makeType, sell } from '../shop-actor.ts'
import { paid, type SoldEvent } from '../shop-events.ts'
import { outcomeOf, shuffled } from '../shop-outcomes.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)

const deliveries = rounds(60, 2000)

/** What a shop tells of one order, in the order in which it happened. */
function history(order: string, begin: number): SoldEvent[] {
  const at = (days: number) => new Date(begin + days * day).toISOString()
  const about = (type: string, days: number, more: object = {}) => ({
    type,
    timestamp: at(days),
    data: { order, ...more },
  })
  const lines = [{ product: 'pro', quantity: 1 + Math.floor(Math.random() * 3) }]
  const tales = [
    () => [],
    () => [about('order.refunded', 1)],
    () => [about('order.refunded', 1, { amount: 400 }), about('order.refunded', 2, { amount: 600 })],
    () => [about('order.refunded', 1, { amount: 400 })],
    () => [about('order.disputed', 1), about('order.dispute_won', 2)],
    () => [about('order.disputed', 1), about('order.dispute_won', 2), about('order.disputed', 3)],
    () => [
      about('subscription.renewed', 1, { until: at(400) }),
      about('subscription.payment_failed', 2),
      about('subscription.renewed', 3, { until: at(430) }),
    ],
    () => [
      about('subscription.renewed', 1, { until: at(400) }),
      about('subscription.changed', 2, { product: 'plus', until: at(380) }),
      about('subscription.renewed', 3, { until: at(410) }),
      about('subscription.changed', 4, { product: 'pro', until: at(390) }),
    ],
    () => [
      about('subscription.renewed', 1, { until: at(400), payment: 'p1', amount: 1000 }),
      about('subscription.renewed', 30, { until: at(430), payment: 'p2', amount: 1000 }),
      about('order.refunded', 31, { payment: 'p2', amount: 1000 }),
      about('order.disputed', 32, { payment: 'p1', dispute: 'd1' }),
      about('subscription.payment_failed', 33, { payment: 'p3' }),
    ],
    () => [
      about('order.disputed', 1, { dispute: 'd1' }),
      about('order.disputed', 2, { dispute: 'd2' }),
      about('order.dispute_won', 3, { dispute: 'd1' }),
      ...(Math.random() < 0.5 ? [about('order.dispute_won', 4, { dispute: 'd2' })] : []),
    ],
    () => [
      about('subscription.renewed', 1, { until: at(400), payment: 'p1' }),
      about('order.refunded', 2),
      about('subscription.renewed', 3, { until: at(390), payment: 'p2' }),
    ],
    () => [
      about('subscription.changed', 1, { product: 'pro', quantity: 4, until: at(380) }),
      about('subscription.changed', 2, { product: 'pro', quantity: 2, until: at(380) }),
      about('subscription.renewed', 3, { until: at(410), payment: 'p2' }),
      ...(Math.random() < 0.5 ? [about('order.refunded', 4, { payment: 'p2' })] : []),
    ],
    () => [
      about('subscription.changed', 1, { product: 'plus', until: at(380) }),
      about('order.disputed', 2),
      about('subscription.ended', 340),
    ],
  ]
  const tale = tales[Math.floor(Math.random() * tales.length)]!
  return [{ ...paid(order, { lines, amount: 1000, currency: 'EUR' }), timestamp: at(0) }, ...tale()]
}

const withIds = (events: readonly SoldEvent[]) =>
  events.map((event) => ({ ...event, id: `msg_${randomUUID()}` }))

test('deliveries in any order, repeated and concurrent, end like those in order', async () => {
  const products = [
    { product: 'pro', type: await makeType(owner, app._id, { devices: 2, graceDays: 5 }) },
    { product: 'plus', type: await makeType(owner, app._id, { devices: 8, graceDays: 2 }) },
  ]
  const inOrder = await makeShop(owner, app._id, products)
  const mixed = await makeShop(owner, app._id, products)
  const begin = on.clock.now()
  const events: SoldEvent[] = []
  for (let at = 0; events.length < deliveries * 0.75; at += 1)
    events.push(...withIds(history(`order-${at}`, begin)))
  for (const event of events) {
    expect(await sell(on, inOrder, event)).toBe(200)
    await allUsed(on, inOrder._id)
  }
  const repeated = Array.from({ length: deliveries - events.length }, (_, at) => events[at % events.length]!)
  const all = shuffled([...events, ...repeated])
  expect(all.length).toBeGreaterThanOrEqual(deliveries)
  while (all.length > 0) {
    const statuses = await Promise.all(all.splice(0, 16).map((event) => sell(on, mixed, event)))
    expect(new Set(statuses)).toEqual(new Set([200]))
  }
  await allUsed(on, mixed._id)
  const expected = await outcomeOf(owner, inOrder._id)
  expect(Object.keys(expected).length).toBeGreaterThan(deliveries / 12)
  expect(await outcomeOf(owner, mixed._id)).toEqual(expected)
  const sums = await expectSums(on, app._id)
  const counted = Object.values(sums[inOrder._id] ?? {}).reduce((all, { n }) => all + n, 0)
  expect(counted).toBeGreaterThan(deliveries / 12)
  expect(sums[mixed._id]).toEqual(sums[inOrder._id])
})
