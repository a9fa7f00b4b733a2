import type { Payment, PaymentStatus } from '@keyward/contract'
import type { Tone } from '../../ui/badge.tsx'

export const statusFacts: Record<PaymentStatus, { label: string; tone: Tone }> = {
  paid: { label: 'Paid', tone: 'success' },
  pending: { label: 'Pending', tone: 'warning' },
  failed: { label: 'Failed', tone: 'danger' },
  refunding: { label: 'Refunding', tone: 'accent' },
  refunded: { label: 'Refunded', tone: 'neutral' },
  partially_refunded: { label: 'Partially refunded', tone: 'neutral' },
  charged_back: { label: 'Charged back', tone: 'danger' },
}

/** Captured payments have a receipt, even after a refund. */
export const hasReceipt = ({ status }: Pick<Payment, 'status'>) => status !== 'pending' && status !== 'failed'

export const termLabel = ({ planDuration }: Pick<Payment, 'planDuration'>) =>
  planDuration === 'yearly' ? 'Premium, yearly' : 'Premium, monthly'

const methods: Record<string, string> = {
  card: 'Card',
  upi: 'UPI',
  netbanking: 'Net banking',
  wallet: 'Wallet',
  emi: 'EMI',
  paylater: 'Pay later',
}

export function methodLabel({ method, isDevelopmentMode }: Pick<Payment, 'method' | 'isDevelopmentMode'>) {
  if (isDevelopmentMode) return 'Simulated'
  return method === null ? '—' : (methods[method] ?? method)
}
