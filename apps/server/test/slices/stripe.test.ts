// On PostgreSQL in the full run: orders sends the same statements there.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { day, minute } from '../../src/core/clock.ts'
import { stripeShop } from '../../src/modules/shops/stripe.adapter.ts'
import { makeApp, makePremium, type Owner, signUp, wrongFields } from '../actors.ts'
import { startServer, type TestServer } from '../harness.ts'
import { allUsed, makeType, orderOnce, postShop } from '../shop-actor.ts'
import { stripeKey } from '../shop-host.ts'
import { sendStripe, startStripe, stripeSecret } from '../stripe-stand-in.ts'

let stripe: Awaited<ReturnType<typeof startStripe>>
let on: TestServer
let owner: Owner
let app: Awaited<ReturnType<typeof makeApp>>
beforeAll(async () => {
  stripe = await startStripe()
  on = await startServer({ SHOP_URL_STRIPE: stripe.url })
  owner = await signUp(on)
  await makePremium(on, owner)
  app = await makeApp(owner)
})
afterAll(async () => {
  await on.close()
  stripe.close()
})

async function makeStripe() {
  const [pro, plus] = [await makeType(owner, app._id, { graceDays: 7 }), await makeType(owner, app._id)]
  const products = [
    { product: 'price_pro', type: pro },
    { product: 'price_plus', type: plus },
  ]
  const body = { kind: 'stripe', name: 'Stripe', secret: stripeSecret, apiKey: stripeKey, products }
  const { shop } = (await postShop(owner, app._id, body)).json.data
  return { ...shop, pro, plus } as { _id: string; hook: string; pro: string; plus: string }
}
const seconds = (days: number) => Math.floor((on.clock.now() + days * day) / 1000)
const sessionOf = (more: object) => ({
  ...{ object: 'checkout.session', payment_status: 'paid', payment_intent: null, subscription: null },
  customer_details: { email: 'ada@example.com', name: 'Ada' },
  ...{ amount_total: 4900, currency: 'eur', livemode: true, ...more },
})
function putSession(id: string, session: object, price = 'price_pro', quantity = 1) {
  stripe.objects.set(`/v1/checkout/sessions/${id}`, { id, ...sessionOf(session) })
  const data = [{ id: 'li_1', object: 'item', quantity, price: { id: price, product: 'prod_1' } }]
  stripe.objects.set(`/v1/checkout/sessions/${id}/line_items?limit=100`, { object: 'list', data })
}
const licenseOf = async (order: { licenses: { _id: string }[] }) =>
  (await owner.call('GET', `/licenses/${order.licenses[0]?._id}`)).json.data.license

test('accepts signatures computed by another program, and none that is wrong or old', () => {
  const body = '{"id":"evt_1","type":"cart.opened","created":1772619750,"data":{"object":{"id":"cs_1"}}}'
  // By `hmac` of Python.
  const v1 = 'fbae4c0c2dc8424dff408d116d70d656b0ceee1203366a23823500bb28b5e423'
  const verify = (header: string, now = 1_772_619_750_000, text = body) =>
    stripeShop.verify(stripeSecret, {
      headers: { 'stripe-signature': header },
      body: Buffer.from(text),
      now,
    })
  expect(verify(`t=1772619750,v1=${v1}`)).toEqual({ id: 'evt_1', at: 1_772_619_750_000 })
  expect(verify(`t=1772619750,v1=${'0'.repeat(64)},v1=${v1}`)).toBeDefined()
  for (const wrong of ['', `v1=${v1}`, 't=1772619750', `t=1772619751,v1=${v1}`, `t=1772619750,v0=${v1}`])
    expect(verify(wrong)).toBeUndefined()
  expect(verify(`t=1772619750,v1=${v1}`, 1_772_619_750_000 + 6 * minute)).toBeUndefined()
  expect(verify(`t=1772619750,v1=${v1}`, 1_772_619_750_000, `${body} `)).toBeUndefined()
})

test('needs an API key', async () => {
  const body = { kind: 'stripe', name: 'Stripe', secret: stripeSecret }
  expect(wrongFields(await postShop(owner, app._id, body))).toEqual(['apiKey'])
})

