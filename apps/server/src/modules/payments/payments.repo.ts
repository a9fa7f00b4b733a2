import { sql } from 'kysely'
import type { OfOwner } from '../../core/actor.ts'
import type { Db, Tx } from '../../db/index.ts'
import type { OrderRow, PaymentRow } from '../../db/tables.ts'

// Functions that take a bare order id have no scope: the payment pipeline acts for the provider, and every order id
// in it was read from the database, within the owner's scope or by the provider's signed event.

export type NewOrder = Omit<OrderRow, 'provider_order_id' | 'checks' | 'version'>
export type PaymentChange = Partial<Omit<PaymentRow, 'id' | 'order_id' | 'owner_id' | 'provider_payment_id'>>

/** Expires open orders whose time has passed, which frees their coupons. */
export async function expireOrders(tx: Tx, scope: OfOwner, now: number): Promise<void> {
  await tx
    .updateTable('payment_orders')
    .set({ status: 'expired' })
    .where('owner_id', '=', scope.ownerId)
    .where('status', '=', 'open')
    .where('expires_at', '<=', now)
    .execute()
}

type Offer = Pick<OrderRow, 'provider' | 'plan_duration' | 'amount' | 'currency' | 'coupon_code'>

export const findOpenOrder = (tx: Tx, scope: OfOwner, offer: Offer): Promise<OrderRow | undefined> =>
  tx
    .selectFrom('payment_orders')
    .selectAll()
    .where('owner_id', '=', scope.ownerId)
    .where('status', '=', 'open')
    .where('provider', '=', offer.provider)
    .where('plan_duration', '=', offer.plan_duration)
    .where('amount', '=', offer.amount)
    .where('currency', '=', offer.currency)
    .where('coupon_code', '=', offer.coupon_code)
    .executeTakeFirst()

export async function insertOrder(tx: Tx, order: NewOrder): Promise<void> {
  await tx.insertInto('payment_orders').values(order).execute()
}

/** Marks an order as failed after the provider rejected it, unless a concurrent request has created it there. */
export async function failOrder(db: Db, id: string): Promise<void> {
  await db
    .updateTable('payment_orders')
    .set({ status: 'failed', next_check_at: null })
    .where('id', '=', id)
    .where('provider_order_id', 'is', null)
    .execute()
}

/** Stores the provider's id unless a concurrent request has stored one; returns the current order. */
export async function setProviderOrderId(tx: Tx, id: string, providerOrderId: string): Promise<OrderRow> {
  await tx
    .updateTable('payment_orders')
    .set({ provider_order_id: providerOrderId })
    .where('id', '=', id)
    .where('provider_order_id', 'is', null)
    .where('status', '<>', 'failed')
    .execute()
  return getOrder(tx, id)
}

export const updateOrder = (
  db: Db,
  id: string,
  change: Partial<Pick<OrderRow, 'status' | 'next_check_at' | 'version'>>,
): Promise<unknown> => db.updateTable('payment_orders').set(change).where('id', '=', id).execute()

export const getOrder = (db: Db, id: string): Promise<OrderRow> =>
  db.selectFrom('payment_orders').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

/** Reads an order and locks the row until the transaction ends. */
export const lockOrder = (tx: Tx, id: string): Promise<OrderRow> =>
  tx.updateTable('payment_orders').set({ id }).where('id', '=', id).returningAll().executeTakeFirstOrThrow()

type Provider = OrderRow['provider']

/** Finds an order of this owner by the provider's id. */
export const findOrder = (
  db: Db,
  scope: OfOwner,
  provider: Provider,
  providerOrderId: string,
): Promise<OrderRow | undefined> =>
  db
    .selectFrom('payment_orders')
    .selectAll()
    .where('owner_id', '=', scope.ownerId)
    .where('provider', '=', provider)
    .where('provider_order_id', '=', providerOrderId)
    .executeTakeFirst()

/** Finds an order of any owner by the provider's id, for the provider's own events. */
export const findProviderOrder = (
  db: Db,
  provider: Provider,
  providerOrderId: string,
): Promise<OrderRow | undefined> =>
  db
    .selectFrom('payment_orders')
    .selectAll()
    .where('provider', '=', provider)
    .where('provider_order_id', '=', providerOrderId)
    .executeTakeFirst()

/** Claims orders whose recheck is due; another node gets them only if this one does not finish in time. */
export async function claimDueOrders(
  tx: Tx,
  provider: Provider,
  { now, until, count }: { now: number; until: number; count: number },
): Promise<OrderRow[]> {
  const due = await tx
    .selectFrom('payment_orders')
    .select('id')
    .where('next_check_at', '<=', now)
    .where('provider', '=', provider)
    .orderBy('next_check_at')
    .limit(count)
    .execute()
  if (due.length === 0) return []
  return tx
    .updateTable('payment_orders')
    .set({ next_check_at: until, checks: sql`checks + 1` })
    .where(
      'id',
      'in',
      due.map(({ id }) => id),
    )
    .where('next_check_at', '<=', now)
    .returningAll()
    .execute()
}

