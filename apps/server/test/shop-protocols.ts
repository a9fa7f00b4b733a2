import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import type { ShopKind } from '@keyward/contract'
import { newShopSecret, type SoldEvent, signedRequest } from './shop-events.ts'
import { type ShopHost, startShopHost, stripeKey } from './shop-host.ts'

/** What an event is in the protocol of a shop: the body, and what its host answers from then on. */
interface Said {
  id: string
  body: string
}

/** Tells what happened to an order as one kind of shop does. Numbers of subscriptions begin with `sub`. */
export interface Protocol {
  newSecret: () => string
  apiKey?: string
  /** Whether the shop reports that a subscription will end at the end of its paid period. */
  cancels: boolean
  /** Whether it tells of disputes: not at all, of one for each order, or of any number. */
  disputes: 0 | 1 | 2
  say: (event: Told, host: ShopHost) => Said
  sign: (said: Said, secret: string, at: Date) => Record<string, string>
}

export interface Told extends SoldEvent {
  id: string
  timestamp: string
}

interface Data {
  order: string
  /** The reference of the link through which the buyer came, as the shop returns it. */
  reference?: string
  email?: string
  amount?: number
  lines?: { product: string; quantity: number }[]
  until?: string
  product?: string
  /** The payment that is renewed or refunded; without it the first one. */
  payment?: string
}

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex')
const secondsOf = (at: Date) => Math.floor(at.getTime() / 1000)
const isSubscription = (order: string) => order.startsWith('sub')
/** What every order of these tests costs, in cents. */
const price = 1000
const objectOf = <T>(host: ShopHost, path: string, make: () => T): T => {
  const found = host.objects.get(path) ?? (make() as object)
  host.objects.set(path, found)
  return found as T
}

const custom: Protocol = {
  newSecret: newShopSecret,
  cancels: false,
  disputes: 2,
  say: ({ id, type, timestamp, data }) => ({ id, body: JSON.stringify({ type, timestamp, data }) }),
  sign: ({ id, body }, secret, at) =>
    signedRequest(secret, { id, ...(JSON.parse(body) as SoldEvent) }, at).headers,
}

const stripe: Protocol = {
  newSecret: () => `whsec_${randomBytes(16).toString('hex')}`,
  apiKey: stripeKey,
  cancels: true,
  disputes: 2,
  say({ id, type, timestamp, data }, host) {
    const { order, email, lines = [], amount, until = '', product, payment, reference } = data as Data
    const paid = payment ?? order
    const put = (path: string, object: object) => void host.objects.set(path, object)
    const owned = isSubscription(order) ? { subscription: order } : { payment_intent: order }
    const bill = {
      subscription: order,
      ...(payment && { id: `in_${payment}`, billing_reason: 'subscription_cycle' }),
    }
    const charge = objectOf(host, `/v1/charges/ch_${paid}?expand[]=invoice`, () => ({
      refunded: false,
      amount_refunded: 0,
      payment_intent: `pi_${order}`,
      ...(isSubscription(order) ? { invoice: bill } : { ...owned, invoice: null }),
    }))
    const about = (type: string, object: object, more = {}) => ({ type, data: { object, ...more } })
    const subscription = objectOf(host, `/v1/subscriptions/${order}`, () => ({
      status: 'active',
      current_period_end: 0,
      items: { data: [{ price: { id: 'pro' } }] },
    }))
    if (until) subscription.current_period_end = Date.parse(until) / 1000
    if (product) subscription.items.data = [{ price: { id: product } }]
    put(`/v1/invoices/in_${paid}`, bill)
    const tellings: Record<string, () => object> = {
      'order.paid': () => {
        const customer_details = { email, name: null }
        const money = { amount_total: price, currency: 'usd', livemode: true, payment_status: 'paid' }
        put(`/v1/checkout/sessions/cs_${order}`, {
          ...{ ...money, customer_details, ...owned },
          client_reference_id: reference ?? null,
        })
        put(`/v1/checkout/sessions/cs_${order}/line_items?limit=100`, {
          data: lines.map(({ product, quantity }) => ({ quantity, price: { id: product } })),
        })
        return about('checkout.session.completed', { id: `cs_${order}` })
      },
      'order.refunded': () => {
        charge.amount_refunded += amount ?? price
        charge.refunded = charge.amount_refunded >= price
        return about('charge.refunded', { id: `ch_${paid}` })
      },
      'order.disputed': () => {
        put(`/v1/disputes/dp_${id}`, { status: 'needs_response', charge: `ch_${order}` })
        return about('charge.dispute.created', { id: `dp_${id}` })
      },
      'order.dispute_won': () => {
        put(`/v1/disputes/dp_${id}`, { status: 'won', charge: `ch_${order}` })
        return about('charge.dispute.closed', { id: `dp_${id}` })
      },
      'subscription.renewed': () => about('invoice.paid', { id: `in_${paid}` }),
      'subscription.changed': () =>
        about('customer.subscription.updated', { id: order }, { previous_attributes: { items: {} } }),
      'subscription.payment_failed': () => about('invoice.payment_failed', { id: `in_${order}` }),
      'subscription.canceled': () => {
        Object.assign(subscription, { cancel_at_period_end: true })
        const previous_attributes = { cancel_at_period_end: false }
        return about('customer.subscription.updated', { id: order }, { previous_attributes })
      },
      'subscription.ended': () => about('customer.subscription.deleted', { id: order }),
    }
    const told = tellings[type]?.()
    return { id, body: JSON.stringify({ id, created: secondsOf(new Date(timestamp)), ...told }) }
  },
  sign: ({ body }, secret, at) => ({
    'stripe-signature': `t=${secondsOf(at)},v1=${hmac(secret, `${secondsOf(at)}.${body}`)}`,
  }),
}

