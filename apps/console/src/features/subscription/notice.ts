import type { Subscription } from '@keyward/contract'

const dayMs = 24 * 60 * 60 * 1000

export interface Notice {
  kind: 'ending' | 'ended'
  /** When premium ends, or ended. */
  date: string
}

/** A notice for every page when premium ends within 7 days, or ended within the last 30 days. */
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

/** The new end: a term bought early is added to the current end. */
export const endAfter = (end: string, days: number) => new Date(Date.parse(end) + days * dayMs)
