import type { ShopOrder } from '@keyward/contract'
import { RotateCw } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { useRetryOrder } from './queries.ts'

/** Tries a waiting order again, or opens what can be decided about it; nothing for the others. */
export function RetryButton({ order, onOpen }: { order: ShopOrder; onOpen: () => void }) {
  const retry = useRetryOrder()
  if (order.state !== 'waiting') return null
  if (order.choices.length > 0)
    return (
      <Button size="sm" variant="ghost" aria-label={`Decide about order ${order.order}`} onClick={onOpen}>
        Decide
      </Button>
    )
  return (
    <Button
      size="sm"
      variant="ghost"
      aria-label={`Retry order ${order.order}`}
      loading={retry.isPending}
      onClick={() => retry.mutate({ order })}
    >
      <RotateCw aria-hidden />
      Retry
    </Button>
  )
}