export const paddleKey = 'pdl_live_apikey_01OrdersOfTheStandIn'

const paddle: Protocol = {
  newSecret: () => `pdl_ntfset_${randomBytes(16).toString('hex')}`,
  apiKey: paddleKey,
  cancels: true,
  disputes: 2,
  say({ id, type, timestamp, data }, host) {
    const { order, email, lines = [], amount, until, product, payment, reference } = data as Data
    const period = until ? { starts_at: timestamp, ends_at: until } : null
    const transaction = (txn: string, origin: string) =>
      objectOf(host, `/transactions/${txn}?include=customer,adjustments`, () => ({
        data: {
          id: txn,
          status: 'completed',
          origin,
          subscription_id: isSubscription(order) ? order : null,
          customer_id: 'ctm_1',
          customer: { id: 'ctm_1', email: email ?? 'ada@example.com', name: null },
          currency_code: 'USD',
          billing_period: period,
          custom_data: reference === undefined ? null : { reference },
          items: lines.map(({ product, quantity }) => ({ price: { id: product }, quantity })),
          details: { totals: { grand_total: String(price) } },
          adjustments: [] as object[],
        },
      })).data
    const first = isSubscription(order) ? `txn_${order}` : order
    const adjust = (action: string) => {
      const adjusted = payment ? `txn_${payment}` : first
      const of = { transaction_id: adjusted, subscription_id: isSubscription(order) ? order : null }
      const totals = { total: String(amount ?? price) }
      const adjustment = { id: `adj_${id}`, action, type: 'partial', status: 'approved', totals }
      transaction(adjusted, 'web').adjustments.push(adjustment)
      return { event_type: 'adjustment.created', data: { ...adjustment, ...of } }
    }
    const subscription = objectOf(host, `/subscriptions/${order}`, () => ({
      data: { status: 'active', current_billing_period: period, items: [{ price: { id: 'pro' } }] },
    })).data
    if (period) subscription.current_billing_period = period
    if (product) subscription.items = [{ price: { id: product } }]
    const about = (name: string, status: string) => {
      subscription.status = status
      return { event_type: name, data: { id: order, status } }
    }
    const tellings: Record<string, () => object> = {
      'order.paid': () => ({
        event_type: 'transaction.completed',
        data: { id: transaction(first, 'web').id },
      }),
      'order.refunded': () => adjust('refund'),
      'order.disputed': () => adjust('chargeback'),
      'order.dispute_won': () => adjust('chargeback_reverse'),
      'subscription.renewed': () => {
        subscription.status = 'active'
        const renewal = transaction(`txn_${payment ?? id}`, 'subscription_recurring')
        return { event_type: 'transaction.completed', data: { id: renewal.id, subscription_id: order } }
      },
      'subscription.changed': () => about('subscription.updated', 'active'),
      'subscription.payment_failed': () => about('subscription.past_due', 'past_due'),
      'subscription.canceled': () => {
        Object.assign(subscription, { scheduled_change: { action: 'cancel' } })
        return about('subscription.updated', 'active')
      },
      'subscription.ended': () => about('subscription.canceled', 'canceled'),
    }
    return { id, body: JSON.stringify({ event_id: id, occurred_at: timestamp, ...tellings[type]?.() }) }
  },
  sign: ({ body }, secret, at) => ({
    'paddle-signature': `ts=${secondsOf(at)};h1=${hmac(secret, `${secondsOf(at)}:${body}`)}`,
  }),
}