test('a paid checkout creates licenses from what Stripe says, not from the event, and a refund bans them', async () => {
  const shop = await makeStripe()
  putSession('cs_1', { payment_intent: 'pi_1' }, 'price_pro', 2)
  const forged = { id: 'cs_1', payment_intent: 'pi_1', customer_details: { email: 'eve@example.com' } }
  await sendStripe(on, shop.hook, 'checkout.session.completed', forged)
  const order = await orderOnce(owner, 'pi_1', { state: 'fulfilled' })
  expect(order).toMatchObject({ email: 'ada@example.com', amount: 4900, currency: 'EUR', test: false })
  expect(order.licenses).toHaveLength(2)
  const charge = { id: 'ch_1', refunded: false, amount_refunded: 900, payment_intent: 'pi_1', invoice: null }
  stripe.objects.set('/v1/charges/ch_1?expand[]=invoice', charge)
  await sendStripe(on, shop.hook, 'charge.refunded', { id: 'ch_1', payment_intent: 'pi_1' })
  await orderOnce(owner, 'pi_1', { state: 'waiting' })
  stripe.objects.set('/v1/charges/ch_1?expand[]=invoice', {
    ...charge,
    refunded: true,
    amount_refunded: 4900,
  })
  await sendStripe(on, shop.hook, 'charge.refunded', { id: 'ch_1', payment_intent: 'pi_1' })
  await orderOnce(owner, 'pi_1', { state: 'refunded' })
  expect(await licenseOf(order)).toMatchObject({ banned: true })
})

test('a payment on its way creates nothing before it has arrived, and a test payment is marked', async () => {
  const shop = await makeStripe()
  putSession('cs_2', { payment_intent: 'pi_2', payment_status: 'unpaid', livemode: false })
  await sendStripe(on, shop.hook, 'checkout.session.completed', { id: 'cs_2', payment_intent: 'pi_2' })
  await allUsed(on, shop._id)
  expect((await owner.call('GET', '/orders?search=pi_2')).json.data.orders).toEqual([])
  putSession('cs_2', { payment_intent: 'pi_2', livemode: false })
  await sendStripe(on, shop.hook, 'checkout.session.async_payment_succeeded', { id: 'cs_2' })
  const order = await orderOnce(owner, 'pi_2', { state: 'fulfilled', test: true, customer: null })
  expect((await licenseOf(order)).test).toBe(true)
})

test('a subscription follows its invoices, its changes, its disputes and its end', async () => {
  const shop = await makeStripe()
  const put = (price: string, until: number) =>
    stripe.objects.set('/v1/subscriptions/sub_1', {
      ...{ id: 'sub_1', status: 'active' },
      current_period_end: until,
      items: { object: 'list', data: [{ price: { id: price } }] },
    })
  putSession('cs_3', { subscription: 'sub_1' })
  put('price_pro', seconds(30))
  stripe.objects.set('/v1/invoices/in_1', { id: 'in_1', subscription: 'sub_1' })
  // The invoice arrives first, and names its subscription as newer versions do.
  await sendStripe(on, shop.hook, 'invoice.paid', { id: 'in_1', parent: { type: 'subscription_details' } })
  await allUsed(on, shop._id)
  await sendStripe(on, shop.hook, 'checkout.session.completed', { id: 'cs_3', subscription: 'sub_1' })
  const order = await orderOnce(owner, 'sub_1', { state: 'fulfilled' })
  expect(await licenseOf(order)).toMatchObject({ expiresAt: iso(seconds(30)), type: { _id: shop.pro } })

  on.clock.advance(minute)
  put('price_plus', seconds(60))
  const changed = { id: 'sub_1' }
  await sendStripe(on, shop.hook, 'customer.subscription.updated', changed, { previous: { items: {} } })
  await allUsed(on, shop._id)
  expect(await licenseOf(order)).toMatchObject({ expiresAt: iso(seconds(60)), type: { _id: shop.plus } })

  stripe.objects.set('/v1/disputes/dp_1', { id: 'dp_1', status: 'needs_response', charge: 'ch_3' })
  stripe.objects.set('/v1/charges/ch_3?expand[]=invoice', {
    ...{ id: 'ch_3', refunded: false, amount_refunded: 0, payment_intent: 'pi_3' },
    invoice: { id: 'in_1', subscription: 'sub_1' },
  })
  await sendStripe(on, shop.hook, 'charge.dispute.created', { id: 'dp_1', payment_intent: 'pi_3' })
  await orderOnce(owner, 'sub_1', { state: 'disputed' })
  on.clock.advance(minute)
  stripe.objects.set('/v1/disputes/dp_1', { id: 'dp_1', status: 'won', charge: 'ch_3' })
  await sendStripe(on, shop.hook, 'charge.dispute.closed', { id: 'dp_1', payment_intent: 'pi_3' })
  await orderOnce(owner, 'sub_1', { state: 'fulfilled' })

  on.clock.advance(minute)
  await sendStripe(on, shop.hook, 'invoice.payment_failed', { id: 'in_1' })
  await allUsed(on, shop._id)
  expect(await licenseOf(order)).toMatchObject({ expiresAt: iso(seconds(0)) })
  await sendStripe(on, shop.hook, 'customer.subscription.deleted', { id: 'sub_1' })
  await allUsed(on, shop._id)
  expect(await licenseOf(order)).toMatchObject({ banned: false })
})

