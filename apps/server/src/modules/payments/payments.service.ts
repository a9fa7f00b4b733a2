import { type DataOf, type endpoints, formatAmount, type Payment } from '@keyward/contract'
import type { Config } from '../../config.ts'
import type { OfOwner, VendorActor } from '../../core/actor.ts'
import { toIso, toIsoOrNull } from '../../core/clock.ts'
import { toPrice } from '../../core/money.ts'
import { problem } from '../../core/problem.ts'
import type { Db } from '../../db/index.ts'
import { currentPlan, getOwner, lockOwner, setPremiumCancelled } from '../owners/owners.service.ts'
import { isEndless } from '../owners/plan.rules.ts'
import { acceptReport, sendRefunds } from './payments.pipeline.ts'
import { mockProvider, type PaymentProvider, type Payments, type ProviderWaits } from './payments.provider.ts'
import { createRazorpay } from './payments.razorpay.ts'
import * as repo from './payments.repo.ts'
import { noteOf, statusOf } from './payments.rules.ts'
import { getSubscription, moneyBackOffer, runsPaidTerm } from './subscription.service.ts'

/** Starts premium for a payment that the checkout reported; the stored order decides what was bought. Idempotent. */
export async function verify(
  payments: Payments,
  scope: OfOwner,
  report: Parameters<typeof acceptReport>[2],
): Promise<DataOf<typeof endpoints.payments.verify>> {
  const { id } = await acceptReport(payments, scope, report)
  const payment = (await listPayments(payments.ctx.db, scope)).find(({ _id }) => _id === id)
  if (!payment) throw problem('internal')
  const subscription = await getSubscription(payments.ctx, await getOwner(payments.ctx.db, scope))
  return { subscription, payment }
}

export function createProvider(
  { payments }: Pick<Config, 'payments'>,
  { callMs }: ProviderWaits,
): PaymentProvider | undefined {
  const { mode, keyId, keySecret, webhookSecret, apiUrl } = payments
  if (mode === 'mock') return mockProvider
  if (mode === 'off' || keyId === undefined || keySecret === undefined) return undefined
  return createRazorpay({ keyId, keySecret, webhookSecret, apiUrl, timeoutMs: callMs })
}

export async function listPayments(db: Db, scope: OfOwner): Promise<Payment[]> {
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
  refund: DataOf<typeof endpoints.payments.cancelSubscription>['refund']
  message: string
}

/**
 * Premium continues until its end; with `refund`, payments within the guarantee are refunded and premium ends
 * immediately.
 */
export async function cancel(
  payments: Payments,
  actor: VendorActor,
  { refund }: { refund: boolean },
): Promise<Cancelled> {
  const { ctx, provider } = payments
  const { offer, keeps } = await ctx.tx(actor, async (write) => {
    const { tx } = write
    const now = ctx.clock.now()
    const owner = await lockOwner(tx, actor)
    const current = currentPlan(ctx, owner)
    const endless = isEndless(current)
    if (current.plan === 'free') throw problem('conflict', { message: 'There is no premium plan to cancel' })
    if (endless && !refund)
      throw problem('conflict', { message: 'Your premium plan has no end, so there is nothing to cancel' })
    const activated = await repo.listActivated(tx, actor)
    const paid = runsPaidTerm(activated, now)
    if (!refund && !paid)
      throw problem('conflict', { message: 'Your premium plan was granted, so there is nothing to cancel' })
    const found = refund ? moneyBackOffer(ctx, activated) : undefined
    if (found === null)
      throw problem('conflict', { message: 'The money-back guarantee no longer covers a payment' })
    const keeps = endless || !paid
    if (!keeps) await setPremiumCancelled(tx, actor, owner.premium_cancelled_at ?? now)
    for (const payment of found?.payments ?? []) {
      await repo.updatePayment(tx, payment.id, { refund_reason: 'money_back', refund_due: 1 })
      await repo.touchOrder(tx, payment.order_id, now)
    }
    write.record('plan.cancelled', actor.ownerId, { refund: found?.amount ?? 0 })
    return { offer: found, keeps }
  })
  if (offer && provider) {
    for (const payment of offer.payments) {
      await sendRefunds(payments, provider, payment.order_id)
    }
  }
  if (!offer) return { refund: null, message: 'Cancelled. Premium stays until its end.' }
  const ids = new Set(offer.payments.map(({ id }) => id))
  const rows = (await repo.listActivated(ctx.db, actor)).filter(({ id }) => ids.has(id))
  const done = rows.every((row) => row.refund_due === 0)
  const price = toPrice(offer.amount, offer.currency)
  return { refund: { ...price, done }, message: refundMessage(price.priceFormatted, { done, keeps }) }
}

function refundMessage(amount: string, { done, keeps }: { done: boolean; keeps: boolean }): string {
  const [start, end] = keeps
    ? ['', '. Your premium plan stays.']
    : ['Cancelled. ', ', and premium ends then.']
  if (done) return `${start}${amount} is being refunded.`
  return `${start}The payment provider could not be reached; ${amount} will be refunded as soon as possible${end}`
}
