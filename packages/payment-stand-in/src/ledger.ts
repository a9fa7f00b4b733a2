import type { Dispute, EventName, Order, Payment, Refund } from './entities.ts'

/** The entities that an event carries, as they are at that moment. */
export interface Subjects {
  payment?: Payment
  order?: Order
  refund?: Refund
  dispute?: Dispute
}

/** All that the provider knows. */
export interface Ledger {
  orders: Map<string, Order>
  payments: Map<string, Payment>
  refunds: Map<string, Refund>
  disputes: Map<string, Dispute>
  /** Refunds by idempotency key, with what was asked for. */
  refundKeys: Map<string, { asked: string; refundId: string }>
  uniqueReceipts: boolean
  refundsStart: 'pending' | 'processed'
  /** Unix seconds, the provider's unit of time. */
  now(): number
  emit(name: EventName, subjects: Subjects): void
}

/** A list as the provider answers it. */
export interface Collection<Item> {
  entity: 'collection'
  count: number
  items: Item[]
}

export function toCollection<Item>(items: Item[]): Collection<Item> {
  return { entity: 'collection', count: items.length, items }
}
