import { limits, type Webhook } from '@keyward/contract'
import { RotateCw } from 'lucide-react'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { TimeText } from '../../ui/date.tsx'
import { Dialog, DialogBody, DoneFooter } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Callout, QueryError } from '../../ui/states.tsx'
import { deliveryFacts, responseText, untilText } from './delivery-words.ts'
import { eventLabel } from './event-words.ts'
import { type DeliveryDetails, useDelivery, useRetry } from './queries.ts'

export interface DeliveryDialogProps {
  webhook: Webhook
  deliveryId: string
  onClose: () => void
}

/** What was sent and what came back. It changes while an attempt is due. */
export function DeliveryDialog({ webhook, deliveryId, onClose }: DeliveryDialogProps) {
  const delivery = useDelivery(webhook._id, deliveryId)
  const retry = useRetry(webhook._id)
  const may = useMay()
  const { data } = delivery
  const mayRetry = data && data.state !== 'waiting' && webhook.active && may(wire.webhooks.retry)
  return (
    <Dialog
      size="lg"
      title={data ? eventLabel(data.event) : 'Delivery'}
      description={data && <code className="break-all font-mono text-[0.8125rem]">{data.event}</code>}
      onClose={onClose}
    >
      <DialogBody>
        {delivery.isError ? (
          <QueryError boxed query={delivery} title="Failed to load the delivery" />
        ) : data ? (
          <Details delivery={data} />
        ) : (
          <Skeleton className="h-96" />
        )}
      </DialogBody>
      <DoneFooter onDone={onClose}>
        {mayRetry && (
          <Button loading={retry.isPending} onClick={() => retry.mutate(deliveryId)}>
            <RotateCw aria-hidden />
            {data.state === 'delivered' ? 'Send Again' : 'Retry Now'}
          </Button>
        )}
      </DoneFooter>
    </Dialog>
  )
}

function Details({ delivery }: { delivery: DeliveryDetails }) {
  const { state, attempts, nextAt, at, error, request, response } = delivery
  return (
    <>
      <div className="-my-2.5" aria-live="polite">
        <Facts
          items={[
            {
              label: 'State',
              value: <StateBadge {...deliveryFacts[state]} />,
            },
            ...(attempts > 0 ? [{ label: 'Response', value: responseText(delivery) }] : []),
            { label: 'Attempts', value: formatNumber(attempts) },
            ...(nextAt ? [{ label: 'Next try', value: untilText(nextAt) }] : []),
            { label: 'Happened', value: <TimeText value={at} /> },
          ]}
        />
      </div>
      {error && (
        <Callout tone={state === 'given_up' ? 'danger' : 'warning'} title="The last attempt failed">
          <span className="wrap-anywhere">{error}</span>
        </Callout>
      )}
      {request !== null && <CodeBlock wrap title="Request" code={request} />}
      {response !== null && <CodeBlock wrap title="Response" code={response} />}
      {attempts > 0 && (
        <p className="text-[0.8125rem] text-fg-muted">
          {request === null
            ? 'You see the request only if you may read the event.'
            : `The first ${formatNumber(limits.deliveryBytesMax / 1024)} KiB of each, kept for ${limits.deliveryDays} days.`}
        </p>
      )}
    </>
  )
}
