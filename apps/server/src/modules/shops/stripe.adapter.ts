import { z } from 'zod'
import { second } from '../../core/clock.ts'
import { shopId as id, parseJson, timeSigned } from './hook-bodies.ts'
import type { OrderFact } from './orders.rules.ts'
import type { AskedFact, ReadBack, ShopAdapter } from './shop-adapter.ts'

// https://docs.stripe.com/webhooks, https://docs.stripe.com/checkout/fulfillment and https://docs.stripe.com/api, read on 2026-11-24.
// Events have the shape of the endpoint's version, so only ids are taken from them; objects are read in one version.

export const stripeVersion = '2024-06-20'

const signature = { header: 'stripe-signature', separator: ',', stamp: 't', mark: 'v1', joint: '.' }

/** An object, or its id where it is not expanded. */
const reference = z
  .union([id, z.object({ id }).transform(({ id: one }) => one)])
  .nullish()
  .transform((value) => value ?? null)
/** Null where the endpoint's version has another shape. */
const items = z
  .object({ data: z.array(z.object({ price: z.object({ id }) })).min(1) })
  .nullish()
  .catch(null)
const event = z.object({
  id,
  type: z.string().max(100),
  created: z.int(),
  data: z.object({
    object: z.object({ id, payment_intent: reference, subscription: reference, charge: reference, items }),
    previous_attributes: z.object({ items }).optional(),
  }),
})
const session = z.object({
  mode: z.string().optional(),
  payment_status: z.string(),
  payment_intent: reference,
  subscription: reference,
  customer_details: z.object({ email: z.string().nullish(), name: z.string().nullish() }).nullish(),
  locale: z.string().nullish(),
  amount_total: z.int().nullable().default(null),
  currency: z.string().nullable().default(null),
  livemode: z.boolean(),
})
const lineItems = z.object({
  data: z.array(z.object({ quantity: z.int().nullish(), price: z.object({ id }).nullable() })).max(100),
})
const charge = z.object({
  refunded: z.boolean(),
  amount_refunded: z.int(),
  currency: z.string().optional(),
  payment_intent: reference,
  invoice: z.object({ subscription: reference }).nullable(),
})
const dispute = z.object({ status: z.string(), charge: reference })
const invoice = z.object({
  subscription: reference,
  lines: z
    .object({ data: z.array(z.object({ type: z.string(), period: z.object({ end: z.int() }) })) })
    .optional(),
})
const subscription = z.object({
  status: z.string(),
  current_period_end: z.int(),
  items: z.object({ data: z.array(z.object({ price: z.object({ id }) })).min(1) }),
})

export const stripeShop: ShopAdapter = {
  needsApiKey: true,

  findFault: (secret) =>
    /^whsec_[A-Za-z0-9]{16,}$/.test(secret)
      ? undefined
      : 'The signing secret of an endpoint begins with whsec_',

  verify(secret, sent) {
    const at = timeSigned(signature, secret, sent)
    const told = at === undefined ? undefined : z.object({ id }).safeParse(parseJson(sent.body.toString()))
    return told?.success && at !== undefined ? { id: told.data.id, at } : undefined
  },

  read(body) {
    const told = event.safeParse(parseJson(body)).data
    const ask = told && asks[told.type]?.(told)
    return told && ask ? { order: orderOf(told.data.object), body: JSON.stringify(told), ask } : undefined
  },
}

type Told = z.output<typeof event>
type Ask = AskedFact['ask']

const orderOf = (object: Told['data']['object']): string =>
  object.subscription ?? object.payment_intent ?? object.charge ?? object.id

const asks: Record<string, (told: Told) => Ask | undefined> = {
  'checkout.session.completed': (told) => (readBack) => askSession(readBack, told),
  'checkout.session.async_payment_succeeded': (told) => (readBack) => askSession(readBack, told),
  'charge.refunded': (told) => async (readBack) => {
    const { order, refunded, amount_refunded, currency } = await askCharge(readBack, told.data.object.id)
    const amount = refunded ? null : toSmallestUnit(amount_refunded, currency ?? null)
    return { ...at(told), kind: 'refunded', order, amount, isSum: true }
  },
  'charge.dispute.created': (told) => async (readBack) => {
    const { order } = await askDispute(readBack, told)
    return { ...at(told), kind: 'disputed', order }
  },
  'charge.dispute.closed': (told) => async (readBack) => {
    const { order, status } = await askDispute(readBack, told)
    return status === 'lost' ? undefined : { ...at(told), kind: 'dispute_won', order }
  },
  'invoice.paid': (told) => async (readBack) => {
    const { order, end } = await askInvoice(readBack, told)
    if (order === null) return undefined
    const until = end ?? (await askSubscription(readBack, order)).end
    return { ...at(told), kind: 'renewed', order, until }
  },
  'invoice.payment_failed': (told) => async (readBack) => {
    const { order } = await askInvoice(readBack, told)
    return order === null ? undefined : { ...at(told), kind: 'payment_failed', order }
  },
  'customer.subscription.updated': (told) => {
    if (!hasNewProducts(told)) return undefined
    const order = told.data.object.id
    return async (readBack) => {
      const { end, isPaid, products } = await askSubscription(readBack, order)
      const until = isPaid ? end : null
      return { ...at(told), kind: 'changed', order, product: products[0]!, products, until }
    }
  },
  'customer.subscription.deleted': (told) => async () => ({
    ...at(told),
    kind: 'ended',
    order: told.data.object.id,
  }),
}

