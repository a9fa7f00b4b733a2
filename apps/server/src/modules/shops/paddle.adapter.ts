import { z } from 'zod'
import { toIso } from '../../core/clock.ts'
import { shopId as id, parseEvent, parseJson, referenceIn, shopTime, timeSigned } from './hook-bodies.ts'
import type { OrderFact } from './orders.facts.ts'
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
  custom_data: z.object({ reference: z.unknown() }).nullish().catch(null),
  items: z.array(z.object({ price: z.object({ id }), quantity: z.int() })).max(100),
  details: z.object({ totals: z.object({ grand_total: amount }) }),
  adjustments: z.array(adjustment).nullish(),
})
const subscription = z.object({
  status: z.string(),
  current_billing_period: period,
  scheduled_change: z.object({ action: z.string() }).nullish(),
  items: z.array(z.object({ price: z.object({ id }), quantity: z.int().optional() })).min(1),
})
const overdue = z.object({ id, origin: z.string() })

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
  'subscription.past_due': (told, readBack) => askFailure(told, readBack),
  'subscription.canceled': async (told) => ({ ...at(told), kind: 'ended', order: told.data.id }),
}

const at = ({ occurred_at }: Told) => ({ at: occurred_at, timed: true })

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
  if (status !== 'completed' || origin === 'subscription_payment_method_change') return undefined
  const order = orderOf(found)
  const payment = found.id
  const lines = found.items.map(({ price, quantity }) => ({ product: price.id, quantity }))
  if (origin === 'subscription_recurring') {
    if (!billing_period) return undefined
    return { ...at(told), kind: 'renewed', order, payment, lines, until: billing_period.ends_at }
  }
  // The bill of a change lists what was changed; the subscription has all units that are paid then.
  if (origin === 'subscription_update') return askChange(told, readBack, found)
  if (!customer && found.customer_id) throw new ReadBackError('Its API key may not read customers.')
  return {
    ...at(told),
    kind: 'paid',
    order,
    payment,
    email: customer?.email ?? null,
    name: customer?.name ?? null,
    locale: customer?.locale ?? null,
    amount: found.details.totals.grand_total,
    currency: found.currency_code,
    test: readBack.isSandbox,
    ...referenceIn(found.custom_data?.reference),
    lines: lines.map(({ product, quantity }) => ({ product, quantity: Math.max(1, quantity) })),
    ...(billing_period && order !== found.id ? { until: billing_period.ends_at } : {}),
  }
}

async function askAdjustment(told: Told, readBack: ReadBack): Promise<OrderFact | undefined> {
  const found = await askTransaction(readBack, told.data.transaction_id ?? '')
  const all = found.adjustments ?? []
  const one = all.find(({ id }) => id === told.data.id)
  if (!one) throw new ReadBackError('Its API key may not read adjustments.')
  const fact = { ...at(told), order: orderOf(found), ...nameOf(found) }
  const { action, status } = one
  if (action.startsWith('chargeback')) return { ...fact, ...chargebacksOf(found.id, all) }
  if (action !== 'refund') return undefined
  // A refund that waits for Paddle has moved no money.
  if (status === 'pending_approval') return { ...fact, kind: 'warned', dispute: one.id }
  if (status !== 'approved') return { ...fact, kind: 'dispute_won', dispute: one.id }
  const refunds = all.filter(({ action, status }) => action === 'refund' && status === 'approved')
  const sum = refunds.reduce((total, { totals }) => total + totals.total, 0)
  const isFull = refunds.some(({ type }) => type === 'full') || sum >= found.details.totals.grand_total
  return { ...fact, kind: 'refunded', amount: isFull ? null : sum, isSum: true }
}

type Adjustment = z.output<typeof adjustment>

/** Names a payment; one that was told without its name is found by the end of its period. */
function nameOf({ id: payment, origin, billing_period }: z.output<typeof transaction>) {
  if (origin === 'subscription_update') return { payment, isExtra: true as const }
  return { payment, ...(billing_period && { periodEnd: billing_period.ends_at }) }
}

/** Whether a transaction is charged back by all that was told: one chargeback may be reversed, and another one not. */
function chargebacksOf(dispute: string, all: readonly Adjustment[]) {
  const count = (name: string, statuses: readonly string[]) =>
    all.filter(({ action, status }) => action === name && statuses.includes(status)).length
  const decided = ['approved']
  const lost = count('chargeback', decided) - count('chargeback_reverse', decided)
  const threatened =
    count('chargeback', ['pending_approval']) +
    count('chargeback_warning', ['approved', 'pending_approval']) -
    count('chargeback_warning_reverse', decided)
  const kind = lost > 0 ? 'disputed' : threatened > 0 ? 'warned' : 'dispute_won'
  return { kind, dispute } as const
}

/** A payment that failed; one for a change or a single charge ends no period. */
async function askFailure(told: Told, readBack: ReadBack): Promise<OrderFact | undefined> {
  const fact = { ...at(told), kind: 'payment_failed', order: told.data.id } as const
  const path = `/transactions?subscription_id=${encodeURIComponent(told.data.id)}&status=past_due`
  try {
    const { data } = z.object({ data: z.array(overdue) }).parse(await readBack(path))
    const isOther = data.length > 0 && data.every(({ origin }) => origin !== 'subscription_recurring')
    return isOther ? undefined : fact
  } catch (error) {
    // Paddle may know nothing of it any more.
    if (error instanceof ReadBackError && error.status === 404) return fact
    throw error
  }
}

async function askSubscription(told: Told, readBack: ReadBack): Promise<OrderFact> {
  const order = told.data.id
  const { until, cancels, products, lines } = await readSubscription(readBack, order)
  const fact = { ...at(told), kind: 'changed', order, product: products[0]!, products, until } as const
  return { ...fact, pays: false, ...(lines && { lines }), ...(cancels && { cancels }) }
}

async function askChange(
  told: Told,
  readBack: ReadBack,
  found: z.output<typeof transaction>,
): Promise<OrderFact | undefined> {
  const order = orderOf(found)
  const { until, lines } = await readSubscription(readBack, order)
  const end = until ?? found.billing_period?.ends_at
  if (end === undefined) return undefined
  return { ...at(told), kind: 'renewed', order, payment: found.id, until: end, ...(lines && { lines }) }
}

async function readSubscription(readBack: ReadBack, subscriptionId: string) {
  const path = `/subscriptions/${encodeURIComponent(subscriptionId)}`
  const { status, items, current_billing_period, scheduled_change } = z
    .object({ data: subscription })
    .parse(await readBack(path)).data
  const products = items.map(({ price }) => price.id)
  const lines = items.flatMap(({ price, quantity }) =>
    quantity === undefined ? [] : [{ product: price.id, quantity }],
  )
  // The period of a subscription that is past due is not paid.
  const isPaid = status === 'active' || status === 'trialing'
  const until = isPaid && current_billing_period ? current_billing_period.ends_at : null
  const cancels = scheduled_change?.action === 'cancel' || scheduled_change?.action === 'pause'
  return { until, cancels, products, lines: lines.length === items.length ? lines : undefined }
}
