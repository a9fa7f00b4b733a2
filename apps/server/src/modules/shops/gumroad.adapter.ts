import { createHash } from 'node:crypto'
import { z } from 'zod'
import { addDuration, hour } from '../../core/clock.ts'
import { sameDigest } from '../../core/crypto.ts'
import { shopId as id, parseEvent, parseJson, referenceIn, shopTime } from './hook-bodies.ts'
import type { OrderFact, PaymentName } from './orders.facts.ts'
import { type ReadBack, ReadBackError, type ShopAdapter } from './shop-adapter.ts'

// https://gumroad.com/ping and https://gumroad.com/api, read on 2026-11-24.
// Pings are not signed and have no id. Only ids are taken from them; what they are about is read back.

const flag = z.union([z.boolean(), z.string()]).transform((value) => String(value) === 'true')
const ping = z.object({
  resource_name: z.string().max(100).default('sale'),
  seller_id: z.string().max(255).optional(),
  sale_id: id.optional(),
  subscription_id: id.optional(),
  test: flag.default(false),
  url_params: z.object({ reference: z.unknown() }).optional().catch(undefined),
})
const sale = z.object({
  id,
  seller_id: z.string(),
  product_id: z.string(),
  purchase_email: z.string().nullish(),
  email: z.string().nullish(),
  full_name: z.string().nullish(),
  created_at: shopTime,
  price: z.int(),
  amount_refundable_in_currency: z.string().nullish(),
  quantity: z.int().nullish(),
  variants: z.record(z.string(), z.string()).nullish().catch(null),
  subscription_id: id.nullish(),
  subscription_duration: z.string().nullish(),
  recurring_charge: z.boolean().nullish(),
  is_preorder_authorization: z.boolean().nullish(),
  is_upgrade_purchase: z.boolean().nullish(),
  refunded: z.boolean().nullish(),
  partially_refunded: z.boolean().nullish(),
  disputed: z.boolean().nullish(),
  dispute_won: z.boolean().nullish(),
})
const ending = shopTime.nullish()
const subscriber = z.object({ cancelled_at: ending, ended_at: ending, failed_at: ending })

const subscriptionPings = new Set(['cancellation', 'subscription_ended', 'subscription_restarted'])

export const gumroadShop: ShopAdapter = {
  needsApiKey: true,
  hasSecretHook: true,

  findFault: (secret) =>
    /^[\w-]{1,100}={0,2}$/.test(secret) ? undefined : 'The id of a seller has letters, digits, - and _',

  verify(seller, { body, now }) {
    const told = ping.safeParse(toPing(body.toString())).data
    if (!told) return undefined
    // What is told of a subscription does not name the seller; only a subscription of the API key's account is found.
    const isNamed = told.seller_id !== undefined || !subscriptionPings.has(told.resource_name)
    if (isNamed && !sameDigest(told.seller_id ?? '', seller)) return undefined
    // A further refund has the same body as the one before; a ping that failed is repeated for hours, with other ids then.
    const id = createHash('sha256')
      .update(`${Math.floor(now / hour)} `)
      .update(body)
    return { id: id.digest('hex'), at: now }
  },

  read(body, at) {
    const told = parseEvent(ping, toPing(body))
    const { resource_name, sale_id, subscription_id } = told
    const stored = JSON.stringify(told)
    if (subscriptionPings.has(resource_name) && subscription_id !== undefined) {
      const ask = (readBack: ReadBack) => askEnding(readBack, subscription_id, at)
      return { order: subscription_id, body: stored, ask }
    }
    const read = saleReaders[resource_name]
    if (!read || sale_id === undefined) return undefined
    return {
      order: subscription_id ?? sale_id,
      body: stored,
      ask: async (readBack) => {
        const found = await askFor(readBack, `/v2/sales/${encodeURIComponent(sale_id)}`, 'sale', sale)
        return found && found.seller_id === told.seller_id ? read(found, { ...told, at }) : undefined
      },
    }
  },
}

type Sale = z.output<typeof sale>
type ReadPing = z.output<typeof ping> & { at: number }

const saleReaders: Record<string, (found: Sale, told: ReadPing) => OrderFact | undefined> = {
  sale: readSale,
  refund: readRefund,
  dispute: readDispute,
  dispute_won: readDispute,
}

const orderOf = ({ id, subscription_id }: Sale): string => subscription_id ?? id

/** A product, with the names of its variants as they are chosen: `abc==/Pro`. */
const productOf = ({ product_id, variants }: Sale): string =>
  [product_id, ...Object.values(variants ?? {}).filter((name) => name !== '')].join('/').slice(0, 200)

