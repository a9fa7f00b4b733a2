import type { Payment, Subscription } from '@keyward/contract'

/** A payment that was made, and that the provider has not confirmed yet. */
export interface Waiting {
  ownerId: string
  orderId: string
  paymentId: string
  /** Milliseconds since 1970. */
  since: number
}

/** For so long the server is asked every few seconds. */
export const pollMs = 5 * 60_000
/** For so long no second payment is taken for the one that is waited for. */
const keptMs = 30 * 60_000
const key = 'keyward-payment-waiting'

/** A reload does not end the wait. */
export function readWaiting(ownerId: string): Waiting | undefined {
  try {
    const kept: Waiting | null = JSON.parse(sessionStorage.getItem(key) ?? 'null')
    return kept?.ownerId === ownerId && Date.now() - kept.since < keptMs ? kept : undefined
  } catch {
    return undefined
  }
}

export function writeWaiting(waiting: Waiting | undefined) {
  try {
    if (waiting) sessionStorage.setItem(key, JSON.stringify(waiting))
    else sessionStorage.removeItem(key)
  } catch {}
}

export type Outcome = 'active' | 'failed' | 'returned'

/** How the payment ended, as far as the server has told; undefined while it has not. */
export function outcomeOf(
  { orderId, paymentId }: { orderId: string; paymentId?: string | undefined },
  subscription: Pick<Subscription, 'orderId' | 'hasActiveSubscription'> | undefined,
  payments: Pick<Payment, 'paymentId' | 'status'>[] | undefined,
): Outcome | undefined {
  if (subscription?.hasActiveSubscription && subscription.orderId === orderId) return 'active'
  // Other attempts to pay the same order say nothing of this one.
  const status = payments?.find((payment) => payment.paymentId === paymentId)?.status
  if (status === 'failed') return 'failed'
  return status === 'refunding' || status === 'refunded' || status === 'charged_back' ? 'returned' : undefined
}