/** Reschedules the check of an order, unless it was rescheduled meanwhile. */
export async function postponeOrder(
  db: Db,
  { id, next_check_at }: OrderRow,
  at: number | null,
): Promise<void> {
  await db
    .updateTable('payment_orders')
    .set({ next_check_at: at })
    .where('id', '=', id)
    .where('next_check_at', '=', next_check_at)
    .execute()
}

export const findPayment = (
  db: Db,
  orderId: string,
  providerPaymentId: string,
): Promise<PaymentRow | undefined> =>
  db
    .selectFrom('payments')
    .selectAll()
    .where('order_id', '=', orderId)
    .where('provider_payment_id', '=', providerPaymentId)
    .executeTakeFirst()

export async function insertPayment(tx: Tx, payment: PaymentRow): Promise<void> {
  await tx.insertInto('payments').values(payment).execute()
}

export async function updatePayment(tx: Tx, id: string, change: PaymentChange): Promise<PaymentRow> {
  return tx.updateTable('payments').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
}

/** Payments of an order that are to be refunded. */
export const listRefundsDue = (db: Db, orderId: string): Promise<PaymentRow[]> =>
  db.selectFrom('payments').selectAll().where('order_id', '=', orderId).where('refund_due', '=', 1).execute()

/** Payments with their orders, newest first. */
export const listPayments = (db: Db, scope: OfOwner) =>
  db
    .selectFrom('payments as p')
    .innerJoin('payment_orders as o', 'o.id', 'p.order_id')
    .selectAll('p')
    .select([
      'o.provider',
      'o.provider_order_id',
      'o.receipt',
      'o.plan_duration',
      'o.list_amount',
      'o.coupon_code',
      'o.discount',
    ])
    .where('p.owner_id', '=', scope.ownerId)
    .orderBy('p.created_at', 'desc')
    .orderBy('p.id', 'desc')
    .execute()

export type HistoryRow = Awaited<ReturnType<typeof listPayments>>[number]

/** Payments that started a premium period, oldest first, with their provider. */
export const listActivated = (db: Db, scope: OfOwner) =>
  db
    .selectFrom('payments as p')
    .innerJoin('payment_orders as o', 'o.id', 'p.order_id')
    .selectAll('p')
    .select(['o.provider', 'o.provider_order_id'])
    .where('p.owner_id', '=', scope.ownerId)
    .where('p.activated_at', 'is not', null)
    .orderBy('p.activated_at')
    .orderBy('p.id')
    .execute()

export type ActivatedRow = Awaited<ReturnType<typeof listActivated>>[number]

/** Invalidates reports that were fetched before, and schedules a recheck. */
export async function touchOrder(db: Db, id: string, now: number): Promise<void> {
  await db
    .updateTable('payment_orders')
    .set({ version: sql`version + 1`, next_check_at: now })
    .where('id', '=', id)
    .execute()
}

/** Whether refunds of an order are due, and when the last period paid by it ends. */
export async function summarize(
  db: Db,
  orderId: string,
): Promise<{ refundsDue: boolean; lastPeriodEnd: number | null }> {
  const { due, lastEnd } = await db
    .selectFrom('payments')
    .select(({ fn }) => [
      fn.max<number | null>('refund_due').as('due'),
      fn.max<number | null>('period_end').as('lastEnd'),
    ])
    .where('order_id', '=', orderId)
    .executeTakeFirstOrThrow()
  return { refundsDue: due === 1, lastPeriodEnd: lastEnd }
}

/** Shifts all periods that begin at `from` or later. */
export async function shiftPeriods(tx: Tx, scope: OfOwner, from: number, byMs: number): Promise<void> {
  await tx
    .updateTable('payments')
    .set({ period_start: sql`period_start + ${byMs}`, period_end: sql`period_end + ${byMs}` })
    .where('owner_id', '=', scope.ownerId)
    .where('taken_back_ms', 'is', null)
    .where('period_start', '>=', from)
    .execute()
}

/** Whether an order can still be paid, or a payment is neither settled nor refunded. */
export async function hasUnsettled(db: Db, { ownerId }: OfOwner, now: number): Promise<boolean> {
  const order = await db
    .selectFrom('payment_orders')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where('status', '=', 'open')
    .where('expires_at', '>', now)
    .executeTakeFirst()
  const payment = await db
    .selectFrom('payments')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where((eb) =>
      eb.or([
        eb('status', 'in', ['created', 'authorized']),
        eb('refund_due', '=', 1),
        eb('dispute', '=', 'open'),
      ]),
    )
    .executeTakeFirst()
  return order !== undefined || payment !== undefined
}
