import type { OrderReasonCode } from '@keyward/contract'

/** What a waiting order needs, and whether a later attempt can find that by itself. */
export interface Need {
  code: OrderReasonCode
  reason: string
  isRetried: boolean
  /** Licenses of which more exist than the order has now, and how many are too many. */
  surplus?: { ids: string[]; count: number }[]
}
