// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Owner, refusal, signUp } from '../actors.ts'
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
let on: PayingServer['on']
let provider: PayingServer['provider']
let owner: Owner
beforeAll(async () => {
  paying = await startPaying()
  ;({ on, provider } = paying)
})
afterAll(() => paying.close())
beforeEach(async () => {
  owner = await signUp(on)
})

const expectNothing = async (buyer = owner) => {
  expect(await activationsOf(on, buyer)).toBe(0)
  expect((await subscriptionOf(buyer)).plan).toBe('free')
}

test("treats another owner's order like a missing one, paid or not", async () => {
  const attacker = await signUp(on)
  const checkout = provider.pay((await placeOrder(owner)).orderId)
  const stolen = await report(attacker, checkout)
  const missing = await report(attacker, { ...checkout, razorpay_order_id: 'order_ZZZZZZZZZZZZZZ' })
  expect(refusal(stolen)).toBe('not_found')
  expect(stolen.raw.toString()).toBe(missing.raw.toString())
  await expectNothing(attacker)
  expect(await historyOf(attacker)).toEqual([])
})

test('rejects a payment of another order, even with a valid signature', async () => {
  const cheap = provider.createOrder({ amount: 100, currency: 'INR' })
  const paid = provider.pay(cheap.id)
  const { orderId } = await placeOrder(owner, { planDuration: 'yearly' })
  const razorpay_signature = provider.checkoutSignature(orderId, paid.razorpay_payment_id)
  const reported = await report(owner, { ...paid, razorpay_order_id: orderId, razorpay_signature })
  expect(refusal(reported)).toBe('payment_not_verified')
  await expectNothing()
})

test.each([
  ['empty', () => ''],
  ['from another payment', () => provider.checkoutSignature('order_a', 'pay_b')],
  ['with a digit changed', (right: string) => right.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))],
  ['in capitals', (right: string) => right.toUpperCase()],
  ['truncated', (right: string) => right.slice(0, 32)],
  ['extended', (right: string) => `${right}00`],
  ['made with the webhook secret', (right: string) => provider.sign(right)],
])('rejects a signature that is %s', async (_name, change) => {
  const checkout = provider.pay((await placeOrder(owner)).orderId, { status: 'authorized' })
  const razorpay_signature = change(checkout.razorpay_signature)
  const { status } = await report(owner, { ...checkout, razorpay_signature })
  expect(status).toBe(400)
  await expectNothing()
  expect(provider.payment(checkout.razorpay_payment_id).status).toBe('authorized')
})

test('rejects a payment unknown to the provider, even with a valid signature', async () => {
  const { orderId } = await placeOrder(owner)
  const razorpay_signature = provider.checkoutSignature(orderId, 'pay_doesnotexist0')
  const reported = await report(owner, {
    razorpay_order_id: orderId,
    razorpay_payment_id: 'pay_doesnotexist0',
    razorpay_signature,
  })
  expect(refusal(reported)).toBe('payment_not_verified')
  await expectNothing()
})

test.each([
  ['a smaller amount', { amount: 100 }],
  ['a larger amount', { amount: 699_000 }],
  ['another currency', { currency: 'USD' }],
])('refunds a payment of %s and activates nothing', async (_name, attempt) => {
  const checkout = provider.pay((await placeOrder(owner)).orderId, { ...attempt, status: 'captured' })
  expect(refusal(await report(owner, checkout))).toBe('payment_returned')
  await expectNothing()
  const { amount } = provider.payment(checkout.razorpay_payment_id)
  expect(provider.refunds(checkout.razorpay_payment_id)).toMatchObject([{ amount }])
  const [payment] = await historyOf(owner)
  expect(payment).toMatchObject({
    status: 'refunded',
    note: expect.stringContaining('does not match the order'),
  })
})

test('does not capture an authorized payment of another amount', async () => {
  const { orderId } = await placeOrder(owner)
  const checkout = provider.pay(orderId, { amount: 100, status: 'authorized' })
  expect(refusal(await report(owner, checkout))).toBe('payment_pending')
  expect(provider.payment(checkout.razorpay_payment_id).status).toBe('authorized')
  await expectNothing()
})

test('a replayed verification activates nothing more, even after a refund', async () => {
  const checkout = provider.pay((await placeOrder(owner)).orderId)
  for (let replay = 0; replay < 3; replay += 1) expect((await report(owner, checkout)).status).toBe(200)
  expect(await activationsOf(on, owner)).toBe(1)
  provider.refund(checkout.razorpay_payment_id)
  await provider.deliverAll()
  expect(refusal(await report(owner, checkout))).toBe('payment_returned')
  expect(await activationsOf(on, owner)).toBe(1)
  expect((await subscriptionOf(owner)).plan).toBe('free')
})

