import type { DataOf, endpoints, Payment } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { day, toIso, toIsoOrNull } from '../../core/clock.ts'
import type { OwnerScope } from '../../core/ctx.ts'
import { problem } from '../../core/problem.ts'
import type { Db } from '../../db/open.ts'
import type { OrderRow, PaymentRow } from '../../db/tables.ts'
import { getUser, lockOwner, setPremiumCancelled } from '../auth/auth.service.ts'
import { planOf } from '../auth/plan.rules.ts'
import { formatAmount, toPrice } from '../plans/plans.rules.ts'
import { asking, type Payments, requireProvider } from './payments.ctx.ts'
import { findPaymentOf, lookAt } from './payments.look.ts'
import type { PaymentProvider } from './payments.provider.ts'
import * as repo from './payments.repo.ts'
import { noteOf, statusOf } from './payments.rules.ts'
import { note, type Sighting, settle, settleNoted } from './payments.settle.ts'
import { moneyBackOffer } from './payments.state.ts'

interface Report {
  orderId: string
  paymentId: string
  signature: string
}

/** Starts premium for a payment that the checkout reported. What was ordered counts; told again, nothing more happens. */
export async function verify(
  payments: Payments,
  scope: OwnerScope,
  report: Report,
): Promise<DataOf<typeof endpoints.payments.verify>> {
  const provider = requireProvider(payments)
  const { db } = payments.ctx
  const order = await repo.findOrder(db, scope, provider.name, report.orderId)
  if (!order) throw problem('not_found')
  const orderId = order.provider_order_id ?? ''
  if (!provider.isGenuine({ ...report, orderId })) throw problem('payment_not_verified')
  const known = await repo.findPayment(db, order.id, report.paymentId)
  if (!known?.activated_at) {
    await note(payments, order.id)
    await asking(
      payments,
      () => settleNoted(payments, order.id, (now) => lookAtReported(provider, now, report.paymentId)),
      'The payment provider could not be asked yet. Premium starts by itself as soon as it answers.',
    )
    await giveBack(payments, provider, order.id)
  }
  const payment = (await listPayments(db, scope)).find(
    (one) => one.orderId === orderId && one.paymentId === report.paymentId,
  )
  if (payment?.status === 'failed') throw problem('payment_not_verified')
  if (!payment || payment.status === 'pending') throw problem('payment_pending')
  if (payment.status !== 'paid' && payment.status !== 'partially_refunded') throw problem('payment_returned')
  return { subscription: (await getUser(payments.ctx, scope)).subscription, payment }
}

async function lookAtReported(
  provider: PaymentProvider,
  order: OrderRow,
  paymentId: string,
): Promise<Sighting[]> {
  const sighting = await lookAt(provider, order, paymentId)
  if (!sighting) throw problem('payment_not_verified')
  return [sighting]
}

/** Gives back what is due of an order; what cannot be now stays due and is tried again. */
export async function giveBack(
  payments: Payments,
  provider: PaymentProvider,
  orderId: string,
): Promise<void> {
  for (const due of await repo.listRefundsDue(payments.ctx.db, orderId)) {
    await settle(payments, orderId, (order) => refunded(payments, provider, order, due)).catch(
      payments.onError,
    )
  }
}

/** A refund that failed is asked for once more: its key grows with news and days. */
async function refunded(
  { ctx }: Payments,
  provider: PaymentProvider,
  order: OrderRow,
  due: PaymentRow,
): Promise<Sighting[]> {
  const payment = await findPaymentOf(provider, order, due.provider_payment_id)
  if (!payment) return []
  const isOpen = payment.status === 'captured' && payment.amountRefunded < payment.amount
  const key = `${due.id}-${order.version}-${Math.floor(ctx.clock.now() / day)}`
  return [{ payment: isOpen ? await provider.refund(payment, key) : payment }]
}

export async function listPayments(db: Db, scope: OwnerScope): Promise<Payment[]> {
  return (await repo.listPayments(db, scope)).map(toPayment)
}

const toPayment = (row: repo.HistoryRow): Payment => ({
  _id: row.id,
  orderId: row.provider_order_id ?? '',
  paymentId: row.provider_payment_id,
  receipt: row.receipt,
  status: statusOf(row),
  planDuration: row.plan_duration,
  ...toPrice(row.amount, row.currency),
  listAmount: row.list_amount,
  listFormatted: formatAmount(row.list_amount, row.currency),
  couponCode: row.coupon_code || null,
  discount: row.discount,
  amountRefunded: row.amount_refunded,
  refundedFormatted: formatAmount(row.amount_refunded, row.currency),
  method: row.method,
  note: noteOf(row),
  periodStart: toIsoOrNull(row.period_start),
  periodEnd: toIsoOrNull(row.period_end),
  createdAt: toIso(row.created_at),
  isDevelopmentMode: row.provider === 'mock',
})

interface Cancelled {
  data: DataOf<typeof endpoints.payments.cancelSubscription>
  message: string
}

/** Premium stays to its end; with `refund`, what the guarantee covers is given back and premium ends with it. */
export async function cancel(
  payments: Payments,
  actor: VendorActor,
  { refund }: { refund: boolean },
): Promise<Cancelled> {
  const { ctx, provider } = payments
  const offer = await ctx.tx(actor, async (write) => {
    const { tx } = write
    const now = ctx.clock.now()
    const owner = await lockOwner(tx, actor)
    if (planOf(owner.premium_until, now) === 'free')
      throw problem('conflict', { message: 'There is no premium plan to cancel' })
    const found = refund ? moneyBackOffer(ctx, await repo.listActivated(tx, actor)) : undefined
    if (found === null)
      throw problem('conflict', { message: 'The money-back guarantee covers no payment any more' })
    await setPremiumCancelled(tx, actor, owner.premium_cancelled_at ?? now)
    for (const payment of found?.payments ?? []) {
      await repo.updatePayment(tx, payment.id, { refund_reason: 'money_back', refund_due: 1 })
      await repo.touchOrder(tx, payment.order_id, now)
    }
    write.record('plan.cancelled', actor.ownerId, { refund: found?.amount ?? 0 })
    return found
  })
  if (offer && provider) {
    for (const payment of offer.payments) {
      await giveBack(payments, provider, payment.order_id)
    }
  }
  const user = await getUser(ctx, actor)
  if (!offer) return { data: { user, refund: null }, message: 'Cancelled. Premium stays until its end.' }
  const ids = new Set(offer.payments.map(({ id }) => id))
  const rows = (await repo.listActivated(ctx.db, actor)).filter(({ id }) => ids.has(id))
  const done = rows.every((row) => row.refund_due === 0)
  const price = toPrice(offer.amount, offer.currency)
  return { data: { user, refund: { ...price, done } }, message: tellRefund(price.priceFormatted, done) }
}

const tellRefund = (amount: string, done: boolean): string =>
  done
    ? `Cancelled. ${amount} is on its way back to you.`
    : `Cancelled. The payment provider could not be reached; ${amount} is given back as soon as it can be, and premium ends then.`
