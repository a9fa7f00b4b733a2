import { z } from 'zod'
import { toIso } from '../../core/clock.ts'
import { shopId as id, parseEvent, parseJson, shopTime, timeSigned } from './hook-bodies.ts'
import type { OrderFact } from './orders.rules.ts'
import { type AskedFact, type ReadBack, ReadBackError, type ShopAdapter } from './shop-adapter.ts'

// https://developer.paddle.com/webhooks/signature-verification and https://developer.paddle.com/api-reference, read on 2026-11-24.

const signature = { header: 'paddle-signature', separator: ';', stamp: 'ts', mark: 'h1', joint: ':' }
const sandboxKey = 'pdl_sdbx_'

const event = z.object({
  event_id: id,
  event_type: z.string().max(100),
  occurred_at: shopTime,
  data: z.object({ id, transaction_id: id.nullish(), subscription_id: id.nullish() }),
})
const amount = z.coerce.number().int()
const period = z.object({ ends_at: shopTime }).nullish()
const adjustment = z.object({
  id,
  action: z.string(),
  type: z.string().nullish(),
  status: z.string(),
  totals: z.object({ total: amount }),
})
const transaction = z.object({
  id,
  status: z.string(),
  origin: z.string(),
  subscription_id: id.nullish(),
  customer_id: id.nullish(),
  customer: z
    .object({ email: z.string().nullish(), name: z.string().nullish(), locale: z.string().nullish() })
    .nullish(),
  currency_code: z.string(),
  billing_period: period,
  items: z.array(z.object({ price: z.object({ id }), quantity: z.int() })).max(100),
  details: z.object({ totals: z.object({ grand_total: amount }) }),
  adjustments: z.array(adjustment).nullish(),
})
const subscription = z.object({
  status: z.string(),
  current_billing_period: period,
  items: z.array(z.object({ price: z.object({ id }) })).min(1),
})

export const paddleShop: ShopAdapter = {
  needsApiKey: true,

  findFault: (secret) =>
    /^pdl_ntfset_\S{16,}$/.test(secret)
      ? undefined
      : 'The secret key of a notification destination begins with pdl_ntfset_',

  verify(secret, sent) {
    const at = timeSigned(signature, secret, sent)
    const told = at === undefined ? undefined : event.safeParse(parseJson(sent.body.toString()))
    return told?.success ? { id: told.data.event_id, at: told.data.occurred_at } : undefined
  },

  read(sent) {
    const told = parseEvent(event, parseJson(sent))
    const ask = asks[told.event_type]
    const { subscription_id, transaction_id, id } = told.data
    const order = subscription_id ?? transaction_id ?? id
    const body = JSON.stringify({ ...told, occurred_at: toIso(told.occurred_at) })
    return ask && { order, body, ask: (readBack) => ask(told, readBack) }
  },
}

export const isPaddleSandbox = (apiKey: string): boolean => apiKey.startsWith(sandboxKey)

type Told = z.output<typeof event>
type Ask = (told: Told, readBack: ReadBack) => ReturnType<AskedFact['ask']>

const asks: Record<string, Ask> = {
  'transaction.completed': (told, readBack) => askPayment(told, readBack),
  'adjustment.created': (told, readBack) => askAdjustment(told, readBack),
  'adjustment.updated': (told, readBack) => askAdjustment(told, readBack),
  'subscription.activated': (told, readBack) => askSubscription(told, readBack),
  'subscription.resumed': (told, readBack) => askSubscription(told, readBack),
  'subscription.updated': (told, readBack) => askSubscription(told, readBack),
  'subscription.past_due': async (told) => ({ ...at(told), kind: 'payment_failed', order: told.data.id }),
  'subscription.canceled': async (told) => ({ ...at(told), kind: 'ended', order: told.data.id }),
}

const at = ({ occurred_at }: Told) => ({ at: occurred_at })

/** What is bought within a subscription once, is an order of its own. */
const orderOf = ({ id, origin, subscription_id }: z.output<typeof transaction>): string =>
  origin === 'subscription_charge' ? id : (subscription_id ?? id)

async function askTransaction(readBack: ReadBack, transactionId: string) {
  const path = `/transactions/${encodeURIComponent(transactionId)}?include=customer,adjustments`
  return z.object({ data: transaction }).parse(await readBack(path)).data
}

async function askPayment(told: Told, readBack: ReadBack): Promise<OrderFact | undefined> {
  const found = await askTransaction(readBack, told.data.id)
  const { status, origin, customer, billing_period } = found
  const isChange = origin === 'subscription_update' || origin === 'subscription_payment_method_change'
  if (status !== 'completed' || isChange) return undefined
  const order = orderOf(found)
  if (origin === 'subscription_recurring') {
    return billing_period ? { ...at(told), kind: 'renewed', order, until: billing_period.ends_at } : undefined
  }
  if (!customer && found.customer_id) throw new ReadBackError('Its API key may not read customers.')
  return {
    ...at(told),
    kind: 'paid',
    order,
    email: customer?.email ?? null,
    name: customer?.name ?? null,
    locale: customer?.locale ?? null,
    amount: found.details.totals.grand_total,
    currency: found.currency_code,
    test: readBack.isSandbox,
    lines: found.items.map(({ price, quantity }) => ({ product: price.id, quantity: Math.max(1, quantity) })),
    ...(billing_period && order !== found.id ? { until: billing_period.ends_at } : {}),
  }
}

async function askAdjustment(told: Told, readBack: ReadBack): Promise<OrderFact | undefined> {
  const found = await askTransaction(readBack, told.data.transaction_id ?? '')
  const all = found.adjustments ?? []
  const one = all.find(({ id }) => id === told.data.id)
  if (!one) throw new ReadBackError('Its API key may not read adjustments.')
  const fact = { ...at(told), order: orderOf(found) }
  if (one.action.endsWith('_reverse')) {
    return one.action.startsWith('chargeback') ? { ...fact, kind: 'dispute_won' } : undefined
  }
  if (one.action.startsWith('chargeback')) {
    return { ...fact, kind: one.status === 'reversed' ? 'dispute_won' : 'disputed' }
  }
  if (one.action !== 'refund' || one.status !== 'approved') return undefined
  const refunds = all.filter(({ action, status }) => action === 'refund' && status === 'approved')
  const sum = refunds.reduce((total, { totals }) => total + totals.total, 0)
  const isFull = refunds.some(({ type }) => type === 'full') || sum >= found.details.totals.grand_total
  return { ...fact, kind: 'refunded', amount: isFull ? null : sum, isSum: true }
}

async function askSubscription(told: Told, readBack: ReadBack): Promise<OrderFact> {
  const path = `/subscriptions/${encodeURIComponent(told.data.id)}`
  const { status, items, current_billing_period } = z
    .object({ data: subscription })
    .parse(await readBack(path)).data
  const products = items.map(({ price }) => price.id)
  // The period of a subscription that is past due is not paid.
  const isPaid = status === 'active' || status === 'trialing'
  const until = isPaid && current_billing_period ? current_billing_period.ends_at : null
  return { ...at(told), kind: 'changed', order: told.data.id, product: products[0]!, products, until }
}
