export interface SaleTables {
  sale_entries: SaleEntriesTable
  sales: SalesTable
}

/**
 * What an order was counted as: its first payment (`new`), further ones (`renewed`), payments without an amount (`unpriced`),
 * refunds, disputes, those that were won, a trial that bought it, and the payment that a subscription will make next (`due`).
 */
export type SaleKind =
  | 'new'
  | 'renewed'
  | 'unpriced'
  | 'refunded'
  | 'disputed'
  | 'dispute_won'
  | 'trial'
  | 'due'

interface SaleEntriesTable {
  order_id: string
  place: number
  app_id: string
  shop_id: string
  kind: SaleKind
  at: number
  /** Empty if the shop told none. */
  currency: string
  /** Empty for an order of several products, or of none. */
  product: string
  amount: number
}

/** The sum of entries within so many minutes of UTC: of 15 and 1440 by shop and product, of 60 without them. */
interface SalesTable {
  app_id: string
  minutes: number
  at: number
  currency: string
  shop_id: string
  product: string
  kind: SaleKind
  n: number
  amount: number
}
