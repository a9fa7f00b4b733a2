import { customShopEvents } from '@keyward/contract'
import { z } from 'zod'
import { minute, second, toEpochMs } from '../../core/clock.ts'
import { sameDigest, signWebhook, webhookSecretPrefix } from '../../core/crypto.ts'
import { problem } from '../../core/problem.ts'
import { parseEvent } from './hook-bodies.ts'
import type { OrderFact } from './orders.facts.ts'
import type { ShopAdapter } from './shop-adapter.ts'

// Standard Webhooks, https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md, read on 2026-11-24.

const toleranceMs = 5 * minute
const idLengthMax = 255
const signaturesMax = 10
const secretForm = /^whsec_[A-Za-z0-9+/]+={0,2}$/

const event = z.object({
  type: z.string().max(100),
  timestamp: z.iso.datetime({ offset: true }).optional().catch(undefined),
  data: z.unknown(),
})

/** A shop of the vendor's own. */
export const customShop: ShopAdapter = {
  needsApiKey: false,

  findFault(secret) {
    const bytes = Buffer.from(secret.slice(webhookSecretPrefix.length), 'base64').length
    return secretForm.test(secret) && bytes >= 24 && bytes <= 64
      ? undefined
      : 'A secret is whsec_ and 24 to 64 bytes in Base64'
  },

  verify(secret, { headers, body, now }) {
    const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
      String(headers[name] ?? ''),
    ) as [string, string, string]
    const at = Number(timestamp) * second
    if (id === '' || id.length > idLengthMax || !/^\d{1,12}$/.test(timestamp)) return undefined
    if (Math.abs(now - at) > toleranceMs) return undefined
    const expected = signWebhook(secret, { id, timestamp, body })
    const isValid = signatures
      .split(' ', signaturesMax)
      .some((each) => each.startsWith('v1,') && sameDigest(each.slice(3), expected))
    return isValid ? { id, at } : undefined
  },

  read(body, at) {
    const { type, timestamp, data } = parseEvent(event, toJson(body))
    const isKnown = Object.hasOwn(customShopEvents, type)
    if (!isKnown) return undefined
    const fact = readers[type as keyof typeof customShopEvents](data)
    const timed = timestamp !== undefined
    return { ...fact, at: timed ? Date.parse(timestamp) : at, timed }
  },
}

type Fact = OrderFact extends infer F ? (F extends unknown ? Omit<F, 'at'> : never) : never

const schemas = customShopEvents
const readers: Record<keyof typeof customShopEvents, (data: unknown) => Fact> = {
  'order.paid': (data) => {
    const { payment, reference, ...told } = parseEvent(schemas['order.paid'], data)
    return { kind: 'paid', ...told, ...named({ payment, reference: reference ?? undefined }) }
  },
  'order.refunded': (data) => {
    const { order, amount, payment } = parseEvent(schemas['order.refunded'], data)
    return { kind: 'refunded', order, amount: amount ?? null, ...named({ payment }) }
  },
  'order.disputed': (data) => ({ kind: 'disputed', ...parseEvent(schemas['order.disputed'], data) }),
  'order.dispute_won': (data) => ({ kind: 'dispute_won', ...parseEvent(schemas['order.dispute_won'], data) }),
  'subscription.renewed': (data) => {
    const { order, until, currency, ...paid } = parseEvent(schemas['subscription.renewed'], data)
    const money = named({ ...paid, currency: currency?.toUpperCase() })
    return { kind: 'renewed', order, until: toEpochMs(until), ...money }
  },
  'subscription.changed': (data) => {
    const { order, product, until, quantity } = parseEvent(schemas['subscription.changed'], data)
    const units =
      quantity === undefined ? undefined : { lines: [{ product, quantity }], isPart: true as const }
    const fact = { kind: 'changed', order, product, until: toEpochMs(until) } as const
    return { ...fact, pays: false, hasPaidUnits: true, ...units }
  },
  'subscription.payment_failed': (data) => ({
    kind: 'payment_failed',
    ...parseEvent(schemas['subscription.payment_failed'], data),
  }),
  'subscription.ended': (data) => ({ kind: 'ended', ...parseEvent(schemas['subscription.ended'], data) }),
}

/** Without what was not sent. */
const named = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never

function toJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw problem('invalid_json')
  }
}
