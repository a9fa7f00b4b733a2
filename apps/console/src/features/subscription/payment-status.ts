import type { Payment, PaymentStatus } from '@keyward/contract'
import { serverNow } from '../../lib/api/server-time.ts'
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

/** The paid terms that have not ended, in their order: 'Monthly', or 'Monthly, then yearly'. */
export function termsOf(payments: readonly Pick<Payment, 'status' | 'periodEnd' | 'planDuration'>[]) {
  const running = payments
    .map(({ status, periodEnd, planDuration }) => ({
      status,
      planDuration,
      end: Date.parse(periodEnd ?? ''),
    }))
    .filter(({ status, end }) => status === 'paid' && end > serverNow())
    .toSorted((one, other) => one.end - other.end)
  const text = running.map(({ planDuration }) => planDuration).join(', then ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

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
