import { setTimeout as pause } from 'node:timers/promises'
import { type OfOwner, system } from '../../core/actor.ts'
import { day, hour, minute, second } from '../../core/clock.ts'
import { problem } from '../../core/problem.ts'
import { schedule } from '../../core/queues/schedule.ts'
import type { OrderRow, PaymentRow } from '../../db/tables.ts'
import {
  type PaymentProvider,
  type Payments,
  type ProviderEvent,
  type ProviderPayment,
  requireProvider,
  unlessUnavailable,
} from './payments.provider.ts'
import * as repo from './payments.repo.ts'
import { nextCheck, statusOf } from './payments.rules.ts'
import { type Fetch, type Reported, settle } from './payments.settlement.ts'

// The path of a payment. Three sources report that an order may have changed: the buyer's checkout, the provider's
// webhook and the schedule. None is trusted with more than the name of the order: `settle` fetches the current state
// from the provider and applies it, and `sendRefunds` refunds what turned out to be unusable.

/**
 * Handles the checkout's report of a payment: returns once premium has started, otherwise throws the reason.
 * Idempotent.
 */
export async function acceptReport(
  payments: Payments,
  scope: OfOwner,
  report: { orderId: string; paymentId: string; signature: string },
): Promise<PaymentRow> {
  const provider = requireProvider(payments)
  const { db } = payments.ctx
  const order = await repo.findOrder(db, scope, provider.name, report.orderId)
  if (!order) throw problem('not_found')
  if (!provider.isGenuine({ ...report, orderId: order.provider_order_id ?? '' }))
    throw problem('payment_not_verified')
  const known = await repo.findPayment(db, order.id, report.paymentId)
  if (!known?.activated_at) {
    const fetch: Fetch = async (current) => {
      const reported = await fetchPayment(provider, current, report.paymentId)
      if (!reported) throw problem('payment_not_verified')
      return [reported]
    }
    await scheduleRecheck(payments, order.id)
    await unlessUnavailable(
      payments,
      () => settleScheduled(payments, order.id, fetch),
      'The payment provider could not be reached yet. Premium starts automatically once it responds.',
    )
    await sendRefunds(payments, provider, order.id)
  }
  const payment = await repo.findPayment(db, order.id, report.paymentId)
  const status = payment && statusOf(payment)
  if (status === 'failed') throw problem('payment_not_verified')
  if (!payment || status === 'pending') throw problem('payment_pending')
  if (status !== 'paid' && status !== 'partially_refunded') throw problem('payment_returned')
  return payment
}

/**
 * Handles an event of the provider. Repeated, reordered, late and replayed events are harmless: each is only a hint.
 */
export async function acceptEvent(payments: Payments, body: Buffer, signature: string): Promise<void> {
  const provider = requireProvider(payments)
  const event = provider.readEvent(body, signature)
  if (!event) throw problem('invalid_signature')
  let isScheduled = false
  const accept = async () => {
    const order = await findOrderOf(payments, provider, event)
    if (!order) return
    await scheduleRecheck(payments, order.id)
    // Only the event names the dispute, so the provider has to resend it if this fails.
    isScheduled = event.disputeId === undefined
    await settleScheduled(payments, order.id, fetchEvent(provider, event))
    await sendRefunds(payments, provider, order.id)
  }
  const accepted = accept().then(
    () => true,
    (error: unknown) => {
      payments.onError(error)
      return false
    },
  )
  const isAccepted = await Promise.race([accepted, pause(payments.waits.eventMs, undefined, { ref: false })])
  if (isAccepted !== true && !isScheduled) throw problem('payment_provider_unavailable')
}

/** Undefined for events of unknown orders: other businesses may share the provider's account. */
async function findOrderOf({ ctx }: Payments, provider: PaymentProvider, event: ProviderEvent) {
  const { orderId, paymentId } = event
  const unknown = { orderId: '', amount: 0, currency: '' }
  const id = orderId ?? (paymentId && (await provider.findPayment(paymentId, unknown))?.orderId)
  return id ? repo.findProviderOrder(ctx.db, provider.name, id) : undefined
}

const scheduleEveryMs = minute
/** Resumes work interrupted by a restart. */
const afterStartMs = 2 * second
/** A node has this long to settle an order before another node may claim it. */
const claimMs = 5 * minute
const claimedAtOnce = 20

/**
 * Settles the orders whose recheck is due: lost reports and events, and refunds that are due or were made elsewhere.
 */
export async function reconcile(payments: Payments, signal?: AbortSignal): Promise<void> {
  const provider = requireProvider(payments)
  const { ctx, onError } = payments
  for (;;) {
    const now = ctx.clock.now()
    const due = await ctx.tx(system, ({ tx }) =>
      repo.claimDueOrders(tx, provider.name, { now, until: now + claimMs, count: claimedAtOnce }),
    )
    for (const order of due) {
      if (signal?.aborted) return
      try {
        await settle(payments, order.id, (current) => fetchPayments(provider, current))
        await sendRefunds(payments, provider, order.id)
      } catch (error) {
        onError(error)
        await postpone(payments, order)
      }
    }
    if (due.length < claimedAtOnce) return
  }
}

