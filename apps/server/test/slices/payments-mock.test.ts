// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusal, signUp, wrongFields } from '../actors.ts'
import { startServer, type TestServer } from '../harness.ts'
import { activationsOf, historyOf, placeOrder, report, subscriptionOf } from '../payment-actor.ts'

let on: TestServer
beforeAll(async () => {
  on = await startServer()
})
afterAll(() => on.close())

const simulated = { razorpay_payment_id: 'pay_mock_1', razorpay_signature: 'signature_mock' }

test('a simulated order is marked as such, and any payment id and signature activate premium', async () => {
  const owner = await signUp(on)
  const order = await placeOrder(owner)
  expect(order).toEqual({
    orderId: expect.stringMatching(/^order_mock_\w+$/),
    amount: 69_900,
    currency: 'INR',
    priceFormatted: '₹699',
    keyId: 'rzp_mock',
    isDevelopmentMode: true,
    planDuration: 'monthly',
    listAmount: 69_900,
    couponCode: null,
    discount: 0,
    expiresAt: new Date(on.clock.now() + 15 * 60_000).toISOString(),
  })
  const { status, json } = await report(owner, { razorpay_order_id: order.orderId, ...simulated })
  expect(status).toBe(200)
  expect(json.message).toBe('Subscription activated successfully!')
  expect(json.data.subscription).toEqual({
    plan: 'premium',
    expiryDate: on.clock.inDays(30),
    subscriptionId: null,
    hasActiveSubscription: true,
    source: 'payment',
    appLimit: null,
    licenseLimitPerApp: null,
    orderId: order.orderId,
    paymentId: 'pay_mock_1',
    cancelledAt: null,
    endedAt: null,
    moneyBack: { amount: 69_900, currency: 'INR', priceFormatted: '₹699', until: on.clock.inDays(7) },
  })
  expect(await historyOf(owner)).toEqual([json.data.payment])
  expect(json.data.payment).toMatchObject({
    status: 'paid',
    orderId: order.orderId,
    paymentId: 'pay_mock_1',
    receipt: expect.stringMatching(/^KW-20260304-[0-9A-Z]{8}$/),
    planDuration: 'monthly',
    amount: 69_900,
    amountRefunded: 0,
    periodStart: on.clock.inDays(0),
    periodEnd: on.clock.inDays(30),
    isDevelopmentMode: true,
  })
})

test('accepts both documented payload shapes', async () => {
  const owner = await signUp(on)
  const order = await placeOrder(owner, { plan: 'premium', duration: 'yearly', couponCode: 'save25' })
  expect(order).toMatchObject({ planDuration: 'yearly', amount: 89_925, couponCode: 'SAVE25', discount: 25 })
  const { status } = await owner.call('POST', '/payments/razorpay/verify', {
    razorpayOrderId: order.orderId,
    razorpayPaymentId: 'pay_mock_2',
    razorpaySignature: 'anything',
    plan: 'premium',
    duration: 'yearly',
    couponCode: 'SAVE25',
  })
  expect(status).toBe(200)
  expect((await subscriptionOf(owner)).expiryDate).toBe(on.clock.inDays(365))
})

test('activates the plan of the order, not the plan in the verification', async () => {
  const owner = await signUp(on)
  const { orderId } = await placeOrder(owner, { planDuration: 'monthly' })
  const checkout = { ...simulated, razorpay_order_id: orderId, planDuration: 'yearly', couponCode: 'LAUNCH' }
  expect((await report(owner, checkout)).status).toBe(200)
  expect((await subscriptionOf(owner)).expiryDate).toBe(on.clock.inDays(30))
})

test('a second payment extends the first', async () => {
  const owner = await signUp(on)
  for (const paymentId of ['pay_mock_a', 'pay_mock_b']) {
    const { orderId } = await placeOrder(owner)
    const checkout = { ...simulated, razorpay_order_id: orderId, razorpay_payment_id: paymentId }
    expect((await report(owner, checkout)).status).toBe(200)
  }
  expect((await subscriptionOf(owner)).expiryDate).toBe(on.clock.inDays(60))
  expect(await activationsOf(on, owner)).toBe(2)
})

test('verification requires a payment id, a signature and an order of this owner', async () => {
  const [owner, other] = [await signUp(on), await signUp(on)]
  const { orderId } = await placeOrder(owner)
  expect(wrongFields(await report(owner, {}))).toEqual([
    'razorpay_order_id',
    'razorpay_payment_id',
    'razorpay_signature',
  ])
  expect(
    wrongFields(await report(owner, { razorpay_order_id: orderId, razorpay_payment_id: ' ' })),
  ).toContain('razorpay_payment_id')
  const foreign = await report(other, { razorpay_order_id: orderId, ...simulated })
  const missing = await report(other, { razorpay_order_id: 'order_mock_none', ...simulated })
  expect(refusal(foreign)).toBe('not_found')
  expect(foreign.raw.toString()).toBe(missing.raw.toString())
  expect((await subscriptionOf(other)).plan).toBe('free')
})

test.each([
  { planDuration: 'weekly' },
  { planDuration: 'monthly', duration: 'yearly' },
  { plan: 'gold', duration: 'monthly' },
  { planDuration: -1 },
  { couponCode: 7 },
  { amount: 1 },
  { couponCode: 'x'.repeat(41) },
])('rejects an order with %j', async (body) => {
  const owner = await signUp(on)
  expect(refusal(await owner.call('POST', '/payments/razorpay/create-order', body))).toBe('invalid_input')
})

test('canceling refunds a simulated payment and ends premium', async () => {
  const owner = await signUp(on)
  const { orderId } = await placeOrder(owner)
  await report(owner, { razorpay_order_id: orderId, ...simulated })
  const { json } = await owner.call('POST', '/payments/cancel-subscription', { refund: true })
  expect(json.data.refund).toEqual({ amount: 69_900, currency: 'INR', priceFormatted: '₹699', done: true })
  expect(json.message).toBe('Cancelled. ₹699 is being refunded.')
  expect(json.data.user.subscription).toMatchObject({
    plan: 'free',
    endedAt: on.clock.inDays(0),
    moneyBack: null,
  })
  expect(await historyOf(owner)).toMatchObject([{ status: 'refunded', amountRefunded: 69_900 }])
  expect(refusal(await report(owner, { razorpay_order_id: orderId, ...simulated }))).toBe('payment_returned')
  expect((await subscriptionOf(owner)).plan).toBe('free')
})

test('rejects every webhook while payments are simulated', async () => {
  const answer = await on.call('POST', '/payments/razorpay/webhook', { body: { event: 'payment.captured' } })
  expect(refusal(answer)).toBe('invalid_signature')
})

test('with payments off rejects orders and verification and still returns the history', async () => {
  const closed = await startServer({ PAYMENTS: 'off' })
  try {
    const owner = await signUp(closed)
    expect(refusal(await owner.call('POST', '/payments/razorpay/create-order', {}))).toBe('payments_off')
    const checkout = { razorpay_order_id: 'order_mock_1', ...simulated }
    expect(refusal(await report(owner, checkout))).toBe('payments_off')
    expect(await historyOf(owner)).toEqual([])
    const { json } = await owner.call('GET', '/payments/pricing')
    expect(json.data.checkout).toBe('off')
    expect((await closed.call('GET', '/config')).json.data.pricing).toBeNull()
  } finally {
    await closed.close()
  }
})