export const lemonSqueezyKey = 'eyJ0eXAiOiJKV1QifQ.of.the.stand-in'

const lemonsqueezy: Protocol = {
  newSecret: () => randomBytes(16).toString('hex'),
  apiKey: lemonSqueezyKey,
  cancels: true,
  disputes: 0,
  say({ id, type, timestamp, data }, host) {
    const { order, email, lines, amount, until, product, payment, reference } = data as Data
    const order_id = order
    const state = objectOf(host, `order ${order}`, () => ({
      ...{ variant_id: 'pro', refunded_amount: 0, end: timestamp },
      begins: {} as Record<string, string>,
    }))
    if (product) state.variant_id = product
    const [line] = lines ?? []
    const about = (event_name: string, attributes: object) => ({
      meta: { event_name, webhook_id: id, ...(reference !== undefined && { custom_data: { reference } }) },
      data: { id: order, attributes: { created_at: timestamp, updated_at: timestamp, ...attributes } },
    })
    const shown = (attributes: object) => ({
      ...{ status: 'paid', user_email: email, total: price, currency: 'USD', ...attributes },
      first_order_item: { variant_id: line?.product ?? state.variant_id, quantity: line?.quantity ?? 1 },
    })
    const subscription = (status: string, ends_at?: string) =>
      about('subscription_updated', {
        ...{ order_id, status, variant_id: state.variant_id, renews_at: until, ends_at },
      })
    const tellings: Record<string, () => object> = {
      'order.paid': () => about('order_created', shown({ refunded_amount: 0 })),
      'order.refunded': () => {
        if (payment) {
          host.objects.set(`/v1/subscriptions/of%20${order}`, { data: { attributes: { order_id } } })
          const money = { total: price, refunded_amount: amount ?? price }
          const of = { subscription_id: `of ${order}`, billing_reason: 'renewal' }
          const bill = { ...of, ...money, created_at: state.begins[payment] }
          return { ...about('subscription_payment_refunded', bill) }
        }
        state.refunded_amount += amount ?? price
        return about('order_refunded', shown({ status: 'refunded', refunded_amount: state.refunded_amount }))
      },
      'subscription.renewed': () => {
        if (payment) state.begins[payment] = state.end
        state.end = until ?? state.end
        return subscription('active')
      },
      'subscription.changed': () => subscription('active'),
      'subscription.payment_failed': () => subscription('past_due'),
      'subscription.canceled': () => subscription('cancelled', state.end),
      'subscription.ended': () => subscription('expired'),
    }
    return { id, body: JSON.stringify(tellings[type]?.()) }
  },
  sign: ({ body }, secret) => ({ 'x-signature': hmac(secret, body) }),
}

export const gumroadKey = 'access-token-of-the-stand-in'
export const gumroadSeller = 'kL0psVL2admJSYRNs-OCMg=='

