import { createHash } from 'node:crypto'
import { z } from 'zod'
import { toIso, toIsoOrNull } from '../../core/clock.ts'
import { isSigned, parseEvent, parseJson, referenceIn, shopTime } from './hook-bodies.ts'
import type { OrderFact, PaymentName } from './orders.facts.ts'
import { type ReadBack, ReadBackError, type ShopAdapter, type ToldFact } from './shop-adapter.ts'

// https://docs.lemonsqueezy.com/help/webhooks and https://docs.lemonsqueezy.com/api, read on 2026-11-24.
// Bodies are signed and complete. They have neither a time stamp nor an id: the same body is the same event.

const id = z.union([z.string().min(1).max(255), z.int()]).transform(String)
const event = z.object({
  meta: z.object({
    event_name: z.string().max(100),
    custom_data: z.object({ reference: z.unknown() }).nullish().catch(null),
  }),
  data: z.object({ id, attributes: z.unknown() }),
})
const order = z.object({
  status: z.string(),
  user_email: z.string().nullish(),
  user_name: z.string().nullish(),
  total: z.int(),
  currency: z.string(),
  refunded_amount: z.int().nullish(),
  created_at: shopTime,
  updated_at: shopTime,
  test_mode: z.boolean().optional(),
  first_order_item: z
    .object({ variant_id: id, quantity: z.int().nullish(), test_mode: z.boolean().optional() })
    .nullish(),
})
const subscription = z.object({
  order_id: id,
  variant_id: id,
  status: z.string(),
  renews_at: shopTime.nullish(),
  ends_at: shopTime.nullish(),
  updated_at: shopTime,
  first_subscription_item: z.object({ quantity: z.int().nullish() }).nullish(),
})
const invoice = z.object({
  subscription_id: id,
  billing_reason: z.string().nullish(),
  total: z.int(),
  currency: z.string().nullish(),
  refunded_amount: z.int().nullish(),
  created_at: shopTime.nullish(),
  updated_at: shopTime,
})
const foundSubscription = z.object({
  data: z.object({ attributes: subscription.partial().required({ order_id: true }) }),
})
const invoices = z.object({
  data: z.array(z.object({ attributes: z.object({ billing_reason: z.string().nullish() }) })),
})

export const lemonSqueezyShop: ShopAdapter = {
  needsApiKey: false,

  findFault: (secret) =>
    secret.length >= 6 && secret.length <= 40 ? undefined : 'A signing secret has 6 to 40 characters',

  verify(secret, { headers, body, now }) {
    if (!isSigned(secret, body, String(headers['x-signature'] ?? ''))) return undefined
    return { id: createHash('sha256').update(body).digest('hex'), at: now }
  },

  read(body) {
    const { meta, data } = parseEvent(event, parseJson(body))
    return readers[meta.event_name]?.(data, meta)
  },
}

type Data = z.output<typeof event>['data']
type Meta = Pick<z.output<typeof event>['meta'], 'custom_data'>

const readers: Record<string, (data: Data, meta: Meta) => ToldFact | undefined> = {
  order_created: readOrder,
  order_refunded: ({ id, attributes }) => {
    const { total, refunded_amount, updated_at } = parseEvent(order, attributes)
    return {
      ...firstPayment,
      kind: 'refunded',
      order: id,
      at: updated_at,
      ...refundOf(total, refunded_amount),
    }
  },
  subscription_created: readSubscription,
  subscription_updated: readSubscription,
  subscription_payment_success: (data) => {
    // The bill of a period is told by the subscription.
    if (parseEvent(invoice, data.attributes).billing_reason !== 'updated') return undefined
    return askAboutInvoice('subscription_payment_success', data, async (readBack, found) => {
      // Without an API key they are told by the next period.
      const current = await askOr(askSubscription(readBack, found.subscription_id))
      if (!current?.renews_at) return undefined
      const { order_id: order, renews_at: until } = current
      const lines = unitsOf(current)
      const paid = { payment: paymentOf(data.id), amount: found.total, ...(lines && { lines }) }
      return { kind: 'renewed', order, at: found.updated_at, timed: true, until, ...paid }
    })
  },
  subscription_payment_refunded: (data) =>
    askAboutInvoice('subscription_payment_refunded', data, async (readBack, found) => {
      const { subscription_id, total, refunded_amount, updated_at } = found
      const { order_id: order } = await askSubscription(readBack, subscription_id)
      const refund = { ...refundOf(total, refunded_amount), ...nameOf(data.id, found) }
      return { kind: 'refunded', order, at: updated_at, ...refund }
    }),
}

type Invoice = z.output<typeof invoice>

