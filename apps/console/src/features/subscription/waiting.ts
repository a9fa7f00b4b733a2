import type { Payment, Subscription } from '@keyward/contract'

/** A payment that the provider has not confirmed yet. */
export interface Waiting {
  ownerId: string
  orderId: string
  paymentId: string
  /** Milliseconds since 1970. */
  since: number
}

/** How long to poll the server. */
export const pollMs = 5 * 60_000
/** How long to block a second payment while the first waits for confirmation. */
const keptMs = 30 * 60_000
const key = 'keyward-payment-waiting'

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

/** The outcome of the payment; undefined while the server has not reported it. */
export function outcomeOf(
  { orderId, paymentId }: { orderId: string; paymentId?: string | undefined },
  subscription: Pick<Subscription, 'orderId' | 'hasActiveSubscription'> | undefined,
  payments: Pick<Payment, 'paymentId' | 'status'>[] | undefined,
): Outcome | undefined {
  if (subscription?.hasActiveSubscription && subscription.orderId === orderId) return 'active'
  // Ignore other attempts to pay the same order.
  const status = payments?.find((payment) => payment.paymentId === paymentId)?.status
  if (status === 'failed') return 'failed'
  return status === 'refunding' || status === 'refunded' || status === 'charged_back' ? 'returned' : undefined
}