const priced = (price: string) => ({ object: 'list', data: [{ id: 'si_1', price: { id: price } }] })
const iso = (at: number) => new Date(at * 1000).toISOString()

/** A subscription to `price_pro`, paid for 30 days, and its license. */
async function subscribe(number: string, session: object = {}) {
  const shop = await makeStripe()
  const put = (more: object) =>
    stripe.objects.set(`/v1/subscriptions/${number}`, {
      ...{ id: number, status: 'active', current_period_end: seconds(30), items: priced('price_pro') },
      ...more,
    })
  const putInvoice = (id: string, end?: number) => {
    const lines = [{ type: 'subscription', period: { start: seconds(0), end } }]
    stripe.objects.set(`/v1/invoices/${id}`, {
      id,
      subscription: number,
      ...(end && { lines: { data: lines } }),
    })
  }
  put({})
  putSession(`cs_${number}`, { subscription: number, mode: 'subscription', ...session })
  putInvoice(`in_${number}`)
  await sendStripe(on, shop.hook, 'checkout.session.completed', { id: `cs_${number}`, subscription: number })
  await sendStripe(on, shop.hook, 'invoice.paid', { id: `in_${number}`, subscription: number })
  await allUsed(on, shop._id)
  const order = await orderOnce(owner, number, { state: 'fulfilled' })
  const end = seconds(30)
  expect(await licenseOf(order)).toMatchObject({ expiresAt: iso(end) })
  const updated = (previous: object, object = {}) =>
    sendStripe(on, shop.hook, 'customer.subscription.updated', { id: number, ...object }, { previous })
  return { shop, order, end, put, putInvoice, updated }
}

test('a period that begins extends licenses once its invoice is paid', async () => {
  const { shop, order, end, put, putInvoice, updated } = await subscribe('sub_6')
  on.clock.advance(minute)
  const next = seconds(60)
  put({ current_period_end: next })
  // Newer versions of Stripe's events have the period in the items.
  const items = priced('price_pro')
  await updated({ items, latest_invoice: 'in_sub_6' }, { items })
  await allUsed(on, shop._id)
  expect(await licenseOf(order)).toMatchObject({ expiresAt: iso(end) })
  putInvoice('in_next', next)
  // Read late, when the period after it has begun, which nobody has paid.
  put({ status: 'past_due', current_period_end: seconds(90) })
  await sendStripe(on, shop.hook, 'invoice.paid', { id: 'in_next', subscription: 'sub_6' })
  await allUsed(on, shop._id)
  expect(await licenseOf(order)).toMatchObject({ expiresAt: iso(next), type: { _id: shop.pro } })
})

test('a change of the price while a payment is due changes the license type and not the end', async () => {
  const { shop, order, end, put, updated } = await subscribe('sub_7')
  on.clock.advance(minute)
  put({ status: 'past_due', current_period_end: seconds(60), items: priced('price_plus') })
  await updated({ items: priced('price_pro') }, { items: priced('price_plus') })
  await allUsed(on, shop._id)
  expect(await licenseOf(order)).toMatchObject({ expiresAt: iso(end), type: { _id: shop.plus } })
})

test('a part of a renewal after a free trial that is refunded waits for the owner, and bans nothing', async () => {
  const trial = { amount_total: 0, payment_status: 'no_payment_required' }
  const { shop, order } = await subscribe('sub_8', trial)
  const charge = {
    id: 'ch_8',
    amount_refunded: 500,
    refunded: false,
    currency: 'eur',
    payment_intent: 'pi_8',
  }
  stripe.objects.set('/v1/charges/ch_8?expand[]=invoice', {
    ...charge,
    invoice: { id: 'in_8', subscription: 'sub_8' },
  })
  await sendStripe(on, shop.hook, 'charge.refunded', { id: 'ch_8', payment_intent: 'pi_8' })
  await orderOnce(owner, 'sub_8', { state: 'waiting' })
  expect(await licenseOf(order)).toMatchObject({ banned: false })
})

