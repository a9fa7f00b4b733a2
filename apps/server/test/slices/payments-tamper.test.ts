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

const expectNothing = async (who = owner) => {
  expect(await activationsOf(on, who)).toBe(0)
  expect((await subscriptionOf(who)).plan).toBe('free')
}

test('another owner’s order, paid or not, is as good as none', async () => {
  const thief = await signUp(on)
  const checkout = provider.pay((await placeOrder(owner)).orderId)
  const stolen = await report(thief, checkout)
  const missing = await report(thief, { ...checkout, razorpay_order_id: 'order_ZZZZZZZZZZZZZZ' })
  expect(refusal(stolen)).toBe('not_found')
  expect(stolen.raw.toString()).toBe(missing.raw.toString())
  await expectNothing(thief)
  expect(await historyOf(thief)).toEqual([])
})

test('a payment of another order does not pay this one, though it is signed for it', async () => {
  const cheap = provider.createOrder({ amount: 100, currency: 'INR' })
  const paid = provider.pay(cheap.id)
  const { orderId } = await placeOrder(owner, { planDuration: 'yearly' })
  const razorpay_signature = provider.checkoutSignature(orderId, paid.razorpay_payment_id)
  const told = await report(owner, { ...paid, razorpay_order_id: orderId, razorpay_signature })
  expect(refusal(told)).toBe('payment_not_verified')
  await expectNothing()
})

test.each([
  ['empty', () => ''],
  ['of another payment', () => provider.checkoutSignature('order_a', 'pay_b')],
  ['with a digit changed', (right: string) => right.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))],
  ['in capitals', (right: string) => right.toUpperCase()],
  ['cut short', (right: string) => right.slice(0, 32)],
  ['made longer', (right: string) => `${right}00`],
  ['of the webhook’s secret', (right: string) => provider.sign(right)],
])('a signature that is %s verifies nothing', async (_name, change) => {
  const checkout = provider.pay((await placeOrder(owner)).orderId, { status: 'authorized' })
  const razorpay_signature = change(checkout.razorpay_signature)
  const { status } = await report(owner, { ...checkout, razorpay_signature })
  expect(status).toBe(400)
  await expectNothing()
  expect(provider.payment(checkout.razorpay_payment_id).status).toBe('authorized')
})

test('a payment that the provider does not know is none, however well it is signed', async () => {
  const { orderId } = await placeOrder(owner)
  const razorpay_signature = provider.checkoutSignature(orderId, 'pay_doesnotexist0')
  const told = await report(owner, {
    razorpay_order_id: orderId,
    razorpay_payment_id: 'pay_doesnotexist0',
    razorpay_signature,
  })
  expect(refusal(told)).toBe('payment_not_verified')
  await expectNothing()
})

test.each([
  ['a smaller amount', { amount: 100 }],
  ['a larger amount', { amount: 699_000 }],
  ['another currency', { currency: 'USD' }],
])('a payment of %s starts nothing and is given back', async (_name, attempt) => {
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

test('an authorized payment of another amount is not even captured', async () => {
  const { orderId } = await placeOrder(owner)
  const checkout = provider.pay(orderId, { amount: 100, status: 'authorized' })
  expect(refusal(await report(owner, checkout))).toBe('payment_pending')
  expect(provider.payment(checkout.razorpay_payment_id).status).toBe('authorized')
  await expectNothing()
})

test('a replayed verification starts nothing more, not even after the money went back', async () => {
  const checkout = provider.pay((await placeOrder(owner)).orderId)
  for (let replay = 0; replay < 3; replay += 1) expect((await report(owner, checkout)).status).toBe(200)
  expect(await activationsOf(on, owner)).toBe(1)
  provider.refund(checkout.razorpay_payment_id)
  await provider.deliverAll()
  expect(refusal(await report(owner, checkout))).toBe('payment_returned')
  expect(await activationsOf(on, owner)).toBe(1)
  expect((await subscriptionOf(owner)).plan).toBe('free')
})

test('a replayed webhook starts nothing more, under whatever event id, not even after a refund', async () => {
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

test('a forged webhook is refused and changes nothing', async () => {
  const { orderId } = await placeOrder(owner)
  const checkout = provider.pay(orderId)
  const event = provider.events.find(({ body }) => body.includes(checkout.razorpay_payment_id))
  if (!event) throw new Error('there is no event')
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

test('a signed webhook that lies about a payment is not believed', async () => {
  const { orderId } = await placeOrder(owner)
  const { razorpay_payment_id: id } = provider.pay(orderId, { status: 'failed' })
  const entity = { id, order_id: orderId, status: 'captured', amount: 69_900, currency: 'INR' }
  const body = JSON.stringify({ event: 'payment.captured', payload: { payment: { entity } } })
  const [event] = provider.events
  if (!event) throw new Error('there is no event')
  expect((await provider.deliver(event, { body, signature: provider.sign(body) })).status).toBe(200)
  await expectNothing()
})

test.each([
  ['no payload', { event: 'payment.captured' }],
  ['a payload of another form', { event: 'payment.captured', payload: { payment: { entity: 7 } } }],
  ['an empty entity', { event: 'payment.captured', payload: { payment: { entity: {} } } }],
  [
    'an event that is not known',
    { event: 'invoice.paid', payload: { invoice: { entity: { id: 'inv_1' } } } },
  ],
  [
    'a path for an id',
    { event: 'x', payload: { payment: { entity: { id: '../orders', order_id: '../../etc' } } } },
  ],
])('a signed webhook with %s is passed over', async (_name, content) => {
  const body = JSON.stringify(content)
  const [event] = provider.events
  if (!event) throw new Error('there is no event')
  expect((await provider.deliver(event, { body, signature: provider.sign(body) })).status).toBe(200)
})

test.each([-1, 0.5, 1e21, 69_900, '1', null])('no amount can be sent along (%j)', async (amount) => {
  const answer = await owner.call('POST', '/payments/razorpay/create-order', { amount })
  expect(refusal(answer)).toBe('invalid_input')
  const { orderId } = await placeOrder(owner)
  expect(provider.order(orderId).amount).toBe(69_900)
  const told = await report(owner, provider.pay(orderId), { amount })
  expect(refusal(told)).toBe('invalid_input')
  await expectNothing()
})

test('an order in another currency or at another price is not this one', async () => {
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
