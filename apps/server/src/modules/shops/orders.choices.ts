import type { OrderChoice, OrderReasonCode } from '@keyward/contract'
import type { ShopOrderRow } from '../../db/tables.ts'

const choices: Partial<Record<OrderReasonCode, readonly OrderChoice[]>> = {
  partly_refunded: ['keep'],
  no_address: ['keep'],
}

/** What a vendor can decide about an order now. */
export const choicesOf = ({
  state,
  reason_code,
}: Pick<ShopOrderRow, 'state' | 'reason_code'>): OrderChoice[] =>
  state === 'waiting' && reason_code !== null ? [...(choices[reason_code] ?? [])] : []
