// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Owner, refusal, signUp, single } from '../actors.ts'
import type { TestServer } from '../harness.ts'
import {
  activationsOf,
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
let owner: Owner
beforeAll(async () => {
  paying = await startPaying()
  ;({ on, provider } = paying)
  owner = await signUp(on)
})
afterAll(() => paying.close())

const expectFree = async (buyer: Owner) => {
  expect((await subscriptionOf(buyer)).plan).toBe('free')
  expect(await activationsOf(on, buyer)).toBe(0)
}

describe('an order', () => {
  test('is created at the provider for the stored amount, with a receipt within the length limit', async () => {
    const order = await placeOrder(owner, { planDuration: 'yearly', couponCode: 'welcome' })
    expect(order).toMatchObject({
      amount: 101_915,
      listAmount: 119_900,
      discount: 15,
      keyId: 'rzp_test_keyward',
      isDevelopmentMode: false,
    })
    const made = provider.order(order.orderId)
    expect(made).toMatchObject({ amount: 101_915, currency: 'INR', status: 'created' })
    expect(made.receipt?.length).toBeLessThanOrEqual(40)
  })

  test('that is open is reused, one per plan and coupon', async () => {
    const buyer = await signUp(on)
    const first = await placeOrder(buyer)
    expect(await placeOrder(buyer, { planDuration: 'monthly' })).toEqual(first)
    const others = [
      await placeOrder(buyer, { planDuration: 'yearly' }),
      await placeOrder(buyer, { couponCode: 'SAVE10' }),
    ]
    expect(new Set([first, ...others].map(({ orderId }) => orderId)).size).toBe(3)
    on.clock.advance(15 * 60_000)
    expect((await placeOrder(buyer)).orderId).not.toBe(first.orderId)
  })

  test('is created once for concurrent requests', async () => {
    const buyer = await signUp(on)
    const orders = await Promise.all(Array.from({ length: 8 }, () => placeOrder(buyer)))
    expect(new Set(orders.map(({ orderId }) => orderId)).size).toBe(1)
  })

  test('whose creation got no response is found by its receipt', async () => {
    const buyer = await signUp(on)
    provider.fail({ method: 'POST', path: /\/orders$/, mode: 'lost-answer' })
    const lost = await buyer.call('POST', '/payments/razorpay/create-order', {})
    expect(refusal(lost)).toBe('payment_provider_unavailable')
    const before = provider.orders().length
    const { orderId } = await placeOrder(buyer)
    expect(provider.orders().length).toBe(before)
    expect(provider.order(orderId).amount).toBe(69_900)
  })

  test('rejected by the provider can be retried', async () => {
    const buyer = await signUp(on)
    provider.fail({ method: 'POST', path: /\/orders$/, mode: 'status', status: 400 })
    const refused = await buyer.call('POST', '/payments/razorpay/create-order', {})
    expect(refusal(refused)).toBe('payment_provider_unavailable')
    expect(refused.raw.toString()).not.toContain('Request failed')
    expect((await placeOrder(buyer)).orderId).toMatch(/^order_/)
  })
})

describe('a payment', () => {
  test('that is captured activates premium once, however often it is reported', async () => {
    const buyer = await signUp(on)
    const { orderId } = await placeOrder(buyer)
    await expectFree(buyer)
    const checkout = provider.pay(orderId, { method: 'upi' })
    const answers = await Promise.all(Array.from({ length: 5 }, () => report(buyer, checkout)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect((await report(buyer, checkout)).status).toBe(200)
    expect(await activationsOf(on, buyer)).toBe(1)
    expect(await subscriptionOf(buyer)).toMatchObject({
      expiryDate: on.clock.inDays(30),
      orderId,
      paymentId: checkout.razorpay_payment_id,
    })
    expect(single(await historyOf(buyer))).toMatchObject({ status: 'paid', method: 'upi' })
  })

  test('that is only authorized gets captured', async () => {
    const buyer = await signUp(on)
    const checkout = provider.pay((await placeOrder(buyer)).orderId, { status: 'authorized' })
    expect((await report(buyer, checkout)).status).toBe(200)
    expect(provider.payment(checkout.razorpay_payment_id).status).toBe('captured')
    expect((await subscriptionOf(buyer)).plan).toBe('premium')
  })

  test('that cannot be captured yet activates premium once it can', async () => {
    const buyer = await signUp(on)
    const checkout = provider.pay((await placeOrder(buyer)).orderId, { status: 'authorized' })
    provider.fail({ path: /\/capture$/, mode: 'status', status: 502 })
    expect(refusal(await report(buyer, checkout))).toBe('payment_provider_unavailable')
    await expectFree(buyer)
    await provider.deliverAll()
    expect((await subscriptionOf(buyer)).plan).toBe('premium')
  })

  test('that failed activates nothing; the same order can still be paid', async () => {
    const buyer = await signUp(on)
    const { orderId } = await placeOrder(buyer)
    const failed = provider.pay(orderId, { status: 'failed' })
    await provider.deliverAll()
    const forged = provider.checkoutSignature(orderId, failed.razorpay_payment_id)
    expect(refusal(await report(buyer, { ...failed, razorpay_signature: forged }))).toBe(
      'payment_not_verified',
    )
    await expectFree(buyer)
    expect(single(await historyOf(buyer))).toMatchObject({ status: 'failed', note: expect.any(String) })
    expect((await placeOrder(buyer)).orderId).toBe(orderId)
    expect((await report(buyer, provider.pay(orderId))).status).toBe(200)
    expect((await historyOf(buyer)).map(({ status }) => status)).toEqual(['paid', 'failed'])
  })

  test('that succeeds after failing activates premium', async () => {
    const buyer = await signUp(on)
    const failed = provider.pay((await placeOrder(buyer)).orderId, { status: 'failed' })
    await provider.deliverAll()
    provider.authorizeLater(failed.razorpay_payment_id, { status: 'authorized' })
    await provider.deliverAll({ order: 'reversed' })
    expect((await subscriptionOf(buyer)).plan).toBe('premium')
    expect(single(await historyOf(buyer)).status).toBe('paid')
  })

  test('on an expired order still counts', async () => {
    const buyer = await signUp(on)
    const { orderId } = await placeOrder(buyer)
    on.clock.advance(60 * 60_000)
    await placeOrder(buyer)
    expect((await report(buyer, provider.pay(orderId))).status).toBe(200)
  })

  test('in addition to another one on the same order is refunded and reported as returned', async () => {
    const buyer = await signUp(on)
    const { orderId } = await placeOrder(buyer)
    const late = provider.pay(orderId, { status: 'failed' })
    expect((await report(buyer, provider.pay(orderId))).status).toBe(200)
    const second = provider.authorizeLater(late.razorpay_payment_id)
    const reported = await report(buyer, second)
    expect(refusal(reported)).toBe('payment_returned')
    expect(single(provider.refunds(second.razorpay_payment_id)).amount).toBe(69_900)
    expect(await activationsOf(on, buyer)).toBe(1)
    expect((await historyOf(buyer)).map(({ status }) => status).sort()).toEqual(['paid', 'refunded'])
    expect((await report(buyer, second)).json.code).toBe('payment_returned')
    expect(provider.refunds(second.razorpay_payment_id)).toHaveLength(1)
  })

  test('is settled later if the provider cannot be reached', async () => {
    const buyer = await signUp(on)
    const checkout = provider.pay((await placeOrder(buyer)).orderId)
    provider.fail({ method: 'GET', path: /\/payments\//, mode: 'reset' })
    const answer = await report(buyer, checkout)
    expect(refusal(answer)).toBe('payment_provider_unavailable')
    expect(answer.json.message).toContain('Premium starts automatically')
    await expectFree(buyer)
    expect((await report(buyer, checkout)).status).toBe(200)
  })
})
