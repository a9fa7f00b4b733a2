import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { day, hour, minute } from '../../src/core/clock.ts'
import { setPlan } from '../../src/modules/plans/plans.service.ts'
import { onlyOne, refusal, signUp } from '../actors.ts'
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

describe('two who ask for the same order at once', () => {
  test('and of whom the second one is refused: the first one can pay for it', async () => {
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

  test('and of whom the first one is refused: none is offered that is not kept', async () => {
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

test('many reports and events of one payment at once are all answered', async () => {
  const buyer = await signUp(on)
  const checkout = provider.pay((await placeOrder(buyer)).orderId, { status: 'authorized' })
  const reports = Array.from({ length: 24 }, () => report(buyer, checkout))
  const told = provider.deliverAll({ concurrent: true, duplicates: 4 })
  expect(new Set((await Promise.all(reports)).map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set((await told).map(({ status }) => status))).toEqual(new Set([200]))
  expect(await activationsOf(on, buyer)).toBe(1)
})

describe('the reconciler', () => {
  test('gives back what it can of an order, though another refund is refused', async () => {
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

  test('takes one of two authorized payments of an order', async () => {
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

  test('does not forget news that came while it asked', async () => {
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

  test('finds a second payment on an order of which the first was given back before it counted', async () => {
    const buyer = await signUp(on)
    const { orderId } = await placeOrder(buyer)
    const { razorpay_payment_id: first } = provider.pay(orderId)
    provider.refund(first)
    on.clock.advance(2 * minute)
    await reconcile()
    const { razorpay_payment_id: second } = provider.pay(orderId, { evenIfPaid: true })
    on.clock.advance(hour)
    await reconcile()
    expect(onlyOne(provider.refunds(second)).amount).toBe(69_900)
    expect((await historyOf(buyer)).map(({ status }) => status)).toEqual(['refunded', 'refunded'])
  })

  test('sees that a refund failed at the bank days later, though the event was lost', async () => {
    const buyer = await signUp(on)
    const { razorpay_payment_id: id } = await buy(paying, buyer)
    provider.setRefunds('pending')
    await buyer.call('POST', '/payments/cancel-subscription', { refund: true })
    provider.setRefunds('processed')
    on.clock.advance(day)
    await reconcile()
    on.clock.advance(day)
    await reconcile()
    provider.failRefund(onlyOne(provider.refunds(id)).id)
    on.clock.advance(day)
    await reconcile()
    on.clock.advance(hour)
    await reconcile()
    expect(provider.payment(id).amount_refunded).toBe(69_900)
  })

  test('asks for a refund anew when one of which no answer came failed at the bank', async () => {
    const buyer = await signUp(on)
    const { razorpay_payment_id: id } = await buy(paying, buyer)
    provider.setRefunds('pending')
    provider.fail({ path: /\/refund$/, mode: 'lost-answer' })
    await buyer.call('POST', '/payments/cancel-subscription', { refund: true })
    provider.setRefunds('processed')
    provider.failRefund(onlyOne(provider.refunds(id)).id)
    for (let hours = 0; hours < 25; hours += 1) {
      on.clock.advance(hour)
      await reconcile()
    }
    expect(provider.payment(id).amount_refunded).toBe(69_900)
    expect((await subscriptionOf(buyer)).plan).toBe('free')
  })

  test('asks ever more seldom about an order that the provider does not know', async () => {
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
  test('of one payment: an old one that was won brings nothing back that another one took', async () => {
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
    expect(onlyOne(await historyOf(buyer)).status).toBe('charged_back')
  })
})

describe('what buyers can have written into the provider', () => {
  test.each([
    ['a NUL', { note: 'a\u0000b' }],
    ['a name of a prototype', JSON.parse('{"__proto__":"x"}')],
    ['a constructor', JSON.parse('{"constructor":{"prototype":{}}}')],
  ])('%s: an event is taken all the same', async (_name, notes) => {
    const buyer = await signUp(on)
    const { orderId } = await placeOrder(buyer)
    const { razorpay_payment_id: id } = provider.pay(orderId)
    const entity = { id, order_id: orderId }
    const body = JSON.stringify({ event: 'payment.captured', payload: { payment: { entity } } }).replace(
      '"order_id"',
      `"notes":${JSON.stringify(notes)},"order_id"`,
    )
    const [event] = provider.events
    if (!event) throw new Error('there is no event')
    const { status } = await provider.deliver(event, { body, signature: provider.sign(body) })
    expect(status).toBe(200)
    expect((await subscriptionOf(buyer)).plan).toBe('premium')
  })

  test('a text that a database cannot hold', async () => {
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
    ['a currency that is none', { currency: 'rupees' }],
    ['an amount beyond all bounds', { amount: 2 ** 40 }],
  ])('%s: others of the order count, and the history can be read', async (_name, odd) => {
    const buyer = await signUp(on)
    const { orderId } = await placeOrder(buyer)
    provider.pay(orderId, { status: 'failed', ...odd })
    await provider.deliverAll()
    expect((await buyer.call('GET', '/payments/history')).status).toBe(200)
    expect((await report(buyer, provider.pay(orderId))).status).toBe(200)
  })
})

test('what an operator sets stands, though a refund from before fails afterwards', async () => {
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

test('an event that does not name its order is answered in time too', async () => {
  const own = await startPaying({}, { providerWaits: { callMs: 60_000, eventMs: 500 } })
  const buyer = await signUp(own.on)
  const { razorpay_payment_id: id } = await buy(own, buyer)
  const body = JSON.stringify({
    event: 'payment.dispute.lost',
    payload: { dispute: { entity: { id: 'disp_1', payment_id: id } } },
  })
  const silence = own.provider.fail({ method: 'GET', mode: 'hang', times: 20 })
  const [event] = own.provider.events
  if (!event) throw new Error('there is no event')
  const { status } = await own.provider.deliver(event, { body, signature: own.provider.sign(body) })
  expect([status, silence.hits]).toEqual([502, 1])
  silence.release()
  await own.close()
})

test('a server that stops does not wait for all that there is to ask', async () => {
  const orders = 4
  const own = await startPaying({}, { providerWaits: { callMs: 1000, eventMs: 1000 } })
  for (let placed = 0; placed < orders; placed += 1) await placeOrder(await signUp(own.on))
  own.on.clock.advance(5 * minute)
  const silence = own.provider.fail({ method: 'GET', mode: 'hang', times: 100 })
  await expect.poll(() => silence.hits).toBe(1)
  await own.on.close()
  expect(silence.hits).toBeLessThan(orders)
  await own.provider.close()
})
