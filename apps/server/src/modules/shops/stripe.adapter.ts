import { z } from 'zod'
import { second } from '../../core/clock.ts'
import { shopId as id, parseJson, referenceIn, timeSigned } from './hook-bodies.ts'
import type { OrderFact, OrderLine } from './orders.facts.ts'
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
  .object({ data: z.array(z.object({ price: z.object({ id }), quantity: z.int().optional() })).min(1) })
  .nullish()
  .catch(null)
const event = z.object({
  id,
  type: z.string().max(100),
  created: z.int(),
  data: z.object({
    object: z.object({ id, payment_intent: reference, subscription: reference, charge: reference, items }),
    previous_attributes: z
      .object({
        items,
        cancel_at_period_end: z.boolean().nullish().catch(null),
        cancel_at: z.int().nullish().catch(null),
      })
      .optional(),
  }),
})
const session = z.object({
  mode: z.string().optional(),
  payment_status: z.string(),
  client_reference_id: z.string().nullish(),
  payment_intent: reference,
  invoice: reference,
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
const price = z.object({ id, recurring: z.object({ usage_type: z.string().optional() }).nullish() })
const invoiceLine = z.object({
  type: z.string().optional(),
  proration: z.boolean().optional(),
  amount: z.int().optional(),
  quantity: z.int().nullish(),
  price: price.nullish(),
  period: z.object({ start: z.int().optional(), end: z.int() }),
})
const invoice = z.object({
  id: id.optional(),
  subscription: reference,
  billing_reason: z.string().nullish(),
  lines: z.object({ data: z.array(invoiceLine), has_more: z.boolean().optional() }).optional(),
})
const charge = z.object({
  refunded: z.boolean(),
  amount_refunded: z.int(),
  currency: z.string().optional(),
  payment_intent: reference,
  invoice: invoice.nullable(),
})
const dispute = z.object({ status: z.string(), charge: reference })
const subscription = z.object({
  status: z.string(),
  current_period_end: z.int(),
  cancel_at_period_end: z.boolean().nullish(),
  cancel_at: z.int().nullish(),
  items: z.object({ data: z.array(z.object({ price, quantity: z.int().optional() })).min(1) }),
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
  'charge.refunded': (told) => (readBack) => askRefund(readBack, told, told.data.object.id),
  ...Object.fromEntries(
    // A refund that failed was returned to the vendor.
    ['charge.refund.updated', 'refund.updated', 'refund.failed'].map((type) => [
      type,
      ({ data, ...told }: Told): Ask | undefined => {
        const { charge: chargeId } = data.object
        return chargeId === null ? undefined : (readBack) => askRefund(readBack, { data, ...told }, chargeId)
      },
    ]),
  ),
  ...Object.fromEntries(
    ['created', 'updated', 'funds_withdrawn', 'funds_reinstated', 'closed'].map((name) => [
      `charge.dispute.${name}`,
      (told: Told): Ask =>
        (readBack) =>
          askDispute(readBack, told),
    ]),
  ),
  'radar.early_fraud_warning.created': (told) => askAbout(told, 'warned'),
  'review.opened': (told) => askAbout(told, 'warned'),
  'review.closed': (told) => askAbout(told, 'dispute_won'),
  'invoice.paid': (told) => async (readBack) => {
    const found = await askInvoice(readBack, told)
    const { subscription: order, billing_reason } = found
    if (order === null || isBeside(found)) return undefined
    const until = endOf(found) ?? (await askSubscription(readBack, order)).end
    return {
      ...at(told),
      ...{ kind: 'renewed', order, until, payment: found.id ?? told.data.object.id, ...unitsIn(found) },
      ...(billing_reason === 'subscription_create' && { isFirst: true as const }),
    }
  },
  'invoice.payment_failed': (told) => async (readBack) => {
    const found = await askInvoice(readBack, told)
    const { subscription: order, billing_reason } = found
    // The bill of a change is not that of a period.
    const isOther = billing_reason != null && !periodReasons.has(billing_reason)
    if (order === null || isOther) return undefined
    return { ...at(told), kind: 'payment_failed', order, ...nameOf(found, told.data.object.id) }
  },
  'customer.subscription.updated': (told) => {
    const order = told.data.object.id
    const isChanged = hasNewProducts(told)
    if (!isChanged && !isCancellation(told)) return undefined
    return async (readBack) => {
      const { end, isPaid, cancels, products, lines } = await askSubscription(readBack, order)
      if (!isChanged)
        return isPaid ? { ...at(told), kind: cancels ? 'canceled' : 'resumed', order } : undefined
      const until = isPaid ? end : null
      const fact = { kind: 'changed', order, product: products[0]!, products, until } as const
      return {
        ...at(told),
        ...fact,
        pays: false,
        ...(lines.length > 0 && { lines }),
        ...(cancels && { cancels }),
      }
    }
  },
  'customer.subscription.deleted': (told) => async () => ({
    ...at(told),
    kind: 'ended',
    order: told.data.object.id,
  }),
}

const at = ({ created }: Told) => ({ at: created * second, timed: true })

/** Whether a subscription is canceled for later, or is not any more. */
const isCancellation = ({ data: { previous_attributes: before } }: Told): boolean =>
  before?.cancel_at_period_end !== undefined || before?.cancel_at !== undefined

/** Since 2025-03-31 items have the billing period, so that each renewal changes them, before it is paid. */
function hasNewProducts({ data }: Told): boolean {
  if (data.previous_attributes?.items === undefined) return false
  const [before, after] = [data.previous_attributes.items, data.object.items]
  if (!before || !after) return true
  const known = new Map(before.data.map(({ price, quantity }) => [price.id, quantity]))
  const isNew = ({ price, quantity }: (typeof after.data)[number]) =>
    !known.has(price.id) || known.get(price.id) !== quantity
  return known.size !== after.data.length || after.data.some(isNew)
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
    ...(found.subscription === null || found.invoice !== null
      ? nameIf(found.invoice ?? found.payment_intent)
      : { isUnnamed: true as const }),
    order: found.subscription ?? found.payment_intent ?? told.data.object.id,
    email: found.customer_details?.email ?? null,
    name: found.customer_details?.name ?? null,
    // `auto` is the language of the buyer's browser, which Stripe does not tell.
    locale: found.locale === 'auto' ? null : (found.locale ?? null),
    amount: found.amount_total === null ? null : toSmallestUnit(found.amount_total, found.currency),
    currency: found.currency?.toUpperCase() ?? null,
    test: !found.livemode,
    ...referenceIn(found.client_reference_id),
    lines: data.flatMap(({ price, quantity }) =>
      price ? [{ product: price.id, quantity: Math.max(1, quantity ?? 1) }] : [],
    ),
  }
}

async function askCharge(readBack: ReadBack, chargeId: string) {
  const path = `/v1/charges/${encodeURIComponent(chargeId)}?expand[]=invoice`
  const found = charge.parse(await readBack(path))
  const { invoice: paid, payment_intent } = found
  const name = paid ? nameOf(paid) : nameIf(payment_intent ?? chargeId)
  return { ...found, name, order: paid?.subscription ?? payment_intent ?? chargeId }
}

async function askRefund(readBack: ReadBack, told: Told, chargeId: string): Promise<OrderFact> {
  const { order, name, refunded, amount_refunded, currency } = await askCharge(readBack, chargeId)
  const amount = refunded ? null : toSmallestUnit(amount_refunded, currency ?? null)
  return { ...at(told), kind: 'refunded', order, amount, isSum: true, ...name }
}

/** Inquiries take no money; `lost` holds it for good. */
const disputeKinds: Readonly<Record<string, 'warned' | 'disputed' | 'dispute_won'>> = {
  warning_needs_response: 'warned',
  warning_under_review: 'warned',
  warning_closed: 'dispute_won',
  prevented: 'dispute_won',
  needs_response: 'disputed',
  under_review: 'disputed',
  won: 'dispute_won',
  lost: 'disputed',
}

async function askDispute(readBack: ReadBack, told: Told): Promise<OrderFact> {
  const { id: disputeId } = told.data.object
  const path = `/v1/disputes/${encodeURIComponent(disputeId)}`
  const { status, charge: chargeId } = dispute.parse(await readBack(path))
  const { order, name } = await askCharge(readBack, chargeId ?? disputeId)
  return { ...at(told), kind: disputeKinds[status] ?? 'warned', order, ...name, dispute: disputeId }
}

/** A warning or a review of a charge, and its end. */
function askAbout(told: Told, kind: 'warned' | 'dispute_won'): Ask | undefined {
  const { id: dispute, charge: chargeId } = told.data.object
  if (chargeId === null) return undefined
  return async (readBack) => {
    const { order, name } = await askCharge(readBack, chargeId)
    return { ...at(told), kind, order, ...name, dispute }
  }
}

type Invoice = z.output<typeof invoice>

const askInvoice = async (readBack: ReadBack, { data }: Told): Promise<Invoice> =>
  invoice.parse(await readBack(`/v1/invoices/${encodeURIComponent(data.object.id)}`))

const nameIf = (payment: string | null) => (payment === null ? {} : { payment })

/** Names the payment of an invoice: one that was told without its name is found by the end of its period. */
function nameOf(found: Invoice, payment = found.id) {
  const periodEnd = endOf(found)
  const isExtra = found.billing_reason === 'subscription_update' || isBeside(found)
  return {
    ...(payment !== undefined && { payment }),
    ...(found.billing_reason === 'subscription_create' && { isFirst: true as const }),
    ...(isExtra ? { isExtra: true as const } : periodEnd !== undefined && { periodEnd }),
  }
}

/** Why Stripe makes the invoice of a period. */
const periodReasons = new Set(['subscription_create', 'subscription_cycle', 'subscription'])

/** Whether an invoice is for something beside the subscription that it names. */
const isBeside = ({ billing_reason, lines }: Invoice): boolean =>
  billing_reason === 'manual' && !lines?.data.some(isOfPeriod)

const isOfPeriod = ({ type }: z.output<typeof invoiceLine>): boolean => type === 'subscription'

/** The end of the period that an invoice pays. */
function endOf({ lines }: Invoice): number | undefined {
  const periods = (lines?.data ?? []).filter(isOfPeriod)
  return periods.length > 0 ? Math.max(...periods.map(({ period }) => period.end)) * second : undefined
}

/** How many units an invoice contains. The bill of a change lists what was changed, and what is credited. */
function unitsIn({ lines }: Invoice): Pick<Extract<OrderFact, { kind: 'renewed' }>, 'lines' | 'isPart'> {
  const all = lines?.data ?? []
  const periods = all.filter((line) => isOfPeriod(line) && !line.proration)
  const charged = all.filter(({ proration, amount = 0 }) => proration && amount >= 0)
  const start = Math.max(...charged.map(({ period }) => period.start ?? 0))
  const counted = periods.length > 0 ? periods : charged.filter(({ period }) => (period.start ?? 0) === start)
  const units = toLines(counted)
  if (units.length === 0) return {}
  return { lines: units, ...((periods.length === 0 || lines?.has_more) && { isPart: true as const }) }
}

type Item = z.output<typeof invoiceLine> | z.output<typeof subscription>['items']['data'][number]

/** The units of each price; what is metered counts once. Nothing if a number is missing. */
function toLines(all: readonly Item[]): OrderLine[] {
  const metered = new Set<string>()
  const lines = all.flatMap(({ price, quantity }) => {
    if (!price) return []
    if (price.recurring?.usage_type !== 'metered') return [{ product: price.id, quantity }]
    metered.add(price.id)
    return []
  })
  const isWhole = lines.every((line): line is OrderLine => line.quantity != null)
  return isWhole ? [...lines, ...[...metered].map((product) => ({ product, quantity: 1 }))] : []
}

async function askSubscription(readBack: ReadBack, subscriptionId: string) {
  const found = subscription.parse(await readBack(`/v1/subscriptions/${encodeURIComponent(subscriptionId)}`))
  const isPaid = found.status === 'active' || found.status === 'trialing'
  const products = found.items.data.map(({ price }) => price.id)
  const lines = toLines(found.items.data)
  const cancels =
    found.cancel_at_period_end === true ||
    (found.cancel_at ?? Number.POSITIVE_INFINITY) <= found.current_period_end
  return { end: found.current_period_end * second, isPaid, cancels, products, lines }
}
