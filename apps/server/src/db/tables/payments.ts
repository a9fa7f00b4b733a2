import type { Generated } from 'kysely'
import type { Flag } from './flag.ts'

export interface PaymentTables {
  coupons: CouponsTable
  payment_orders: PaymentOrdersTable
  payments: PaymentsTable
  plan_reminders: PlanRemindersTable
}

interface CouponsTable {
  code: string
  percent: number
  valid_from: number | null
  valid_until: number | null
  max_uses: number | null
  max_uses_per_owner: number | null
  active: Generated<Flag>
  /** Shown to every owner who can use it. */
  listed: Generated<Flag>
}

/**
 * `open` can be paid; `paid` started premium; `closed` was paid and refunded; `failed` was rejected by the provider.
 */
type OrderStatus = 'open' | 'expired' | 'paid' | 'closed' | 'failed'

interface PaymentOrdersTable {
  id: string
  owner_id: string
  provider: 'razorpay' | 'mock'
  provider_order_id: string | null
  receipt: string
  status: OrderStatus
  plan_duration: 'monthly' | 'yearly'
  list_amount: number
  amount: number
  currency: string
  /** Empty for none. */
  coupon_code: string
  discount: number
  created_at: number
  expires_at: number
  next_check_at: number | null
  checks: Generated<number>
  /** Incremented with every change of what the provider reported, to detect outdated reports. */
  version: Generated<number>
}

interface PaymentsTable {
  id: string
  order_id: string
  owner_id: string
  provider_payment_id: string
  status: 'created' | 'authorized' | 'captured' | 'refunded' | 'failed'
  amount: number
  currency: string
  amount_refunded: number
  method: string | null
  failure: string | null
  /** Why the server refunds the payment automatically. */
  refund_reason: 'money_back' | 'second' | 'different' | null
  refund_due: Generated<Flag>
  dispute: 'open' | 'won' | 'lost' | null
  /** The provider's id of the dispute in `dispute`. */
  dispute_id: string | null
  activated_at: number | null
  period_start: number | null
  period_end: number | null
  /** How much premium time the refund removed; null while the payment counts. */
  taken_back_ms: number | null
  created_at: number
}

interface PlanRemindersTable {
  owner_id: string
  premium_until: number
  days: number
  claimed_at: number
  sent_at: number | null
}
