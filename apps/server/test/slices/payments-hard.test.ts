import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { day, hour, minute } from '../../src/core/clock.ts'
import { setPlan } from '../../src/modules/plans/plans.service.ts'
import { refusal, signUp, single } from '../actors.ts'
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

let paying: PayingServer
let on: TestServer
let provider: PayingServer['provider']
let reconcile: PayingServer['reconcile']
beforeAll(async () => {
  paying = await startPaying()
  ;({ on, provider, reconcile } = paying)
})
afterEach(() => provider.clearFaults())
afterAll(() => paying.close())

const ask = { method: 'POST', path: /\/v1\/orders$/ } as const

describe('two concurrent requests for the same order', () => {
  test('if the provider rejects the second, the first order can be paid', async () => {
    const buyer = await signUp(on)
    const slow = provider.fail({ ...ask, mode: 'hang' })
    const first = placeOrder(buyer)
    await expect.poll(() => slow.hits).toBe(1)
    provider.fail({ ...ask, mode: 'status', status: 400 })
    const second = await buyer.call('POST', '/payments/razorpay/create-order', {})
    expect(refusal(second)).toBe('payment_provider_unavailable')
    slow.release()
    const { orderId } = await first
    expect((await placeOrder(buyer)).orderId).toBe(orderId)
    const checkout = provider.pay(orderId, { status: 'authorized' })
    expect((await report(buyer, checkout)).status).toBe(200)
  })

  test('if the provider rejects the first, only a stored order is offered', async () => {
    const buyer = await signUp(on)
    const refused = provider.fail({ ...ask, mode: 'hang' })
    const first = buyer.call('POST', '/payments/razorpay/create-order', {})
    await expect.poll(() => refused.hits).toBe(1)
    const late = provider.fail({ ...ask, mode: 'late-answer' })
    const second = buyer.call('POST', '/payments/razorpay/create-order', {})
    await expect.poll(() => late.hits).toBe(1)
    provider.fail({ ...ask, mode: 'status', status: 400 })
    refused.release()
    await first
    late.release()
    await second
    const { orderId } = await placeOrder(buyer)
    const checkout = provider.pay(orderId, { status: 'authorized' })
    expect((await report(buyer, checkout)).status).toBe(200)
  })
})

