import type {
  OrderMailState,
  OrderMailWait,
  OrderReasonCode,
  ShopKind,
  ShopOrderState,
} from '@keyward/contract'
import type { Generated } from 'kysely'
import type { Flag } from './flag.ts'

export interface ShopTables {
  shops: ShopsTable
  shop_events: ShopEventsTable
  shop_orders: ShopOrdersTable
  shop_order_units: ShopOrderUnitsTable
}

interface ShopsTable {
  seq: Generated<number>
  id: string
  owner_id: string
  app_id: string
  kind: ShopKind
  name: string
  /** Null once the shop is deleted. */
  secret_sealed: string | null
  /** What reads orders back from the shop's own server. */
  api_key_sealed: Generated<string | null>
  /** JSON of which product gets licenses of which type. */
  products: string
  active: Generated<Flag>
  created_at: number
  /** Its orders still name it. */
  deleted_at: Generated<number | null>
}

interface ShopEventsTable {
  seq: Generated<number>
  shop_id: string
  owner_id: string
  app_id: string
  /** By the shop, or of a test. */
  event_id: string
  /** The lane of its vendor and shop. */
  lane: string
  /** As it was sent; erased a while after it was used, and never stored if it says nothing about an order. */
  body: string | null
  /** What it says about its order, once it was read: JSON. */
  fact: Generated<string | null>
  order_id: Generated<string | null>
  /** When the shop sent it. */
  sent_at: number
  received_at: number
  /** `ignored` says nothing about an order. */
  state: Generated<'waiting' | 'done' | 'ignored'>
  attempts: Generated<number>
  /** The next attempt, or the end of the lease of a running one; null once there is none, or while its shop is paused. */
  due_at: number | null
  /** When its body is erased; null while it waits. */
  body_until: Generated<number | null>
}

interface ShopOrdersTable {
  seq: Generated<number>
  id: string
  owner_id: string
  app_id: string
  shop_id: string
  /** The shop's number or id of the order. */
  number: string
  email: Generated<string | null>
  /** In lower case, for searches. */
  email_normalized: Generated<string | null>
  name: Generated<string | null>
  /** The buyer's language. */
  locale: Generated<string | null>
  customer_id: Generated<string | null>
  amount: Generated<number | null>
  currency: Generated<string | null>
  test: Generated<Flag>
  /** JSON. */
  lines: Generated<string>
  state: Generated<ShopOrderState>
  reason: Generated<string | null>
  reason_code: Generated<OrderReasonCode | null>
  /** JSON: what the vendor has decided about it. */
  chosen: Generated<string>
  /** JSON: for how many units of each product it has its licenses, and how many each unit got. */
  issued: Generated<string>
  mail: Generated<OrderMailState>
  /** Whether the vendor hands over its keys without a mail. */
  mailless: Generated<Flag>
  mail_waits_for: Generated<OrderMailWait | null>
  /** Whether it is in the sums of sales. */
  counted: Generated<Flag>
  /** Whether its subscription will charge again. */
  renews: Generated<Flag>
  /** When it is looked at next: what it paid ends then. */
  ends_at: Generated<number | null>
  created_at: number
}

/** A license that an order created; the key of the table makes a second one impossible. */
interface ShopOrderUnitsTable {
  order_id: string
  app_id: string
  product: string
  unit: number
  /** Null once the license is deleted. */
  license_id: string | null
  /** What the license got last because of the order: nothing is changed again that the vendor has changed since. */
  told_end: Generated<number | null>
  told_product: Generated<string | null>
  told_ban: Generated<'refund' | 'dispute' | null>
  /** The license that there was and that this unit renews; null once it is deleted. */
  renewed_id: Generated<string | null>
  /** JSON: what it got, see `StoredGift`; null before. */
  gift: Generated<string | null>
  /** Whether the license follows another order, so that this one changes it no more. */
  unheard: Generated<Flag>
  /** After how many paid months the license stays for ever; null while it does not. */
  kept_after: Generated<number | null>
}