function readSale(found: Sale, { at, test, url_params }: ReadPing): OrderFact | undefined {
  // A preorder is charged later, by a sale of its own.
  if (found.is_preorder_authorization) return undefined
  const fact = { order: orderOf(found), payment: found.id, at: found.created_at, timed: true }
  const until = endOf(found)
  const product = productOf(found)
  const lines = [{ product, quantity: Math.max(1, found.quantity ?? 1) }]
  if (found.is_upgrade_purchase || found.recurring_charge) {
    // Gumroad says 1 where it knows no quantity.
    const units = found.quantity != null && found.quantity > 1 ? { lines, hasPaidUnits: true } : {}
    return { ...fact, kind: 'changed', product, until: until ?? null, ...units }
  }
  return {
    ...fact,
    kind: 'paid',
    // A test ping tells of the last sale again, which stays what it was.
    at: test ? at : found.created_at,
    email: found.purchase_email ?? found.email ?? null,
    name: found.full_name ?? null,
    amount: found.price,
    currency: 'USD',
    test,
    lines,
    ...referenceIn(url_params?.reference),
    ...(until === undefined ? {} : { until }),
  }
}

/** When the period ends that a sale pays. */
function endOf({ subscription_id, subscription_duration, created_at }: Sale): number | undefined {
  const months = monthsOf[subscription_duration ?? '']
  return subscription_id && months ? addDuration(created_at, { value: months, unit: 'months' }) : undefined
}

/** Names the payment of a sale: one that was told without its name is found by the end of its period. */
function nameOf(found: Sale): PaymentName {
  const periodEnd = endOf(found)
  return { payment: found.id, ...(periodEnd !== undefined && { periodEnd }) }
}

function readRefund(found: Sale, { at }: { at: number }): OrderFact | undefined {
  const fact = { kind: 'refunded', order: orderOf(found), at, isSum: true, ...nameOf(found) } as const
  if (found.refunded) return { ...fact, amount: null }
  if (!found.partially_refunded) return undefined
  // It may be in another currency than the price, but less remains with each refund.
  const rest = Number.parseFloat((found.amount_refundable_in_currency ?? '').replace(/[^\d.]/g, '')) || 0
  const returned = found.price - Math.round(rest * 100)
  return { ...fact, amount: Math.min(Math.max(1, returned), Math.max(1, found.price - 1)) }
}

function readDispute(found: Sale, { at }: { at: number }): OrderFact | undefined {
  if (!found.disputed && !found.dispute_won) return undefined
  const kind = found.dispute_won ? 'dispute_won' : 'disputed'
  return { kind, order: orderOf(found), at, ...nameOf(found), dispute: found.id }
}

async function askEnding(readBack: ReadBack, order: string, now: number): Promise<OrderFact | undefined> {
  const path = `/v2/subscribers/${encodeURIComponent(order)}`
  const found = await askFor(readBack, path, 'subscriber', subscriber)
  if (!found) return undefined
  if (found.failed_at) return { kind: 'payment_failed', order, at: found.failed_at }
  const at = found.ended_at ?? found.cancelled_at
  // One that was restarted before its end has neither; one restarted later is charged by a sale of its own.
  if (!at) return { kind: 'resumed', order, at: now }
  // A cancelled subscription goes on to the end of what is paid.
  return at <= now ? { kind: 'ended', order, at } : { kind: 'canceled', order, at: now }
}

/** Undefined for what the shop does not know: anybody can send a ping. */
async function askFor<T extends z.ZodType>(
  readBack: ReadBack,
  path: string,
  name: string,
  schema: T,
): Promise<z.output<T> | undefined> {
  try {
    const answer = z.looseObject({ success: z.boolean() }).parse(await readBack(path))
    return answer.success ? schema.parse(answer[name]) : undefined
  } catch (error) {
    if (error instanceof ReadBackError && error.status === 404) return undefined
    throw error
  }
}

const monthsOf: Record<string, number> = {
  monthly: 1,
  quarterly: 3,
  biannually: 6,
  yearly: 12,
  every_two_years: 24,
  every_three_years: 36,
}

const toPing = (body: string): unknown =>
  body.startsWith('{') ? parseJson(body) : fromForm(new URLSearchParams(body))

const fromForm = (form: URLSearchParams) => ({
  ...Object.fromEntries(form),
  url_params: { reference: form.get('url_params[reference]') },
})