const gumroad: Protocol = {
  newSecret: () => gumroadSeller,
  apiKey: gumroadKey,
  cancels: true,
  disputes: 1,
  say({ id, type, timestamp, data }, host) {
    const { order, email, lines = [], amount, product, payment, reference, until } = data as Data
    const of = isSubscription(order) ? { subscription_id: order } : {}
    const sale = (saleId: string, more: object = {}) =>
      objectOf(host, `/v2/sales/${saleId}`, () => ({
        success: true,
        sale: {
          ...{ id: saleId, seller_id: gumroadSeller, product_id: 'pro', purchase_email: email },
          ...{ created_at: timestamp, price, quantity: 1, amount_refundable_in_currency: '10.00' },
          ...{ refunded: false, partially_refunded: false, disputed: false, dispute_won: false, ...of },
          ...more,
        },
      })).sale
    const first = isSubscription(order) ? `first_${order}` : order
    const subscriber = objectOf(host, `/v2/subscribers/${order}`, () => ({
      success: true,
      subscriber: {
        failed_at: null as string | null,
        cancelled_at: null as string | null,
        ended_at: null as string | null,
      },
    })).subscriber
    const ping = (resource_name: string, more: object) => ({ resource_name, order_number: id, ...more })
    const sold = (resource_name: string, one: { id: string }) =>
      ping(resource_name, { seller_id: gumroadSeller, sale_id: one.id, ...of })
    const recurring = { subscription_duration: 'monthly', recurring_charge: true }
    const refundable = (rest: number) => ({
      refunded: rest === 0,
      partially_refunded: rest > 0,
      amount_refundable_in_currency: (rest / 100).toFixed(2),
    })
    const tellings: Record<string, () => object> = {
      'order.paid': () => {
        const [line] = lines
        const ping = sold('sale', sale(first, { product_id: line?.product, quantity: line?.quantity }))
        return { ...ping, ...(reference !== undefined && { 'url_params[reference]': reference }) }
      },
      'order.refunded': () => {
        const one = sale(payment ? `sale_${payment}` : first)
        const rest = Math.round(Number(one.amount_refundable_in_currency) * 100) - (amount ?? price)
        Object.assign(one, refundable(Math.max(0, rest)))
        return sold('refund', one)
      },
      'order.disputed': () => sold('dispute', Object.assign(sale(first), { disputed: true })),
      'order.dispute_won': () => sold('dispute_won', Object.assign(sale(first), { dispute_won: true })),
      'subscription.renewed': () => {
        subscriber.failed_at = null
        return sold(
          'sale',
          sale(`sale_${payment ?? id}`, { ...recurring, product_id: productsOf(host, order) }),
        )
      },
      'subscription.changed': () => {
        productsOf(host, order, product)
        const more = { subscription_duration: 'monthly', is_upgrade_purchase: true, product_id: product }
        return sold('sale', sale(`sale_${id}`, more))
      },
      'subscription.payment_failed': () => {
        subscriber.failed_at = timestamp
        return ping('cancellation', of)
      },
      'subscription.canceled': () => {
        // The time when it stops.
        subscriber.cancelled_at = until ?? timestamp
        return ping('cancellation', of)
      },
      'subscription.ended': () => {
        subscriber.ended_at = timestamp
        return ping('subscription_ended', of)
      },
    }
    const told = Object.entries(tellings[type]?.() ?? {}).map(([name, value]) => [name, String(value)])
    return { id, body: new URLSearchParams(told).toString() }
  },
  sign: () => ({ 'content-type': 'application/x-www-form-urlencoded' }),
}

/** The product that a subscription has, or has from now on. */
function productsOf(host: ShopHost, order: string, product?: string): string {
  const state = objectOf(host, `product ${order}`, () => ({ product: 'pro' }))
  if (product) state.product = product
  return state.product
}

export const protocols: Readonly<Record<ShopKind, Protocol>> = {
  custom,
  stripe,
  paddle,
  lemonsqueezy,
  gumroad,
}
export const kinds = Object.keys(protocols) as ShopKind[]

/** The hosts of all kinds, and the environment that leads to them. */
export async function startShopHosts() {
  const none = await startShopHost({ apiKey: '' })
  const hosts: Record<ShopKind, ShopHost> = {
    custom: none,
    stripe: await startShopHost({ apiKey: stripeKey, headers: { 'stripe-version': '2024-06-20' } }),
    paddle: await startShopHost({ apiKey: paddleKey, headers: { 'paddle-version': '1' } }),
    lemonsqueezy: await startShopHost({
      apiKey: lemonSqueezyKey,
      headers: { accept: 'application/vnd.api+json' },
    }),
    gumroad: await startShopHost({ apiKey: gumroadKey }),
  }
  const environment = {
    SHOP_URL_STRIPE: hosts.stripe.url,
    SHOP_URL_PADDLE: hosts.paddle.url,
    SHOP_URL_LEMONSQUEEZY: hosts.lemonsqueezy.url,
    SHOP_URL_GUMROAD: hosts.gumroad.url,
  }
  return { hosts, environment, close: () => Object.values(hosts).forEach((host) => void host.close()) }
}

/** What a vendor sends to add a shop of a kind. */
export function newShopOf(kind: ShopKind, products: object[] = []) {
  const { newSecret, apiKey } = protocols[kind]
  return { kind, name: `Shop of ${kind}`, secret: newSecret(), ...(apiKey && { apiKey }), products }
}

/** The request that tells a hook what was said. */
export function requestOf(kind: ShopKind, said: Said, secret: string, at: Date) {
  const headers = { 'content-type': 'application/json', ...protocols[kind].sign(said, secret, at) }
  return { payload: said.body, headers }
}

export const toTold = (event: SoldEvent, at: Date): Told => ({
  id: `evt_${randomUUID()}`,
  timestamp: at.toISOString(),
  ...event,
})
