import type { Subscription } from '@keyward/contract'

type Facts = Pick<
  Subscription,
  'hasActiveSubscription' | 'source' | 'expiryDate' | 'cancelledAt' | 'moneyBack'
>

/** What the owner can still cancel: a paid term, or only its payment; undefined for nothing. */
export function toCancellation({
  hasActiveSubscription,
  source,
  expiryDate,
  cancelledAt,
  moneyBack,
}: Facts): 'term' | 'refund' | undefined {
  if (!hasActiveSubscription) return undefined
  if (source === 'payment' && expiryDate !== null && cancelledAt === null) return 'term'
  return moneyBack ? 'refund' : undefined
}
