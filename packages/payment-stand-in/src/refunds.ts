import type { Payment, Refund } from './entities.ts'
import { checkFields, refuse, refuseId, refuseKey } from './errors.ts'
import { makeId } from './ids.ts'
import { type Collection, type Ledger, toCollection } from './ledger.ts'
import { toNotes } from './notes.ts'
import { checkAmount } from './orders.ts'
import { getPayment } from './payments.ts'

/**
 * `POST /v1/payments/:id/refund`: https://razorpay.com/docs/api/refunds/create-normal
 * With a key: https://razorpay.com/docs/api/refunds/normal-refunds-idempotent
 */
export function requestRefund(
  ledger: Ledger,
  paymentId: string,
  body: Record<string, unknown>,
  key: string | undefined,
): Refund {
  if (key === undefined) return createRefund(ledger, paymentId, body)
  if (key.length < 10) throw refuseKey('The idempotency key must be at least 10 characters long.')
  if (!/^[\w-]+$/.test(key))
    throw refuseKey('The idempotency key must only contain alphanumeric characters, underscores, and hyphens')
  const asked = JSON.stringify([paymentId, Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1))])
  const known = ledger.refundKeys.get(key)
  if (known && known.asked !== asked)
    throw refuseKey('Different request with the same idempotency key has already been processed.', 409)
  if (known) return getRefund(ledger, known.refundId)
  const refund = createRefund(ledger, paymentId, body)
  ledger.refundKeys.set(key, { asked, refundId: refund.id })
  return refund
}

/** Refunds a captured payment fully or partially; the sum of refunds cannot exceed the payment. */
export function createRefund(ledger: Ledger, paymentId: string, body: Record<string, unknown>): Refund {
  const payment = getPayment(ledger, paymentId)
  checkFields(body, 'amount speed notes receipt reverse_all')
  if (payment.refund_status === 'full') throw refuse('The payment has been fully refunded already')
  if (payment.status !== 'captured')
    throw refuse('The payment status should be captured for action to be taken')
  const left = payment.amount - payment.amount_refunded
  const { amount = left, speed = 'normal', receipt = null } = body
  checkAmount(amount)
  if (amount < 100) throw refuse(`The amount must be at least ${payment.currency} 1.00`, { field: 'amount' })
  if (amount > left)
    throw refuse('The refund amount provided is greater than amount captured', { field: 'amount' })
  if (speed !== 'normal' && speed !== 'optimum')
    throw refuse('The selected speed is invalid.', { field: 'speed' })
  if (receipt !== null && (typeof receipt !== 'string' || receipt.length > 40))
    throw refuse('The receipt may not be greater than 40 characters.', { field: 'receipt' })
  return bookRefund(ledger, payment, { amount, speed, receipt, notes: toNotes(body.notes) })
}

/** Refunds an authorized payment that was never captured; its `captured` stays false. */
export function refundUncaptured(ledger: Ledger, paymentId: string): Refund {
  const payment = getPayment(ledger, paymentId)
  if (payment.status !== 'authorized') throw refuse('Only an authorized payment is refunded automatically')
  return bookRefund(ledger, payment, { amount: payment.amount, speed: 'normal', receipt: null, notes: [] })
}

function bookRefund(
  ledger: Ledger,
  payment: Payment,
  { speed, ...asked }: Pick<Refund, 'amount' | 'receipt' | 'notes'> & { speed: 'normal' | 'optimum' },
): Refund {
  const refund: Refund = {
    id: makeId('rfnd'),
    entity: 'refund',
    currency: payment.currency,
    payment_id: payment.id,
    ...asked,
    acquirer_data: { arn: null },
    created_at: ledger.now(),
    batch_id: null,
    status: ledger.refundsStart,
    speed_processed: speed === 'optimum' ? 'instant' : 'normal',
    speed_requested: speed,
  }
  ledger.refunds.set(refund.id, refund)
  countRefunded(payment, refund.amount)
  ledger.emit('refund.created', { refund, payment })
  if (refund.status === 'processed') ledger.emit('refund.processed', { refund, payment })
  return refund
}

/** Sets `refunded` only when the full amount is refunded; otherwise the status stays `captured`. */
function countRefunded(payment: Payment, amount: number): void {
  payment.amount_refunded += amount
  const { amount_refunded: refunded } = payment
  payment.refund_status = refunded === 0 ? null : refunded === payment.amount ? 'full' : 'partial'
  if (payment.refund_status === 'full') payment.status = 'refunded'
  else if (payment.status === 'refunded') payment.status = payment.captured ? 'captured' : 'authorized'
}

/** Processes or fails a refund; the amount of a failed one returns to the merchant. */
export function finishRefund(ledger: Ledger, id: string, status: 'processed' | 'failed'): Refund {
  const refund = getRefund(ledger, id)
  const payment = getPayment(ledger, refund.payment_id)
  if (refund.status === status) return refund
  if (refund.status === 'failed') throw refuse('The refund has failed already')
  refund.status = status
  if (status === 'failed') countRefunded(payment, -refund.amount)
  ledger.emit(`refund.${status}`, { refund, payment })
  return refund
}

export function getRefund(ledger: Ledger, id: string): Refund {
  const refund = ledger.refunds.get(id)
  if (!refund) throw refuseId(id)
  return refund
}

/** `GET /v1/payments/:id/refunds`, newest first: https://razorpay.com/docs/api/refunds/fetch-multiple-refund-payment */
export function listPaymentRefunds(ledger: Ledger, paymentId: string): Collection<Refund> {
  getPayment(ledger, paymentId)
  return toCollection(
    [...ledger.refunds.values()].reverse().filter((refund) => refund.payment_id === paymentId),
  )
}
