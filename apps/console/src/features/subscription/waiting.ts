import type { Payment, Subscription } from '@keyward/contract'

/** A payment that was made, and that the provider has not confirmed yet. */
export interface Waiting {
  ownerId: string
  orderId: string
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

/** How the order ended, as far as the server has told; undefined while it has not. */
export function outcomeOf(
  orderId: string,
  subscription: Pick<Subscription, 'orderId' | 'hasActiveSubscription'> | undefined,
  payments: Pick<Payment, 'orderId' | 'status'>[] | undefined,
): Outcome | undefined {
  if (subscription?.hasActiveSubscription && subscription.orderId === orderId) return 'active'
  // An order may have failed attempts before the one that counts.
  const statuses =
    payments?.filter((payment) => payment.orderId === orderId).map(({ status }) => status) ?? []
  if (statuses.length === 0 || statuses.includes('pending') || statuses.includes('paid')) return undefined
  return statuses.every((status) => status === 'failed') ? 'failed' : 'returned'
}