/** Starts the schedule; the returned function stops it. */
export function startReconciler(payments: Payments, firstAfterMs = afterStartMs): () => Promise<void> {
  const { provider, onError } = payments
  if (!provider) return async () => {}
  const times = { everyMs: scheduleEveryMs, firstMs: firstAfterMs }
  return schedule((signal) => reconcile(payments, signal), { ...times, onError })
}

/** Schedules a recheck in case the process dies before the order is settled. */
const scheduleRecheck = ({ ctx }: Payments, orderId: string): Promise<unknown> =>
  repo.updateOrder(ctx.db, orderId, { next_check_at: ctx.clock.now() })

/** Settles an order. A failure keeps the recheck scheduled, whatever an older fetch writes meanwhile. */
async function settleScheduled(payments: Payments, orderId: string, fetch: Fetch): Promise<void> {
  try {
    await settle(payments, orderId, fetch)
  } catch (error) {
    await repo.touchOrder(payments.ctx.db, orderId, payments.ctx.clock.now())
    throw error
  }
}

/** Reschedules with backoff, and gives up eventually on an order that the provider does not know. */
async function postpone({ ctx }: Payments, order: OrderRow): Promise<void> {
  const now = ctx.clock.now()
  const next = nextCheck(order, await repo.summarize(ctx.db, order.id), now)
  await repo.postponeOrder(ctx.db, order, next && Math.min(next, now + hour))
}

/** Sends the refunds due for an order; one that fails stays due and is retried. */
export async function sendRefunds(
  payments: Payments,
  provider: PaymentProvider,
  orderId: string,
): Promise<void> {
  for (const due of await repo.listRefundsDue(payments.ctx.db, orderId)) {
    await settle(payments, orderId, (order) => refund(payments, provider, order, due)).catch(payments.onError)
  }
}

/** The idempotency key changes with the order's version and the day, so that a failed refund is requested again. */
async function refund(
  { ctx }: Payments,
  provider: PaymentProvider,
  order: OrderRow,
  due: PaymentRow,
): Promise<Reported[]> {
  const payment = await findPaymentOf(provider, order, due.provider_payment_id)
  if (!payment) return []
  const isOpen = payment.status === 'captured' && payment.amountRefunded < payment.amount
  const key = `${due.id}-${order.version}-${Math.floor(ctx.clock.now() / day)}`
  return [{ payment: isOpen ? await provider.refund(payment, key) : payment }]
}

function fetchEvent(provider: PaymentProvider, { paymentId, disputeId }: ProviderEvent): Fetch {
  if (paymentId === undefined) return (order) => fetchPayments(provider, order)
  return async (order) => {
    const reported = await fetchPayment(provider, order, paymentId)
    if (!reported) return []
    const dispute = disputeId === undefined ? undefined : await provider.findDispute(disputeId)
    return [{ ...reported, dispute: dispute?.paymentId === paymentId ? dispute : undefined }]
  }
}

const findPaymentOf = (
  provider: PaymentProvider,
  { provider_order_id, amount, currency }: OrderRow,
  paymentId: string,
): Promise<ProviderPayment | undefined> =>
  provider.findPayment(paymentId, { orderId: provider_order_id ?? '', amount, currency })

/** One payment of an order; undefined when the order has none with this id. */
async function fetchPayment(
  provider: PaymentProvider,
  order: OrderRow,
  paymentId: string,
): Promise<Reported | undefined> {
  const payment = await findPaymentOf(provider, order, paymentId)
  if (!payment || payment.orderId !== (order.provider_order_id ?? '')) return undefined
  return { payment: await captureIfExpected(provider, order, payment) }
}

/** All payments that the provider lists for an order. */
async function fetchPayments(provider: PaymentProvider, order: OrderRow): Promise<Reported[]> {
  if (order.provider_order_id === null) return []
  const reported: Reported[] = []
  for (const payment of await provider.listPayments(order.provider_order_id)) {
    reported.push({ payment: await captureIfExpected(provider, order, payment) })
  }
  return reported
}

/** Captures an authorized payment that pays the order; the provider would refund it after some days. */
async function captureIfExpected(
  provider: PaymentProvider,
  order: OrderRow,
  payment: ProviderPayment,
): Promise<ProviderPayment> {
  const isExpected =
    (order.status === 'open' || order.status === 'expired') &&
    payment.amount === order.amount &&
    payment.currency === order.currency
  return payment.status === 'authorized' && isExpected ? provider.capture(payment) : payment
}
