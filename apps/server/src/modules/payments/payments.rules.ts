import { limits, type PaymentStatus } from '@keyward/contract'
import { day, hour, minute } from '../../core/clock.ts'
import type { OrderRow, PaymentRow } from '../../db/tables.ts'
import { isForever } from '../owners/plan.rules.ts'
import type { ProviderPayment } from './payments.provider.ts'
import { termDays } from './pricing.rules.ts'

/** The provider's minimum charge, in the currency's smallest unit. */
export const smallestCharge = 100

/** How long an open order is reused and holds its coupon. */
export const orderLifetimeMs = 15 * minute

/** The discounted amount in the currency's smallest unit, rounded down. */
export const discounted = (amount: number, percent: number): number =>
  Math.floor((amount * (100 - percent)) / 100)

/** When another period can start: at the end of premium, or immediately if premium has no end. */
export const startOfNext = (premiumUntil: number | null, now: number): number =>
  isForever(premiumUntil) ? now : Math.max(now, premiumUntil ?? 0)

/** A new period begins when the current one ends. */
export function nextPeriod(
  premiumUntil: number | null,
  duration: OrderRow['plan_duration'],
  now: number,
): { start: number; end: number } {
  const start = startOfNext(premiumUntil, now)
  return { start, end: start + termDays[duration] * day }
}

/** The unused part of a paid period, in milliseconds. */
export const remainingOf = (period: { start: number; end: number }, now: number): number =>
  Math.max(0, period.end - Math.max(now, period.start))

/** Whether the money was ever captured. */
export const isTaken = ({ status }: Pick<ProviderPayment, 'status'>): boolean =>
  status === 'captured' || status === 'refunded'

/** The money was refunded or lost in a dispute; less than the smallest charge cannot be refunded. */
export const isRefunded = (payment: { amount: number; amount_refunded: number; dispute: string | null }) =>
  payment.amount - payment.amount_refunded < smallestCharge || payment.dispute === 'lost'

export function statusOf(payment: PaymentRow): PaymentStatus {
  if (payment.status === 'failed') return 'failed'
  if (!isTaken(payment)) return 'pending'
  if (payment.dispute === 'lost') return 'charged_back'
  if (isRefunded(payment)) return 'refunded'
  if (payment.refund_due === 1) return 'refunding'
  return payment.amount_refunded > 0 ? 'partially_refunded' : 'paid'
}

const reasons: Record<NonNullable<PaymentRow['refund_reason']>, string> = {
  money_back: 'Refunded within the money-back guarantee.',
  second: 'The order was already paid; this second payment is refunded.',
  different: 'The payment does not match the order and is refunded.',
}

/** What the buyer should know about a payment beyond its status. */
export function noteOf(payment: PaymentRow): string | null {
  if (payment.refund_reason) return reasons[payment.refund_reason]
  return payment.status === 'failed' ? payment.failure : null
}

/** Until when cancelling refunds the money; undefined if nothing was paid or the guarantee has ended. */
export function moneyBackUntil(firstPaidAt: number | null, now: number): number | undefined {
  if (firstPaidAt === null) return undefined
  const until = firstPaidAt + limits.moneyBackDays * day
  return until > now ? until : undefined
}

/** The waits between rechecks of an order: short at first, for lost answers; then long, for refunds. */
const waits = [2 * minute, 3 * minute, 5 * minute, 10 * minute, 30 * minute, hour, 3 * hour, 6 * hour]
const unpaidForMs = 8 * day
/** A bank may take this long to reject a refund. */
const refundsFailForMs = 14 * day

/** When to fetch an order from the provider again; null when nothing can change anymore. */
export function nextCheck(
  order: Pick<OrderRow, 'status' | 'checks' | 'created_at'>,
  { refundsDue, lastPeriodEnd }: { refundsDue: boolean; lastPeriodEnd: number | null },
  now: number,
): number | null {
  const wait = waits[order.checks] ?? day
  if (refundsDue) return now + Math.min(wait, hour)
  if (order.status === 'failed') return null
  if (order.status === 'paid') return (lastPeriodEnd ?? 0) + refundsFailForMs > now ? now + day : null
  return now + wait - order.created_at > unpaidForMs ? null : now + wait
}
