import type { ShopOrder } from '@keyward/contract'
import { orderStateFacts } from '../../lib/format/order-state.ts'
import { Badge } from '../../ui/badge.tsx'

/** The badge of an order. */
export function OrderState({ state }: Pick<ShopOrder, 'state'>) {
  return (
    <Badge tone={orderStateFacts[state].tone} dot>
      {orderStateFacts[state].label}
    </Badge>
  )
}