/** What is told of an invoice, which names its subscription only. */
function askAboutInvoice(
  event_name: string,
  { id, attributes }: Data,
  ask: (readBack: ReadBack, found: Invoice) => Promise<OrderFact | undefined>,
): ToldFact {
  const found = parseEvent(invoice, attributes)
  const { created_at, updated_at, ...rest } = found
  const stored = { ...rest, created_at: toIsoOrNull(created_at ?? null), updated_at: toIso(updated_at) }
  return {
    order: `subscription ${found.subscription_id}`,
    body: JSON.stringify({ meta: { event_name }, data: { id, attributes: stored } }),
    ask: (readBack) => ask(readBack, found),
  }
}

/** The payment of the order itself. */
const firstPayment = { payment: 'order', isFirst: true } as const
const paymentOf = (invoiceId: string) => `invoice ${invoiceId}`

/** A renewal is told by its subscription, so that its payment is found by the beginning of its period. */
function nameOf(id: string, { billing_reason, created_at }: Invoice): PaymentName {
  if (billing_reason === 'initial') return firstPayment
  if (billing_reason === 'updated') return { payment: paymentOf(id), isExtra: true }
  return created_at == null ? {} : { payment: paymentOf(id), periodStart: created_at }
}

const refundOf = (total: number, refunded: number | null | undefined) => ({
  amount: refunded != null && refunded < total ? refunded : null,
  isSum: true,
})

const unpaid = new Set(['pending', 'failed', 'fraudulent'])

function readOrder({ id, attributes }: Data, { custom_data }: Meta): OrderFact | undefined {
  const found = parseEvent(order, attributes)
  const { status, first_order_item: item } = found
  if (unpaid.has(status)) return undefined
  return {
    kind: 'paid',
    order: id,
    payment: firstPayment.payment,
    at: found.created_at,
    timed: true,
    email: found.user_email ?? null,
    name: found.user_name ?? null,
    amount: found.total,
    currency: found.currency.toUpperCase(),
    test: found.test_mode ?? item?.test_mode ?? false,
    ...referenceIn(custom_data?.reference),
    lines: item ? [{ product: item.variant_id, quantity: Math.max(1, item.quantity ?? 1) }] : [],
  }
}

/** Each event about a subscription holds all of it, so that its state says what happened. */
function readSubscription({ id, attributes }: Data): ToldFact {
  const found = parseEvent(subscription, attributes)
  const { order_id, variant_id, status, renews_at, ends_at, updated_at } = found
  const fact = { order: order_id, at: updated_at, timed: true }
  if (status === 'past_due' || status === 'unpaid') {
    const kept = { order_id, variant_id, status, updated_at: toIso(updated_at) }
    const meta = { event_name: 'subscription_updated' }
    return {
      order: order_id,
      body: JSON.stringify({ meta, data: { id, attributes: kept } }),
      ask: async (readBack) =>
        (await isOwedForChange(readBack, id)) ? undefined : { ...fact, kind: 'payment_failed' },
    }
  }
  if (status === 'expired') return { ...fact, kind: 'ended' }
  const isPaid = status === 'active' || status === 'on_trial'
  const until = (isPaid ? renews_at : status === 'cancelled' ? ends_at : null) ?? null
  const lines = unitsOf(found)
  const cancels = status === 'cancelled' ? { cancels: true } : {}
  return {
    ...{ ...fact, kind: 'changed', product: variant_id, until, pays: isPaid },
    ...(lines && { lines }),
    ...cancels,
  }
}

function unitsOf({ variant_id, first_subscription_item: item }: Partial<z.output<typeof subscription>>) {
  return variant_id && item?.quantity ? [{ product: variant_id, quantity: item.quantity }] : undefined
}

/** Undefined if it cannot be read for one of these reasons. */
async function askOr<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read
  } catch (error) {
    const isUnknown = error instanceof ReadBackError && (error.status === undefined || error.status === 404)
    if (isUnknown) return undefined
    throw error
  }
}

/** Whether the failed payment of a subscription was for a change alone, which ends no period. */
async function isOwedForChange(readBack: ReadBack, subscriptionId: string): Promise<boolean> {
  const filter = `filter[subscription_id]=${encodeURIComponent(subscriptionId)}&filter[status]=pending`
  const found = await askOr(readBack(`/v1/subscription-invoices?${filter}`))
  const { data } = invoices.parse(found ?? { data: [] })
  return data.length > 0 && data.every(({ attributes }) => attributes.billing_reason === 'updated')
}

async function askSubscription(readBack: ReadBack, subscriptionId: string) {
  const path = `/v1/subscriptions/${encodeURIComponent(subscriptionId)}`
  return foundSubscription.parse(await readBack(path)).data.attributes
}