test('answers many concurrent reports and events of one payment and activates it once', async () => {
  const buyer = await signUp(on)
  const checkout = provider.pay((await placeOrder(buyer)).orderId, { status: 'authorized' })
  const reports = Array.from({ length: 24 }, () => report(buyer, checkout))
  const deliveries = provider.deliverAll({ concurrent: true, duplicates: 4 })
  expect(new Set((await Promise.all(reports)).map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set((await deliveries).map(({ status }) => status))).toEqual(new Set([200]))
  expect(await activationsOf(on, buyer)).toBe(1)
})

describe('the reconciler', () => {
  test('refunds the remaining payments of an order after one refund is rejected', async () => {
    const buyer = await signUp(on)
    const { orderId } = await placeOrder(buyer)
    provider.pay(orderId)
    await reconcile()
    provider.pay(orderId, { evenIfPaid: true })
    provider.pay(orderId, { evenIfPaid: true })
    provider.fail({ path: /\/refund$/, mode: 'status', status: 400 })
    on.clock.advance(2 * minute)
    await reconcile()
    expect(
      provider.refunds().filter(({ payment_id: id }) => provider.payment(id).order_id === orderId),
    ).toHaveLength(1)
  })

  test('captures one of two authorized payments of an order', async () => {
    const buyer = await signUp(on)
    const { orderId } = await placeOrder(buyer)
    provider.pay(orderId, { status: 'authorized' })
    provider.pay(orderId, { status: 'authorized' })
    for (let round = 0; round < 3; round += 1) {
      on.clock.advance(10 * minute)
      await reconcile()
    }
    expect((await subscriptionOf(buyer)).plan).toBe('premium')
    expect(await activationsOf(on, buyer)).toBe(1)
    expect((await historyOf(buyer)).map(({ status }) => status).sort()).toEqual(['paid', 'pending'])
  })

  test('keeps an event that arrives during a reconciliation', async () => {
    const buyer = await signUp(on)
    const { orderId } = await placeOrder(buyer)
    on.clock.advance(2 * minute)
    const list = provider.fail({ path: new RegExp(`/orders/${orderId}/payments`), mode: 'late-answer' })
    const running = reconcile()
    await expect.poll(() => list.hits).toBe(1)
    const { razorpay_payment_id: id } = provider.pay(orderId)
    provider.fail({ path: new RegExp(`/payments/${id}`), mode: 'status', status: 500, times: 10 })
    await provider.deliverAll()
    provider.clearFaults()
    await running
    await reconcile()
    expect((await subscriptionOf(buyer)).plan).toBe('premium')
  })

  test('refunds a second payment on an order whose first payment was refunded before activation', async () => {
    const buyer = await signUp(on)
    const { orderId } = await placeOrder(buyer)
    const { razorpay_payment_id: first } = provider.pay(orderId)
    provider.refund(first)
    on.clock.advance(2 * minute)
    await reconcile()
    const { razorpay_payment_id: second } = provider.pay(orderId, { evenIfPaid: true })
    on.clock.advance(hour)
    await reconcile()
    expect(single(provider.refunds(second)).amount).toBe(69_900)
    expect((await historyOf(buyer)).map(({ status }) => status)).toEqual(['refunded', 'refunded'])
  })

  test('notices a refund that failed at the bank days later without its event', async () => {
    const buyer = await signUp(on)
    const { razorpay_payment_id: id } = await buy(paying, buyer)
    provider.setRefunds('pending')
    await buyer.call('POST', '/payments/cancel-subscription', { refund: true })
    provider.setRefunds('processed')
    on.clock.advance(day)
    await reconcile()
    on.clock.advance(day)
    await reconcile()
    provider.failRefund(single(provider.refunds(id)).id)
    on.clock.advance(day)
    await reconcile()
    on.clock.advance(hour)
    await reconcile()
    expect(provider.payment(id).amount_refunded).toBe(69_900)
  })

  test('retries a refund that got no response and then failed at the bank', async () => {
    const buyer = await signUp(on)
    const { razorpay_payment_id: id } = await buy(paying, buyer)
    provider.setRefunds('pending')
    provider.fail({ path: /\/refund$/, mode: 'lost-answer' })
    await buyer.call('POST', '/payments/cancel-subscription', { refund: true })
    provider.setRefunds('processed')
    provider.failRefund(single(provider.refunds(id)).id)
    for (let hours = 0; hours < 25; hours += 1) {
      on.clock.advance(hour)
      await reconcile()
    }
    expect(provider.payment(id).amount_refunded).toBe(69_900)
    expect((await subscriptionOf(buyer)).plan).toBe('free')
  })

  test('checks an order unknown to the provider less and less often', async () => {
    const buyer = await signUp(on)
    const { orderId } = await placeOrder(buyer)
    await on.database.db
      .updateTable('payment_orders')
      .set({ provider_order_id: 'order_ofAnotherAccount' })
      .where('provider_order_id', '=', orderId)
      .execute()
    for (let checks = 0; checks < 100; checks += 1) {
      on.clock.advance(10 * minute)
      await reconcile()
    }
    const asked = provider.calls.filter(({ path }) => path.includes('order_ofAnotherAccount'))
    expect(asked.length).toBeGreaterThan(3)
    expect(asked.length).toBeLessThan(25)
  })
})

describe('disputes', () => {
  test('replaying a won dispute does not restore premium taken by a lost one', async () => {
    const buyer = await signUp(on)
    const { razorpay_payment_id: id } = await buy(paying, buyer)
    provider.closeDispute(provider.dispute(id).id, 'won')
    await provider.deliverAll()
    provider.closeDispute(provider.dispute(id).id, 'lost')
    await provider.deliverAll()
    expect((await subscriptionOf(buyer)).plan).toBe('free')
    const dispute = provider.events.filter(({ event }) => event.startsWith('payment.dispute'))
    for (const event of dispute.toReversed()) await provider.deliver(event)
    expect((await subscriptionOf(buyer)).plan).toBe('free')
    expect(single(await historyOf(buyer)).status).toBe('charged_back')
  })
})

describe('text that buyers control', () => {
  test.each([
    ['a NUL character', { note: 'a\u0000b' }],
    ['a __proto__ key', JSON.parse('{"__proto__":"x"}')],
    ['a constructor key', JSON.parse('{"constructor":{"prototype":{}}}')],
  ])('accepts an event whose notes contain %s', async (_name, notes) => {
    const buyer = await signUp(on)
    const { orderId } = await placeOrder(buyer)
    const { razorpay_payment_id: id } = provider.pay(orderId)
    const entity = { id, order_id: orderId }
    const body = JSON.stringify({ event: 'payment.captured', payload: { payment: { entity } } }).replace(
      '"order_id"',
      `"notes":${JSON.stringify(notes)},"order_id"`,
    )
    const [event] = provider.events
    if (!event) throw new Error('the provider sent no event')
    const { status } = await provider.deliver(event, { body, signature: provider.sign(body) })
    expect(status).toBe(200)
    expect((await subscriptionOf(buyer)).plan).toBe('premium')
  })

  test('stores a failure text that the database cannot hold as it is', async () => {
    const buyer = await signUp(on)
    const { orderId } = await placeOrder(buyer)
    provider.pay(orderId, { status: 'failed', failure: { description: 'No\u0000 \ud800' } })
    provider.pay(orderId)
    on.clock.advance(2 * minute)
    await reconcile()
    expect((await subscriptionOf(buyer)).plan).toBe('premium')
    const notes = (await historyOf(buyer)).map(({ note }) => note)
    expect(notes).toContainEqual(expect.stringMatching(/^No +\ufffd$/))
  })

  test.each([
    ['an unknown currency', { currency: 'rupees' }],
    ['an amount out of range', { amount: 2 ** 40 }],
  ])('a failed payment with %s affects neither the next payment nor the history', async (_name, invalid) => {
    const buyer = await signUp(on)
    const { orderId } = await placeOrder(buyer)
    provider.pay(orderId, { status: 'failed', ...invalid })
    await provider.deliverAll()
    expect((await buyer.call('GET', '/payments/history')).status).toBe(200)
    expect((await report(buyer, provider.pay(orderId))).status).toBe(200)
  })
})

test("an operator's grant overrides a refund that fails later", async () => {
  const buyer = await signUp(on)
  const { razorpay_payment_id: id } = await buy(paying, buyer)
  provider.setRefunds('pending')
  const { id: refundId } = provider.refund(id)
  provider.setRefunds('processed')
  await provider.deliverAll()
  await setPlan(on.database, on.clock, { email: buyer.email, plan: 'premium', days: 5 })
  provider.failRefund(refundId)
  await provider.deliverAll()
  expect((await subscriptionOf(buyer)).expiryDate).toBe(on.clock.inDays(5))
})

test('answers in time to an event that names no order', async () => {
  const own = await startPaying({}, { providerWaits: { callMs: 60_000, eventMs: 500 } })
  const buyer = await signUp(own.on)
  const { razorpay_payment_id: id } = await buy(own, buyer)
  const body = JSON.stringify({
    event: 'payment.dispute.lost',
    payload: { dispute: { entity: { id: 'disp_1', payment_id: id } } },
  })
  const silence = own.provider.fail({ method: 'GET', mode: 'hang', times: 20 })
  const [event] = own.provider.events
  if (!event) throw new Error('the provider sent no event')
  const { status } = await own.provider.deliver(event, { body, signature: own.provider.sign(body) })
  expect([status, silence.hits]).toEqual([502, 1])
  silence.release()
  await own.close()
})

test('a stopping server skips the remaining orders to check', async () => {
  const orders = 4
  const own = await startPaying()
  for (let placed = 0; placed < orders; placed += 1) await placeOrder(await signUp(own.on))
  own.on.clock.advance(5 * minute)
  const silence = own.provider.fail({ method: 'GET', mode: 'hang', times: 100 })
  const { config, database, seal, clock, dataDir } = own.on
  const node = await buildApp({
    ...{ config, database, seal, clock, consoleDir: join(dataDir, 'no-console'), logLevel: 'silent' },
    ...{ providerWaits: { callMs: 1000, eventMs: 1000 }, reconcileAfterMs: 0 },
  })
  await node.ready()
  await expect.poll(() => silence.hits).toBeGreaterThan(0)
  await node.close()
  expect(silence.hits).toBeLessThan(orders)
  await own.close()
})
