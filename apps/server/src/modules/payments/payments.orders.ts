import { formatAmount, type Order } from '@keyward/contract'
import type { OfOwner, VendorActor } from '../../core/actor.ts'
import { toIso } from '../../core/clock.ts'
import { newId, newReceipt } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { OrderRow } from '../../db/tables.ts'
import type { Attempts } from '../../service/attempts.ts'
import { currentPlan, lockOwner } from '../owners/owners.service.ts'
import { isEndless } from '../owners/plan.rules.ts'
import { countingMisses, lockCoupon, refuseUnusable } from './coupons.service.ts'
import {
  type PaymentProvider,
  type Payments,
  ProviderError,
  requireProvider,
  unlessUnavailable,
} from './payments.provider.ts'
import * as repo from './payments.repo.ts'
import { discounted, nextCheck, orderLifetimeMs, smallestCharge } from './payments.rules.ts'

interface OrderRequest {
  duration: OrderRow['plan_duration']
  couponCode: string | undefined
}

/** A repeat finds the order that is open, so an Idempotency-Key stores nothing before the answer. */
const finds = { isStep: false }

/** Returns the owner's open order of this plan and coupon, or creates one that reserves a use of its coupon. */
export async function createOrder(
  payments: Payments,
  attempts: Attempts,
  actor: VendorActor,
  wanted: OrderRequest,
): Promise<Order> {
  const provider = requireProvider(payments)
  const { ctx } = payments
  const { order, isNew } = await countingMisses(attempts, actor, () =>
    ctx.tx(actor, (write) => openOrder(payments, provider, write, actor, wanted), finds),
  )
  if (order.provider_order_id !== null) return toOrder(order, provider, order.provider_order_id)
  const providerOrderId = await unlessUnavailable(payments, () =>
    orderAtProvider(payments, provider, order, isNew),
  )
  const name = ({ tx }: WriteTransaction) => repo.setProviderOrderId(tx, order.id, providerOrderId)
  const named = await ctx.tx(actor, name, finds)
  if (named.provider_order_id === null) throw problem('payment_provider_unavailable')
  return toOrder(named, provider, named.provider_order_id)
}

async function openOrder(
  { ctx }: Payments,
  provider: PaymentProvider,
  write: WriteTransaction,
  scope: OfOwner,
  { duration, couponCode }: OrderRequest,
): Promise<{ order: OrderRow; isNew: boolean }> {
  const { tx } = write
  const now = ctx.clock.now()
  if (isEndless(currentPlan(ctx, await lockOwner(tx, scope)))) {
    throw problem('conflict', { message: 'Your premium plan has no end, so there is nothing to buy' })
  }
  await repo.expireOrders(tx, scope, now)
  const { currency, [duration]: listAmount } = ctx.config.prices
  const coupon = couponCode === undefined ? undefined : await lockCoupon(tx, couponCode)
  const offer = {
    provider: provider.name,
    plan_duration: duration,
    amount: discounted(listAmount, coupon?.percent ?? 0),
    currency,
    coupon_code: coupon?.code ?? '',
  }
  const open = await repo.findOpenOrder(tx, scope, offer)
  if (open) return { order: open, isNew: false }
  if (coupon) await refuseUnusable(tx, coupon, { scope, now, withOwnOpen: true })
  if (offer.amount < smallestCharge) {
    throw problem('invalid_coupon', { message: 'With this coupon the price is below the minimum charge' })
  }
  const order: repo.NewOrder = {
    ...offer,
    id: newId('ord'),
    owner_id: scope.ownerId,
    receipt: newReceipt(now),
    status: 'open',
    list_amount: listAmount,
    discount: coupon?.percent ?? 0,
    created_at: now,
    expires_at: now + orderLifetimeMs,
    next_check_at: nextCheck(
      { status: 'open', checks: 0, created_at: now },
      { refundsDue: false, lastPeriodEnd: null },
      now,
    ),
  }
  await repo.insertOrder(tx, order)
  write.record('order.created', order.id, { duration, amount: order.amount, currency })
  return { order: { ...order, provider_order_id: null, checks: 0, version: 0 }, isNew: true }
}

/** Looks the order up by its receipt first if an earlier creation may have succeeded without an answer. */
async function orderAtProvider(
  { ctx }: Payments,
  provider: PaymentProvider,
  order: OrderRow,
  isNew: boolean,
): Promise<string> {
  const { amount, currency, receipt } = order
  try {
    const found = isNew ? undefined : await provider.findOrder(receipt)
    return found ?? (await provider.createOrder({ amount, currency, receipt }))
  } catch (error) {
    if (isNew && error instanceof ProviderError && error.refused) await repo.failOrder(ctx.db, order.id)
    throw error
  }
}

const toOrder = (order: OrderRow, provider: PaymentProvider, orderId: string): Order => ({
  orderId,
  amount: order.amount,
  currency: order.currency,
  priceFormatted: formatAmount(order.amount, order.currency),
  keyId: provider.keyId,
  isDevelopmentMode: provider.name === 'mock',
  planDuration: order.plan_duration,
  listAmount: order.list_amount,
  couponCode: order.coupon_code || null,
  discount: order.discount,
  expiresAt: toIso(order.expires_at),
})
