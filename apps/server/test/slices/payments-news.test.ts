// On PostgreSQL in the full run: payments-hard and payments-nodes send the same statements there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { minute } from '../../src/core/clock.ts'
import { usualWaits } from '../../src/modules/payments/payments.provider.ts'
import { signUp, single } from '../actors.ts'
import type { TestServer } from '../harness.ts'
import {
  activationsOf,
  buy,
  historyOf,
  type PayingServer,
  placeOrder,
  report,
  startPaying,
  subscriptionOf,
} from '../payment-actor.ts'
import { rounds } from '../rounds.ts'

let paying: PayingServer
let on: TestServer
let provider: PayingServer['provider']
let reconcile: PayingServer['reconcile']
beforeAll(async () => {
  paying = await startPaying()
  ;({ on, provider, reconcile } = paying)
})
afterAll(() => paying.close())

describe('webhooks', () => {
  test('activate premium without a report from the checkout', async () => {
    const owner = await signUp(on)
    provider.pay((await placeOrder(owner)).orderId)
    const answers = await provider.deliverAll()
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect((await subscriptionOf(owner)).plan).toBe('premium')
  })

  test.each(['as-is', 'reversed', 'shuffled'] as const)(
    'delivered %s, three times each and concurrently, activate premium once',
    async (order) => {
      const owner = await signUp(on)
      const { orderId } = await placeOrder(owner)
      provider.pay(orderId, { status: 'failed' })
      provider.pay(orderId)
      await provider.deliverAll({ order, duplicates: 2, concurrent: true })
      expect(await activationsOf(on, owner)).toBe(1)
      expect((await subscriptionOf(owner)).expiryDate).toBe(on.clock.inDays(30))
    },
  )

  test('a captured payment wins over a late failure event', async () => {
    const owner = await signUp(on)
    const failed = provider.pay((await placeOrder(owner)).orderId, { status: 'failed' })
    provider.authorizeLater(failed.razorpay_payment_id)
    await provider.deliverAll({ order: (events) => events.toReversed() })
    expect(single(await historyOf(owner)).status).toBe('paid')
  })

  test('for unknown orders are accepted and ignored', async () => {
    const { id } = provider.createOrder({ amount: 500, currency: 'INR' })
    provider.pay(id)
    const answers = await provider.deliverAll()
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  })

  test('are answered in time while the provider does not respond, and are processed later', async () => {
    expect(usualWaits.eventMs).toBeLessThan(5000)
    const own = await startPaying({}, { providerWaits: { callMs: 60_000, eventMs: 500 } })
    const owner = await signUp(own.on)
    own.provider.pay((await placeOrder(owner)).orderId)
    const silence = own.provider.fail({ method: 'GET', mode: 'hang', times: 100 })
    const answers = await own.provider.deliverAll({ concurrent: true })
    expect(silence.hits).toBeGreaterThan(0)
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect((await subscriptionOf(owner)).plan).toBe('free')
    own.provider.clearFaults()
    own.on.clock.advance(5 * minute)
    await own.reconcile()
    expect((await subscriptionOf(owner)).plan).toBe('premium')
    await own.close()
  })

  test('for a dispute are requested again if the provider cannot be reached', async () => {
    const owner = await signUp(on)
    const { razorpay_payment_id: id } = await buy(paying, owner)
    await provider.deliverAll()
    provider.closeDispute(provider.dispute(id).id, 'lost')
    provider.fail({ path: /\/disputes\//, mode: 'status', status: 503, times: 2 })
    const refused = await provider.deliverAll()
    expect(refused.map(({ status }) => status)).toEqual([502, 502])
    expect((await subscriptionOf(owner)).plan).toBe('premium')
    await provider.deliverAll()
    expect((await subscriptionOf(owner)).plan).toBe('free')
  })
})

describe('the reconciler', () => {
  test('settles a payment without any report', async () => {
    const owner = await signUp(on)
    provider.pay((await placeOrder(owner)).orderId, { status: 'authorized' })
    await reconcile()
    expect((await subscriptionOf(owner)).plan).toBe('free')
    on.clock.advance(2 * minute)
    await Promise.all([reconcile(), reconcile()])
    expect(await activationsOf(on, owner)).toBe(1)
  })

  test('finds a payment made days later', async () => {
    const owner = await signUp(on)
    const { orderId } = await placeOrder(owner)
    for (let checks = 0; checks < 12; checks += 1) {
      on.clock.advance(12 * 60 * minute)
      await reconcile()
    }
    provider.pay(orderId)
    on.clock.advance(24 * 60 * minute)
    await reconcile()
    expect((await subscriptionOf(owner)).plan).toBe('premium')
  })

  test('stops checking an order that stays unpaid', async () => {
    const owner = await signUp(on)
    const { orderId } = await placeOrder(owner)
    for (let days = 0; days < 12; days += 1) {
      on.clock.advance(24 * 60 * minute)
      await reconcile()
    }
    const asked = () => provider.calls.filter(({ path }) => path.includes(orderId)).length
    const before = asked()
    expect(before).toBeGreaterThan(3)
    on.clock.advance(24 * 60 * minute)
    await reconcile()
    expect(asked()).toBe(before)
  })

  test('notices a refund whose event was lost', async () => {
    const owner = await signUp(on)
    const { razorpay_payment_id: id } = await buy(paying, owner, { planDuration: 'yearly' })
    provider.refund(id)
    on.clock.advance(24 * 60 * minute)
    await reconcile()
    expect((await subscriptionOf(owner)).plan).toBe('free')
  })

  test('retries a rejected refund and refunds once', async () => {
    const owner = await signUp(on)
    const { razorpay_payment_id: id } = await buy(paying, owner)
    provider.fail({ path: /\/refund$/, mode: 'status', status: 500 })
    const { json } = await owner.call('POST', '/payments/cancel-subscription', { refund: true })
    expect(json.data.refund).toMatchObject({ amount: 69_900, done: false })
    expect(json.message).toContain('₹699 will be refunded as soon as possible')
    expect((await subscriptionOf(owner)).plan).toBe('premium')
    expect(single(await historyOf(owner)).status).toBe('refunding')
    expect(provider.refunds(id)).toHaveLength(0)
    provider.fail({ path: /\/refund$/, mode: 'lost-answer' })
    await reconcile()
    on.clock.advance(60 * minute)
    await reconcile()
    expect(provider.refunds(id)).toHaveLength(1)
    expect((await subscriptionOf(owner)).plan).toBe('free')
    expect(single(await historyOf(owner)).status).toBe('refunded')
  })

  test('repeats a refund that failed at the bank', async () => {
    const owner = await signUp(on)
    const { razorpay_payment_id: id } = await buy(paying, owner)
    provider.setRefunds('pending')
    await owner.call('POST', '/payments/cancel-subscription', { refund: true })
    provider.setRefunds('processed')
    provider.failRefund(single(provider.refunds(id)).id)
    await provider.deliverAll()
    on.clock.advance(60 * minute)
    await reconcile()
    expect(provider.payment(id).amount_refunded).toBe(69_900)
    expect((await subscriptionOf(owner)).plan).toBe('free')
  })
})

test('concurrent checkout reports and webhooks activate premium once', async () => {
  for (let round = 0; round < rounds(10, 50); round += 1) {
    const owner = await signUp(on)
    const status = round % 2 === 0 ? 'captured' : 'authorized'
    const checkout = provider.pay((await placeOrder(owner)).orderId, { status })
    const [reported] = await Promise.all([
      report(owner, checkout),
      provider.deliverAll({ concurrent: true, duplicates: 1 }),
      report(owner, checkout),
    ])
    expect(reported.status).toBe(200)
    expect(await activationsOf(on, owner)).toBe(1)
    expect((await subscriptionOf(owner)).expiryDate).toBe(on.clock.inDays(30))
  }
})