test('a replayed webhook activates nothing more under any event id, even after a refund', async () => {
  const checkout = provider.pay((await placeOrder(owner)).orderId)
  const events = [...provider.events].filter(({ body }) => body.includes(checkout.razorpay_payment_id))
  expect(events.length).toBeGreaterThan(1)
  for (const event of events) {
    for (const eventId of [event.eventId, 'anotherEventId', null]) {
      expect((await provider.deliver(event, { eventId })).status).toBe(200)
    }
  }
  expect(await activationsOf(on, owner)).toBe(1)
  expect((await subscriptionOf(owner)).expiryDate).toBe(on.clock.inDays(30))
  provider.refund(checkout.razorpay_payment_id)
  await provider.deliverAll()
  for (const event of events) await provider.deliver(event, { eventId: 'oneMore' })
  expect(await activationsOf(on, owner)).toBe(1)
  expect((await subscriptionOf(owner)).plan).toBe('free')
})

test('rejects a forged webhook and changes nothing', async () => {
  const { orderId } = await placeOrder(owner)
  const checkout = provider.pay(orderId)
  const event = provider.events.find(({ body }) => body.includes(checkout.razorpay_payment_id))
  if (!event) throw new Error('the provider sent no event')
  const forgeries = [
    { signature: null },
    { signature: '' },
    { signature: 'f'.repeat(64) },
    { signature: provider.checkoutSignature(orderId, checkout.razorpay_payment_id) },
    { body: event.body.replace('captured', 'Captured') },
    { body: event.body.replace(/"amount":\d+/, '"amount":1') },
  ]
  for (const forgery of forgeries) {
    const { status, body } = await provider.deliver(event, forgery)
    expect(status).toBe(400)
    expect(JSON.parse(body).code).toBe('invalid_signature')
  }
  await expectNothing()
})

test('ignores the payment state in a signed webhook and fetches it from the provider', async () => {
  const { orderId } = await placeOrder(owner)
  const { razorpay_payment_id: id } = provider.pay(orderId, { status: 'failed' })
  const entity = { id, order_id: orderId, status: 'captured', amount: 69_900, currency: 'INR' }
  const body = JSON.stringify({ event: 'payment.captured', payload: { payment: { entity } } })
  const [event] = provider.events
  if (!event) throw new Error('the provider sent no event')
  expect((await provider.deliver(event, { body, signature: provider.sign(body) })).status).toBe(200)
  await expectNothing()
})

test.each([
  ['no payload', { event: 'payment.captured' }],
  ['a malformed payload', { event: 'payment.captured', payload: { payment: { entity: 7 } } }],
  ['an empty entity', { event: 'payment.captured', payload: { payment: { entity: {} } } }],
  ['an unknown event', { event: 'invoice.paid', payload: { invoice: { entity: { id: 'inv_1' } } } }],
  [
    'a path for an id',
    { event: 'x', payload: { payment: { entity: { id: '../orders', order_id: '../../etc' } } } },
  ],
])('ignores a signed webhook with %s', async (_name, content) => {
  const body = JSON.stringify(content)
  const [event] = provider.events
  if (!event) throw new Error('the provider sent no event')
  expect((await provider.deliver(event, { body, signature: provider.sign(body) })).status).toBe(200)
})

test.each([-1, 0.5, 1e21, 69_900, '1', null])('rejects an amount in requests (%j)', async (amount) => {
  const answer = await owner.call('POST', '/payments/razorpay/create-order', { amount })
  expect(refusal(answer)).toBe('invalid_input')
  const { orderId } = await placeOrder(owner)
  expect(provider.order(orderId).amount).toBe(69_900)
  const reported = await report(owner, provider.pay(orderId), { amount })
  expect(refusal(reported)).toBe('invalid_input')
  await expectNothing()
})

test('rejects an order in another currency or at another price', async () => {
  const { orderId } = await placeOrder(owner)
  const dearer = await startPaying({ PRICE_MONTHLY: '999', CURRENCY: 'USD' })
  try {
    const buyer = await signUp(dearer.on)
    expect(refusal(await report(buyer, provider.pay(orderId)))).toBe('not_found')
    expect((await subscriptionOf(buyer)).plan).toBe('free')
  } finally {
    await dearer.close()
  }
})
