// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeApp, makePremium, type Owner, refusal, signUp, single } from '../actors.ts'
import type { TestServer } from '../harness.ts'
import { buy, historyOf, type PayingServer, startPaying, subscriptionOf } from '../payment-actor.ts'
import { makeReseller } from '../reseller-actor.ts'

let paying: PayingServer
let on: TestServer
let provider: PayingServer['provider']
beforeAll(async () => {
  paying = await startPaying()
  ;({ on, provider } = paying)
})
afterAll(() => paying.close())

describe('a refund or chargeback', () => {
  test('ends premium only when it covers the full amount', async () => {
    const buyer = await signUp(on)
    const { razorpay_payment_id: id } = await buy(paying, buyer)
    provider.refund(id, 10_000)
    await provider.deliverAll()
    expect((await subscriptionOf(buyer)).plan).toBe('premium')
    expect(single(await historyOf(buyer))).toMatchObject({
      status: 'partially_refunded',
      amountRefunded: 10_000,
      refundedFormatted: '₹100',
    })
    provider.refund(id)
    await provider.deliverAll()
    expect(await subscriptionOf(buyer)).toMatchObject({ plan: 'free', endedAt: on.clock.inDays(0) })
    expect(single(await historyOf(buyer)).status).toBe('refunded')
  })

  test('removes only the period of the refunded payment', async () => {
    const buyer = await signUp(on)
    const first = await buy(paying, buyer)
    await buy(paying, buyer, { planDuration: 'yearly' })
    on.clock.advance(10 * 86_400_000)
    provider.refund(first.razorpay_payment_id)
    await provider.deliverAll()
    expect((await subscriptionOf(buyer)).expiryDate).toBe(on.clock.inDays(365))
    const [yearly] = await historyOf(buyer)
    expect(yearly).toMatchObject({ periodStart: on.clock.inDays(0), periodEnd: on.clock.inDays(365) })
  })

  test('lost ends premium; won keeps or restores it', async () => {
    const buyer = await signUp(on)
    const { razorpay_payment_id: id } = await buy(paying, buyer)
    const kept = provider.dispute(id)
    await provider.deliverAll()
    expect((await subscriptionOf(buyer)).plan).toBe('premium')
    provider.closeDispute(kept.id, 'won')
    await provider.deliverAll({ again: true, order: 'reversed' })
    expect((await subscriptionOf(buyer)).plan).toBe('premium')
    provider.closeDispute(provider.dispute(id).id, 'lost')
    await provider.deliverAll()
    expect((await subscriptionOf(buyer)).plan).toBe('free')
    expect(single(await historyOf(buyer)).status).toBe('charged_back')
  })

  test('that fails at the bank restores premium', async () => {
    const buyer = await signUp(on)
    const { razorpay_payment_id: id } = await buy(paying, buyer)
    provider.setRefunds('pending')
    const { id: refundId } = provider.refund(id)
    provider.setRefunds('processed')
    await provider.deliverAll()
    expect((await subscriptionOf(buyer)).plan).toBe('free')
    on.clock.advance(86_400_000)
    provider.failRefund(refundId)
    await provider.deliverAll()
    expect(await subscriptionOf(buyer)).toMatchObject({ plan: 'premium', expiryDate: on.clock.inDays(30) })
  })
})

describe('canceling', () => {
  const cancel = (buyer: Owner, body: object = {}) =>
    buyer.call('POST', '/payments/cancel-subscription', body)

  test('keeps premium until its end, and a new payment reverses it', async () => {
    const buyer = await signUp(on)
    await buy(paying, buyer)
    const { status, json } = await cancel(buyer)
    expect(status).toBe(200)
    expect(json.message).toBe('Cancelled. Premium stays until its end.')
    expect(json.data.refund).toBeNull()
    expect(json.data.user.subscription).toMatchObject({
      plan: 'premium',
      expiryDate: on.clock.inDays(30),
      cancelledAt: on.clock.inDays(0),
    })
    expect((await cancel(buyer)).json.data.user.subscription.cancelledAt).toBe(on.clock.inDays(0))
    await buy(paying, buyer)
    expect((await subscriptionOf(buyer)).cancelledAt).toBeNull()
  })

  test('within seven days of the first payment refunds all payments', async () => {
    const buyer = await signUp(on)
    const monthly = await buy(paying, buyer)
    on.clock.advance(6 * 86_400_000)
    const yearly = await buy(paying, buyer, { planDuration: 'yearly' })
    expect((await subscriptionOf(buyer)).moneyBack).toEqual({
      amount: 189_800,
      currency: 'INR',
      priceFormatted: '₹1,898',
      until: on.clock.inDays(1),
    })
    const { json } = await cancel(buyer, { refund: true })
    expect(json.data.refund).toMatchObject({ amount: 189_800, done: true })
    expect(json.data.user.plan).toBe('free')
    for (const { razorpay_payment_id: id } of [monthly, yearly]) {
      expect(provider.payment(id)).toMatchObject({ status: 'refunded', refund_status: 'full' })
      expect(provider.refunds(id)).toHaveLength(1)
    }
    expect(refusal(await cancel(buyer))).toBe('conflict')
  })

  test('refunds nothing after seven days, and ends nothing that was granted', async () => {
    const buyer = await signUp(on)
    await buy(paying, buyer)
    on.clock.advance(7 * 86_400_000)
    expect((await subscriptionOf(buyer)).moneyBack).toBeNull()
    const answer = await cancel(buyer, { refund: true })
    expect(refusal(answer)).toBe('conflict')
    expect((await subscriptionOf(buyer)).cancelledAt).toBeNull()
    const granted = await signUp(on)
    await makePremium(on, granted)
    expect(refusal(await cancel(granted, { refund: true }))).toBe('conflict')
    expect(refusal(await cancel(granted))).toBe('conflict')
    expect(await subscriptionOf(granted)).toMatchObject({ source: 'grant', cancelledAt: null })
  })

  test('is rejected on the free plan', async () => {
    expect(refusal(await cancel(await signUp(on)))).toBe('conflict')
  })

  test('two concurrent cancellations refund once', async () => {
    const buyer = await signUp(on)
    const { razorpay_payment_id: id } = await buy(paying, buyer)
    await Promise.all([cancel(buyer, { refund: true }), cancel(buyer, { refund: true })])
    expect(provider.refunds(id)).toHaveLength(1)
    expect((await subscriptionOf(buyer)).plan).toBe('free')
  })
})

test('the end of premium deletes nothing and stops resellers from generating licenses', async () => {
  const buyer = await signUp(on)
  await buy(paying, buyer)
  const app = await makeApp(buyer)
  const reseller = await makeReseller(on, buyer, app)
  const generate = () => reseller.call('POST', '/licenses', { count: 1, expiresAt: on.clock.inDays(90) })
  on.clock.advance(29 * 86_400_000)
  expect((await generate()).status).toBe(201)
  expect((await subscriptionOf(buyer)).plan).toBe('premium')
  on.clock.advance(86_400_000)
  expect(refusal(await generate())).toBe('plan_limit_reached')
  const { json } = await buyer.call('GET', '/resellers')
  expect(json.data.resellers).toHaveLength(1)
  expect((await buyer.call('GET', '/licenses')).json.data.pagination.total).toBe(1)
})
