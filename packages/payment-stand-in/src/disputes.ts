import type { Dispute } from './entities.ts'
import { refuse, refuseId } from './errors.ts'
import { makeId } from './ids.ts'
import type { Ledger } from './ledger.ts'
import { checkAmount } from './orders.ts'
import { getPayment } from './payments.ts'

const weekSeconds = 7 * 24 * 60 * 60

/** Opens a dispute, as the customer's bank does. */
export function openDispute(
  ledger: Ledger,
  paymentId: string,
  asked: { amount?: number; reasonCode?: string; phase?: Dispute['phase'] },
): Dispute {
  const payment = getPayment(ledger, paymentId)
  if (!payment.captured) throw refuse('Only a captured payment can be disputed')
  const { amount = payment.amount, reasonCode = 'chargeback', phase = 'chargeback' } = asked
  checkAmount(amount)
  const dispute: Dispute = {
    id: makeId('disp'),
    entity: 'dispute',
    payment_id: payment.id,
    amount,
    currency: payment.currency,
    amount_deducted: 0,
    reason_code: reasonCode,
    reason_description: 'The customer does not recognize the payment',
    respond_by: ledger.now() + weekSeconds,
    status: 'open',
    phase,
    created_at: ledger.now(),
    evidence: {
      amount,
      summary: null,
      shipping_proof: null,
      billing_proof: null,
      cancellation_proof: null,
      customer_communication: null,
      proof_of_service: null,
      explanation_letter: null,
      refund_confirmation: null,
      access_activity_log: null,
      refund_cancellation_policy: null,
      term_and_conditions: null,
      others: null,
      submitted_at: null,
    },
  }
  ledger.disputes.set(dispute.id, dispute)
  ledger.emit('payment.dispute.created', { payment, dispute })
  return dispute
}

/** Closes a dispute; only a lost one takes money from the merchant. */
export function closeDispute(ledger: Ledger, id: string, outcome: 'won' | 'lost'): Dispute {
  const dispute = getDispute(ledger, id)
  if (dispute.status === 'won' || dispute.status === 'lost') throw refuse('The dispute is closed already')
  dispute.status = outcome
  dispute.amount_deducted = outcome === 'lost' ? dispute.amount : 0
  ledger.emit(`payment.dispute.${outcome}`, { payment: getPayment(ledger, dispute.payment_id), dispute })
  return dispute
}

/** `GET /v1/disputes/:id`: https://razorpay.com/docs/api/disputes/fetch-with-id */
export function getDispute(ledger: Ledger, id: string): Dispute {
  const dispute = ledger.disputes.get(id)
  if (!dispute) throw refuseId(id)
  return dispute
}
