import type { OrderChoice, ShopOrder } from '@keyward/contract'
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
  const [asks, setAsks] = useState<'ban' | 'end' | 'replace'>()
  const { state, choices } = order
  if (state !== 'waiting' || !may(wire.orders.retry)) return null
  const own = [...order.licenses, ...(order.renewed ? [order.renewed] : [])]
  const licenses = chosen.filter((id) => own.some(({ _id }) => _id === id))
  const close = () => setAsks(undefined)
  const decide = (choice: Exclude<OrderChoice, 'end'>) =>
    retry.mutate({ order, choice }, { onSettled: close })
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
      {choices.includes('newLicense') && (
        <Button loading={retry.isPending} onClick={() => decide('newLicense')}>
          Give a New License
        </Button>
      )}
      {choices.includes('replace') && (
        <Button disabled={retry.isPending} onClick={() => setAsks('replace')}>
          Replace the Other Subscription
        </Button>
      )}
      {(choices.length === 0 || order.reasonCode === 'license_banned') && (
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
      {asks === 'replace' && (
        <ConfirmDialog
          onClose={close}
          title="Replace the other subscription?"
          loss="Its later payments, refunds and end no longer change this license. Cancel it in your shop, which goes on charging for it."
          confirmLabel="Replace"
          busy={retry.isPending}
          onConfirm={() => decide('replace')}
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
