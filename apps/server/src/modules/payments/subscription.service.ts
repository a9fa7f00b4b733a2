import type { Subscription } from '@keyward/contract'
import { toIso } from '../../core/clock.ts'
import type { Ctx, OwnerScope } from '../../core/ctx.ts'
import { toPrice } from '../../core/money.ts'
import * as repo from './payments.repo.ts'
import { isRefunded, moneyBackUntil } from './payments.rules.ts'

export { endPeriods } from './payments.repo.ts'

/** What the payments of an owner add to the state of the plan. */
export type Paid = Pick<Subscription, 'orderId' | 'paymentId' | 'moneyBack'>

export async function getPaid(ctx: Ctx, scope: OwnerScope): Promise<Paid> {
  const payments = await repo.listActivated(ctx.db, scope)
  const last = payments.at(-1)
  const offer = moneyBackOffer(ctx, payments)
  return {
    orderId: last?.provider_order_id ?? null,
    paymentId: last?.provider_payment_id ?? null,
    moneyBack: offer && { ...toPrice(offer.amount, offer.currency), until: toIso(offer.until) },
  }
}

export interface MoneyBackOffer {
  until: number
  amount: number
  currency: string
  payments: repo.ActivatedRow[]
}

/** What cancelling now refunds: everything paid within the guarantee; null for nothing. */
export function moneyBackOffer(
  { config, clock }: Pick<Ctx, 'config' | 'clock'>,
  activated: repo.ActivatedRow[],
): MoneyBackOffer | null {
  const own = activated.filter(({ provider }) => provider === config.payments.mode)
  const until = moneyBackUntil(own[0]?.activated_at ?? null, clock.now())
  // What a dispute may take is not given back besides.
  const payments = own.filter(
    (payment) => !isRefunded(payment) && payment.refund_due === 0 && payment.dispute !== 'open',
  )
  const [first] = payments
  if (until === undefined || first === undefined) return null
  const { currency } = first
  const same = payments.filter((payment) => payment.currency === currency)
  const amount = same.reduce((sum, payment) => sum + payment.amount - payment.amount_refunded, 0)
  return { until, amount, currency, payments: same }
}