test('a session that only stores a card is no order, and one without a product waits with the reason', async () => {
  const shop = await makeStripe()
  putSession('cs_9', { mode: 'setup', payment_status: 'no_payment_required', amount_total: null })
  await sendStripe(on, shop.hook, 'checkout.session.completed', { id: 'cs_9' })
  putSession('cs_10', { mode: 'payment', payment_intent: 'pi_10' })
  const data = [{ id: 'li_1', object: 'item', quantity: 1, price: null }]
  stripe.objects.set('/v1/checkout/sessions/cs_10/line_items?limit=100', { object: 'list', data })
  await sendStripe(on, shop.hook, 'checkout.session.completed', { id: 'cs_10', payment_intent: 'pi_10' })
  await allUsed(on, shop._id)
  expect((await owner.call('GET', '/orders?search=cs_9')).json.data.orders).toEqual([])
  const reason = 'The shop names no product of this order'
  await orderOnce(owner, 'pi_10', { state: 'waiting', reason, licenses: [] })
})

test('amounts are in the smallest unit of their currency, where Stripe counts in another one', async () => {
  const shop = await makeStripe()
  const rows = [
    ['jpy', 500, 500],
    ['isk', 50_000, 500],
    ['ugx', 50_000, 500],
    ['mga', 500, 50_000],
    ['kwd', 5000, 5000],
  ] as const
  for (const [currency, amount_total, amount] of rows) {
    putSession(`cs_${currency}`, { payment_intent: `pi_${currency}`, amount_total, currency })
    await sendStripe(on, shop.hook, 'checkout.session.completed', { id: `cs_${currency}` })
    await allUsed(on, shop._id)
    const order = await orderOnce(owner, `pi_${currency}`, { state: 'fulfilled' })
    expect([order.currency, order.amount]).toEqual([currency.toUpperCase(), amount])
  }
})

test('an order that cannot be read waits with the reason, and is picked up on request', async () => {
  const shop = await makeStripe()
  stripe.isDown = true
  await sendStripe(on, shop.hook, 'checkout.session.completed', { id: 'cs_4', payment_intent: 'pi_4' })
  const reason = 'The order could not be read from the shop. It answered with the status 503.'
  const order = await orderOnce(owner, 'pi_4', { state: 'waiting', reason, email: null })
  stripe.isDown = false
  putSession('cs_4', { payment_intent: 'pi_4' })
  await owner.call('POST', `/orders/${order._id}/retry`)
  await orderOnce(owner, 'pi_4', { state: 'fulfilled', email: 'ada@example.com' })
})

test('an order that an event only seemed to be about does not stay', async () => {
  const shop = await makeStripe()
  stripe.isDown = true
  await sendStripe(on, shop.hook, 'charge.refunded', { id: 'ch_5', payment_intent: 'pi_5' })
  const guessed = await orderOnce(owner, 'pi_5', { state: 'waiting' })
  stripe.isDown = false
  stripe.objects.set('/v1/charges/ch_5?expand[]=invoice', {
    ...{ id: 'ch_5', refunded: true, amount_refunded: 4900, payment_intent: 'pi_5' },
    invoice: { id: 'in_5', subscription: 'sub_5' },
  })
  await owner.call('POST', `/orders/${guessed._id}/retry`)
  await orderOnce(owner, 'sub_5', { state: 'waiting', reason: 'The order itself has not arrived yet' })
  expect((await owner.call('GET', '/orders?search=pi_5')).json.data.orders).toEqual([])
})

test('neither stores nor shows nor records the API key', async () => {
  const shop = await makeStripe()
  await owner.call('PUT', `/shops/${shop._id}`, { apiKey: 'rk_live_another_key' })
  const { db } = on.database
  const stored = JSON.stringify([
    await db.selectFrom('shops').selectAll().execute(),
    await db.selectFrom('audit').selectAll().execute(),
    (await owner.call('GET', `/apps/${app._id}/shops`)).json.data.shops,
  ])
  for (const hidden of [stripeKey, 'rk_live_another_key', stripeSecret]) expect(stored).not.toContain(hidden)
})
