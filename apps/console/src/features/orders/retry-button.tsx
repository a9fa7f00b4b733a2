import type { ShopOrder } from '@keyward/contract'
import { RotateCw } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { useRetryOrder } from './queries.ts'

/** Tries a waiting order again; nothing for the others. */
export function RetryButton({ order }: { order: ShopOrder }) {
  const retry = useRetryOrder()
  if (order.state !== 'waiting') return null
  return (
    <Button
      size="sm"
      variant="ghost"
      aria-label={`Retry order ${order.order}`}
      loading={retry.isPending}
      onClick={() => retry.mutate(order)}
    >
      <RotateCw aria-hidden />
      Retry
    </Button>
  )
}
