import type { Payment, PaymentMethod } from './entities.ts'
import { checkFields, refuse, refuseId } from './errors.ts'
import { makeCode, makeId } from './ids.ts'
import type { Ledger } from './ledger.ts'
import { checkAmount, getOrder } from './orders.ts'

/** Why a payment failed, as the provider reports it. */
export interface Failure {
  code: string
  description: string
  source: string
  step: string
  reason: string
}

const declined: Failure = {
  code: 'BAD_REQUEST_ERROR',
  description: "Your payment didn't go through as it was declined by the bank. Try another payment method.",
  source: 'bank',
  step: 'payment_authorization',
  reason: 'payment_failed',
}

const orderPaid =
  'Your payment has been declined as the order is already paid. Please initiate the payment with a new order.'

/** A customer's payment attempt in the checkout. */
export interface Attempt {
  /** Final status of the payment; default `captured`, as with automatic capture. */
  status?: 'captured' | 'authorized' | 'failed'
  /** Default: the order's amount and currency; the real checkout cannot change them. */
  amount?: number
  currency?: string
  method?: PaymentMethod
  email?: string
  contact?: string
  notes?: Record<string, string>
  failure?: Partial<Failure>
  /** Pays an order that is already paid, as two open checkouts can. */
  evenIfPaid?: boolean
}

/** Creates a payment for an order and emits the events of each step. */
export function attemptPayment(ledger: Ledger, orderId: string, attempt: Attempt): Payment {
  const order = getOrder(ledger, orderId)
  const { status = 'captured', method = 'card', amount = order.amount } = attempt
  checkAmount(amount)
  if (order.status === 'paid' && !attempt.evenIfPaid) throw refuse(orderPaid)
  const payment: Payment = {
    id: makeId('pay'),
    entity: 'payment',
    amount,
    currency: attempt.currency ?? order.currency,
    status: 'created',
    order_id: order.id,
    invoice_id: null,
    international: false,
    method,
    amount_refunded: 0,
    refund_status: null,
    captured: false,
    description: null,
    card_id: method === 'card' || method === 'emi' ? `card_${makeCode()}` : null,
    bank: method === 'netbanking' ? 'HDFC' : null,
    wallet: method === 'wallet' ? 'payzapp' : null,
    vpa: method === 'upi' ? 'customer@upi' : null,
    email: attempt.email ?? 'customer@example.com',
    contact: attempt.contact ?? '+919900000000',
    notes: attempt.notes ?? [],
    fee: null,
    tax: null,
    error_code: null,
    error_description: null,
    error_source: null,
    error_step: null,
    error_reason: null,
    acquirer_data: method === 'card' ? { auth_code: null } : {},
    created_at: ledger.now(),
    provider: null,
    reward: null,
  }
  ledger.payments.set(payment.id, payment)
  order.attempts += 1
  if (order.status === 'created') order.status = 'attempted'
  if (status === 'failed') failPayment(ledger, payment, attempt.failure)
  else authorizePayment(ledger, payment)
  if (status === 'captured') settlePayment(ledger, payment)
  return payment
}

function failPayment(ledger: Ledger, payment: Payment, failure: Partial<Failure> = {}): void {
  const { code, description, source, step, reason } = { ...declined, ...failure }
  Object.assign(payment, {
    status: 'failed',
    error_code: code,
    error_description: description,
    error_source: source,
    error_step: step,
    error_reason: reason,
  })
  ledger.emit('payment.failed', { payment })
}

function authorizePayment(ledger: Ledger, payment: Payment): void {
  payment.status = 'authorized'
  ledger.emit('payment.authorized', { payment })
}

/** A failed payment that succeeds later: https://razorpay.com/docs/payments/payments/late-authorisation */
export function authorizeLate(ledger: Ledger, id: string, status: 'authorized' | 'captured'): Payment {
  const payment = getPayment(ledger, id)
  if (payment.status !== 'failed') throw refuse('Only a failed payment can be authorized late')
  Object.assign(payment, {
    late_authorized: true,
    error_code: null,
    error_description: null,
    error_source: null,
    error_step: null,
    error_reason: null,
  })
  authorizePayment(ledger, payment)
  if (status === 'captured') settlePayment(ledger, payment)
  return payment
}

/** Settles a captured payment: a fee of two percent plus tax; marks the order as paid. */
function settlePayment(ledger: Ledger, payment: Payment): void {
  const order = getOrder(ledger, payment.order_id)
  const fee = Math.floor((payment.amount * 2) / 100)
  payment.tax = Math.floor((fee * 18) / 100)
  payment.fee = fee + payment.tax
  payment.status = 'captured'
  payment.captured = true
  payment.base_amount = payment.amount
  payment.amount_transferred = 0
  ledger.emit('payment.captured', { payment })
  order.amount_paid += payment.amount
  order.amount_due = Math.max(0, order.amount - order.amount_paid)
  if (order.status === 'paid' || order.amount_due > 0) return
  order.status = 'paid'
  ledger.emit('order.paid', { payment, order })
}

/** `POST /v1/payments/:id/capture`: https://razorpay.com/docs/api/payments/capture */
export function capturePayment(ledger: Ledger, id: string, body: Record<string, unknown>): Payment {
  const payment = getPayment(ledger, id)
  const { amount, currency } = body
  checkFields(body, 'amount currency')
  checkAmount(amount)
  if (payment.captured) throw refuse('This payment has already been captured')
  if (payment.status !== 'authorized')
    throw refuse('Only payments which have been authorized and not yet captured can be captured')
  if (getOrder(ledger, payment.order_id).status === 'paid') throw refuse(orderPaid)
  if (amount !== payment.amount)
    throw refuse('Capture amount must be equal to the amount authorized', { field: 'amount' })
  if (currency === undefined) throw refuse('currency: is required.', { field: 'currency' })
  if (currency !== payment.currency)
    throw refuse('Capture currency must be equal to the currency authorized', { field: 'currency' })
  settlePayment(ledger, payment)
  return payment
}

export function getPayment(ledger: Ledger, id: string): Payment {
  const payment = ledger.payments.get(id)
  if (!payment) throw refuseId(id)
  return payment
}
