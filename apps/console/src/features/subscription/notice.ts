import type { Subscription } from '@keyward/contract'

const dayMs = 24 * 60 * 60 * 1000

export interface Notice {
  kind: 'ending' | 'ended'
  /** When premium ends, or ended. */
  date: string
}

/** What is worth saying on every page: premium ends within a week, or has ended within the last thirty days. */
export function findNotice(
  {
    hasActiveSubscription,
    expiryDate,
    endedAt,
  }: Pick<Subscription, 'hasActiveSubscription' | 'expiryDate' | 'endedAt'>,
  now: number,
): Notice | undefined {
  if (hasActiveSubscription) {
    if (expiryDate === null) return undefined
    const left = Date.parse(expiryDate) - now
    return left > 0 && left <= 7 * dayMs ? { kind: 'ending', date: expiryDate } : undefined
  }
  if (endedAt === null) return undefined
  const since = now - Date.parse(endedAt)
  return since >= 0 && since <= 30 * dayMs ? { kind: 'ended', date: endedAt } : undefined
}

/** A term bought before the end is added to it. */
export const endAfter = (end: string, days: number) => new Date(Date.parse(end) + days * dayMs)
