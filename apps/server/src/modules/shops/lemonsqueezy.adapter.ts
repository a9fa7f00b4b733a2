import { createHash } from 'node:crypto'
import { z } from 'zod'
import { toIso } from '../../core/clock.ts'
import { isSigned, parseEvent, parseJson, shopTime } from './hook-bodies.ts'
import type { OrderFact } from './orders.rules.ts'
import type { ReadBack, ShopAdapter, ToldFact } from './shop-adapter.ts'

// https://docs.lemonsqueezy.com/help/webhooks and https://docs.lemonsqueezy.com/api, read on 2026-11-24.
// Bodies are signed and complete. They have neither a time stamp nor an id: the same body is the same event.

const id = z.union([z.string().min(1).max(255), z.int()]).transform(String)
const event = z.object({
  meta: z.object({ event_name: z.string().max(100) }),
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
})
const invoice = z.object({
  subscription_id: id,
  total: z.int(),
  refunded_amount: z.int().nullish(),
  updated_at: shopTime,
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
    return readers[meta.event_name]?.(data)
  },
}

type Data = z.output<typeof event>['data']

const readers: Record<string, (data: Data) => ToldFact | undefined> = {
  order_created: readOrder,
  order_refunded: ({ id, attributes }) => {
    const { total, refunded_amount, updated_at } = parseEvent(order, attributes)
    return { kind: 'refunded', order: id, at: updated_at, ...refundOf(total, refunded_amount) }
  },
  subscription_created: ({ attributes }) => readSubscription(attributes),
  subscription_updated: ({ attributes }) => readSubscription(attributes),
  subscription_payment_refunded: ({ id, attributes }) => {
    const found = parseEvent(invoice, attributes)
    const { subscription_id, total, refunded_amount, updated_at } = found
    const meta = { event_name: 'subscription_payment_refunded' }
    const stored = { meta, data: { id, attributes: { ...found, updated_at: toIso(updated_at) } } }
    return {
      order: `subscription ${subscription_id}`,
      body: JSON.stringify(stored),
      ask: async (readBack) => ({
        kind: 'refunded',
        order: await askOrder(readBack, subscription_id),
        at: updated_at,
        ...refundOf(total, refunded_amount),
      }),
    }
  },
}

const refundOf = (total: number, refunded: number | null | undefined) => ({
  amount: refunded != null && refunded < total ? refunded : null,
  isSum: true,
})

const unpaid = new Set(['pending', 'failed', 'fraudulent'])

function readOrder({ id, attributes }: Data): OrderFact | undefined {
  const found = parseEvent(order, attributes)
  const { status, first_order_item: item } = found
  if (unpaid.has(status)) return undefined
  return {
    kind: 'paid',
    order: id,
    at: found.created_at,
    email: found.user_email ?? null,
    name: found.user_name ?? null,
    amount: found.total,
    currency: found.currency.toUpperCase(),
    test: found.test_mode ?? item?.test_mode ?? false,
    lines: item ? [{ product: item.variant_id, quantity: Math.max(1, item.quantity ?? 1) }] : [],
  }
}

/** Each event about a subscription holds all of it, so that its state says what happened. */
function readSubscription(attributes: unknown): OrderFact {
  const { order_id, variant_id, status, renews_at, ends_at, updated_at } = parseEvent(
    subscription,
    attributes,
  )
  const fact = { order: order_id, at: updated_at }
  if (status === 'past_due' || status === 'unpaid') return { ...fact, kind: 'payment_failed' }
  if (status === 'expired') return { ...fact, kind: 'ended' }
  const isPaid = status === 'active' || status === 'on_trial'
  const until = (isPaid ? renews_at : status === 'cancelled' ? ends_at : null) ?? null
  return { ...fact, kind: 'changed', product: variant_id, until }
}

/** An invoice names its subscription only. */
async function askOrder(readBack: ReadBack, subscriptionId: string): Promise<string> {
  const path = `/v1/subscriptions/${encodeURIComponent(subscriptionId)}`
  const found = z.object({ data: z.object({ attributes: z.object({ order_id: id }) }) })
  return found.parse(await readBack(path)).data.attributes.order_id
}
