import type { ShopOrder } from '@keyward/contract'
import { RotateCw } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useRetryOrder } from './queries.ts'

export interface OrderDecisionsProps {
  order: ShopOrder
  /** The licenses that are chosen to end. */
  chosen: readonly string[]
}

/** What can be decided about an order that waits; to try it again, if nothing can. */
export function OrderDecisions({ order, chosen }: OrderDecisionsProps) {
  const retry = useRetryOrder()
  const may = useMay()
  const [asks, setAsks] = useState<'ban' | 'end'>()
  const { state, choices } = order
  if (state !== 'waiting' || !may(wire.orders.retry)) return null
  const licenses = chosen.filter((id) => order.licenses.some(({ _id }) => _id === id))
  const close = () => setAsks(undefined)
  const decide = (choice: 'keep' | 'ban') => retry.mutate({ order, choice }, { onSettled: close })
  return (
    <>
      {choices.includes('keep') && (
        <Button loading={retry.isPending} onClick={() => decide('keep')}>
          Keep Licenses
        </Button>
      )}
      {choices.includes('ban') && (
        <Button variant="danger" disabled={retry.isPending} onClick={() => setAsks('ban')}>
          Ban Licenses
        </Button>
      )}
      {choices.includes('end') && (
        <Button disabled={licenses.length === 0 || retry.isPending} onClick={() => setAsks('end')}>
          End Chosen Licenses
        </Button>
      )}
      {choices.length === 0 && (
        <Button loading={retry.isPending} onClick={() => retry.mutate({ order })}>
          <RotateCw aria-hidden />
          Retry
        </Button>
      )}
      {asks === 'ban' && (
        <ConfirmDialog
          onClose={close}
          title="Ban the licenses of this order?"
          loss="Programs refuse them until the buyer pays again, or you lift the ban."
          confirmLabel="Ban Licenses"
          busy={retry.isPending}
          onConfirm={() => decide('ban')}
        />
      )}
      {asks === 'end' && (
        <ConfirmDialog
          onClose={close}
          title={licenses.length === 1 ? 'End one license?' : `End ${licenses.length} licenses?`}
          loss="They end with what was paid for them; later payments extend the others."
          confirmLabel="End Licenses"
          busy={retry.isPending}
          onConfirm={() => retry.mutate({ order, choice: 'end', licenses }, { onSettled: close })}
        />
      )}
    </>
  )
}
