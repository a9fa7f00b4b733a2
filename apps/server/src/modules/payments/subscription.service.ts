import type { Subscription } from '@keyward/contract'
import { sql } from 'kysely'
import type { OfOwner } from '../../core/actor.ts'
import { toIso, toIsoOrNull } from '../../core/clock.ts'
import { toPrice } from '../../core/money.ts'
import type { Db, Tx } from '../../db/index.ts'
import type { OwnerRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { currentPlan } from '../owners/owners.service.ts'
import { limitOrNull, limitsOf } from '../owners/plan.rules.ts'
import * as repo from './payments.repo.ts'
import { isRefunded, moneyBackUntil } from './payments.rules.ts'

/** The owner's plan with details of its payments. */
export async function getSubscription(ctx: Ctx, owner: OwnerRow): Promise<Subscription> {
  const { plan, until } = currentPlan(ctx, owner)
  const isPremium = plan === 'premium'
  const { maxApps, maxLicensesPerApp } = limitsOf(plan, owner)
  const payments = await repo.listActivated(ctx.db, { ownerId: owner.id })
  const last = payments.at(-1)
  const offer = isPremium ? moneyBackOffer(ctx, payments) : null
  return {
    plan,
    expiryDate: toIsoOrNull(until),
    subscriptionId: null,
    hasActiveSubscription: isPremium,
    source: isPremium ? sourceOf(ctx, payments) : null,
    appLimit: limitOrNull(maxApps),
    licenseLimitPerApp: limitOrNull(maxLicensesPerApp),
    orderId: last?.provider_order_id ?? null,
    paymentId: last?.provider_payment_id ?? null,
    cancelledAt: toIsoOrNull(until === null ? null : owner.premium_cancelled_at),
    endedAt: toIsoOrNull(isPremium ? null : owner.premium_until),
    moneyBack: offer && { ...toPrice(offer.amount, offer.currency), until: toIso(offer.until) },
  }
}

/** Whether a term that was bought, and not refunded since, has not ended yet. */
export const runsPaidTerm = (activated: repo.ActivatedRow[], now: number): boolean =>
  activated.some((payment) => (payment.period_end ?? 0) > now && !isRefunded(payment))

function sourceOf({ config, clock }: Ctx, payments: repo.ActivatedRow[]): Subscription['source'] {
  if (runsPaidTerm(payments, clock.now())) return 'payment'
  return config.defaultPlan === 'premium' ? 'server' : 'grant'
}

/** Whether a payment or a refund of the vendor account is on its way. */
export const awaitsPayment = ({ clock }: Pick<Ctx, 'clock'>, db: Db, scope: OfOwner): Promise<boolean> =>
  repo.hasUnsettled(db, scope, clock.now())

export interface MoneyBackOffer {
  until: number
  amount: number
  currency: string
  payments: repo.ActivatedRow[]
}

/** What cancelling now refunds: every payment within the guarantee; null for nothing. */
export function moneyBackOffer(
  { config, clock }: Pick<Ctx, 'config' | 'clock'>,
  activated: repo.ActivatedRow[],
): MoneyBackOffer | null {
  const own = activated.filter(({ provider }) => provider === config.payments.mode)
  const until = moneyBackUntil(own[0]?.activated_at ?? null, clock.now())
  // An open dispute may already take the same money.
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

/** Ends every paid period, because a plan set by the operator overrides them. */
export async function endPeriods(tx: Tx, scope: OfOwner, now: number): Promise<void> {
  await tx
    .updateTable('payments')
    .set({
      period_start: sql`case when period_start < ${now} then period_start else ${now} end`,
      period_end: now,
    })
    .where('owner_id', '=', scope.ownerId)
    .where('period_end', '>', now)
    .execute()
  await tx
    .updateTable('payments')
    .set({ taken_back_ms: 0 })
    .where('owner_id', '=', scope.ownerId)
    .where('taken_back_ms', '>', 0)
    .execute()
}
