import type { Dispute, EventName, Order, Payment, Refund } from './entities.ts'

/** The entities in an event, as of that moment. */
export interface Subjects {
  payment?: Payment
  order?: Order
  refund?: Refund
  dispute?: Dispute
}

/** The provider's state. */
export interface Ledger {
  orders: Map<string, Order>
  payments: Map<string, Payment>
  refunds: Map<string, Refund>
  disputes: Map<string, Dispute>
  /** Refunds by idempotency key, with the request that created each. */
  refundKeys: Map<string, { asked: string; refundId: string }>
  uniqueReceipts: boolean
  refundsStart: 'pending' | 'processed'
  /** Unix time in seconds, as the provider uses. */
  now(): number
  emit(name: EventName, subjects: Subjects): void
}

/** A list in the provider's format. */
export interface Collection<Item> {
  entity: 'collection'
  count: number
  items: Item[]
}

export function toCollection<Item>(items: Item[]): Collection<Item> {
  return { entity: 'collection', count: items.length, items }
}
