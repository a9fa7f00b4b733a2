/** What one event says about an order. */
export type OrderFact = FactBase &
  (
    | PaidFact
    | RefundedFact
    /** A warning has taken no money. */
    | ({ kind: 'warned' | 'disputed' | 'dispute_won'; dispute?: string } & PaymentName)
    | ({ kind: 'payment_failed' } & PaymentName)
    | { kind: 'ended' }
    /** Whether it is charged again when its period ends, of one that goes on until then. */
    | { kind: 'canceled' | 'resumed' }
    | RenewedFact
    | ChangedFact
  )

interface FactBase {
  order: string
  at: number
  /** Whether its body says when it happened; unknown of facts that were stored before this was told apart. */
  timed?: boolean
  /** Its buyer was erased. */
  erased?: true
}

/** The payment that a fact is about; none for the whole order. */
export interface PaymentName {
  payment?: string
  /** When the period that it paid ends or begins, to find a payment that was told without a name. */
  periodEnd?: number
  periodStart?: number
  /** The payment that the order began with. */
  isFirst?: true
  /** A payment beside those of the periods, for an upgrade: known by its name alone. */
  isExtra?: true
}

/** `amount` is what this refund returns, or all refunds of the payment so far; null for everything. */
interface RefundedFact extends PaymentName {
  kind: 'refunded'
  amount: number | null
  isSum?: boolean
}

/** What a payment contains of each product; `isPart` if the subscription may have more. */
interface Units {
  lines?: readonly OrderLine[]
  isPart?: true
}

interface RenewedFact extends Units {
  kind: 'renewed'
  until: number
  payment?: string
  amount?: number
  currency?: string
  /** Whether it is the payment that the order began with. */
  isFirst?: true
}

/** `products` is all that the subscription has now, where it can have several; `until` is null if nothing is known of it. */
export interface ChangedFact extends Units {
  kind: 'changed'
  product: string
  products?: readonly string[]
  until: number | null
  payment?: string
  /** Whether a later end means a further payment. */
  pays?: boolean
  /** Whether it is not renewed any more. */
  cancels?: boolean
  /** Whether its units are paid. */
  hasPaidUnits?: boolean
}

export interface PaidFact {
  kind: 'paid'
  payment?: string
  /** Whether another event names its payment. */
  isUnnamed?: true
  email: string | null
  name: string | null
  /** The buyer's language, as the shop names it. */
  locale?: string | null
  amount: number | null
  currency: string | null
  test: boolean
  /** The license that it is for, as a link of it says. */
  reference?: string
  lines: readonly OrderLine[]
  /** When a subscription that begins with it ends, unless it is renewed. */
  until?: number
}

export interface OrderLine {
  product: string
  quantity: number
}