const at = ({ created }: Told) => ({ at: created * second })

/** Since 2025-03-31 items have the billing period, so that each renewal changes them, before it is paid. */
function hasNewProducts({ data }: Told): boolean {
  if (data.previous_attributes?.items === undefined) return false
  const [before, after] = [data.previous_attributes.items, data.object.items]
  if (!before || !after) return true
  const known = new Set(before.data.map(({ price }) => price.id))
  return known.size !== after.data.length || after.data.some(({ price }) => !known.has(price.id))
}

/** How often Stripe's unit of a currency is in its smallest unit, where both differ: https://docs.stripe.com/currencies, read on 2026-11-28. */
const unitsOf: Readonly<Record<string, number>> = { isk: 1 / 100, ugx: 1 / 100, mga: 100 }

const toSmallestUnit = (amount: number, currency: string | null): number =>
  Math.round(amount * (unitsOf[currency?.toLowerCase() ?? ''] ?? 1))

async function askSession(readBack: ReadBack, told: Told): Promise<OrderFact | undefined> {
  const path = `/v1/checkout/sessions/${encodeURIComponent(told.data.object.id)}`
  const found = session.parse(await readBack(path))
  // A payment that is still on its way has an event of its own. A setup only stores a card.
  if (found.payment_status === 'unpaid' || found.mode === 'setup') return undefined
  const { data } = lineItems.parse(await readBack(`${path}/line_items?limit=100`))
  return {
    ...at(told),
    kind: 'paid',
    order: found.subscription ?? found.payment_intent ?? told.data.object.id,
    email: found.customer_details?.email ?? null,
    name: found.customer_details?.name ?? null,
    // `auto` is the language of the buyer's browser, which Stripe does not tell.
    locale: found.locale === 'auto' ? null : (found.locale ?? null),
    amount: found.amount_total === null ? null : toSmallestUnit(found.amount_total, found.currency),
    currency: found.currency?.toUpperCase() ?? null,
    test: !found.livemode,
    lines: data.flatMap(({ price, quantity }) =>
      price ? [{ product: price.id, quantity: Math.max(1, quantity ?? 1) }] : [],
    ),
  }
}

async function askCharge(readBack: ReadBack, chargeId: string) {
  const path = `/v1/charges/${encodeURIComponent(chargeId)}?expand[]=invoice`
  const found = charge.parse(await readBack(path))
  return { ...found, order: found.invoice?.subscription ?? found.payment_intent ?? chargeId }
}

async function askDispute(readBack: ReadBack, told: Told) {
  const path = `/v1/disputes/${encodeURIComponent(told.data.object.id)}`
  const { status, charge: chargeId } = dispute.parse(await readBack(path))
  const { order } = await askCharge(readBack, chargeId ?? told.data.object.id)
  return { status, order }
}

/** The subscription of an invoice, and the end of what it pays, if it pays a period. */
async function askInvoice(readBack: ReadBack, { data }: Told) {
  const found = invoice.parse(await readBack(`/v1/invoices/${encodeURIComponent(data.object.id)}`))
  const periods = (found.lines?.data ?? []).filter(({ type }) => type === 'subscription')
  const end = periods.length > 0 ? Math.max(...periods.map(({ period }) => period.end)) * second : undefined
  return { order: found.subscription, end }
}

async function askSubscription(readBack: ReadBack, subscriptionId: string) {
  const found = subscription.parse(await readBack(`/v1/subscriptions/${encodeURIComponent(subscriptionId)}`))
  const isPaid = found.status === 'active' || found.status === 'trialing'
  const products = found.items.data.map(({ price }) => price.id)
  return { end: found.current_period_end * second, isPaid, products }
}
