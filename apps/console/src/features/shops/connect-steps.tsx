import type { Shop } from '@keyward/contract'
import { useState } from 'react'
import { Link } from 'react-router'
import { usePublicConfig } from '../../lib/api/public-config.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { orderStateFacts } from '../../lib/format/order-state.ts'
import { amountOf } from '../../lib/format/words.ts'
import { base } from '../../lib/navigation/base.ts'
import { listPath, paths } from '../../lib/navigation/paths.ts'
import { Badge, StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyField } from '../../ui/copy-button.tsx'
import { Dialog, DialogBody, DialogFooter, DoneFooter } from '../../ui/dialog.tsx'
import { KeyText } from '../../ui/key-text.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { Callout } from '../../ui/states.tsx'
import { kindFacts } from './kinds.ts'
import { useNewestOrder, useTestShop } from './queries.ts'

export interface ConnectStepsProps {
  shop: Shop
  /** Shown while it is known, which it is only after the shop was added. */
  secret?: string | undefined
  onClose: () => void
}

/** The address that the shop sends its events to, then the first order that arrives. */
export function ConnectSteps({ shop, secret, onClose }: ConnectStepsProps) {
  const [step, setStep] = useState<'hook' | 'order'>('hook')
  const baseUrl = usePublicConfig()?.publicUrl ?? `${window.location.origin}${base}`
  const mayRead = useMay()(wire.orders.list)
  const facts = kindFacts(shop.kind)
  if (step === 'order') return <FirstOrder shop={shop} onBack={() => setStep('hook')} onClose={onClose} />
  return (
    <Dialog
      size="lg"
      title={`Connect ${shop.name}`}
      description="Step 2 of 3. The shop tells Keyward about each order."
      onClose={onClose}
    >
      <DialogBody>
        <p>{facts.hook}</p>
        {shop.hook === null ? (
          <Callout title="The address ends with a secret">
            Ask someone of your team to connect the shop who may see secrets.
          </Callout>
        ) : (
          <CopyField label="Address" value={`${baseUrl}${shop.hook}`} />
        )}
        {secret !== undefined && (
          <>
            <CopyField secret label="Signing secret" value={secret} />
            <p className="text-[0.8125rem] text-fg-muted">
              Copy the secret now. It is not shown again, but you can replace it.
            </p>
          </>
        )}
        {facts.events && (
          <div className="grid gap-1.5">
            <p>{facts.eventsHelp ?? 'Select these events:'}</p>
            <ul aria-label="Events" className="flex flex-wrap gap-x-3 gap-y-1 font-mono text-[0.8125rem]">
              {facts.events.map((event) => (
                <li key={event} className="wrap-anywhere">
                  {event}
                </li>
              ))}
            </ul>
          </div>
        )}
        <p>
          <a href={paths.shopDocs} target="_blank" rel="noopener" className="text-accent-text underline">
            {facts.events ? 'How to connect it' : 'Which events to send'}
          </a>
        </p>
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose}>Close</Button>
        {mayRead && (
          <Button variant="primary" onClick={() => setStep('order')}>
            Continue
          </Button>
        )}
      </DialogFooter>
    </Dialog>
  )
}

function FirstOrder({ shop, onBack, onClose }: { shop: Shop; onBack: () => void; onClose: () => void }) {
  const newest = useNewestOrder(shop._id)
  const test = useTestShop()
  const order = newest.data
  const sent = test.data?.order
  const awaited = test.isPending || (sent !== undefined && order?.order !== sent)
  return (
    <Dialog
      size="lg"
      title={`Test ${shop.name}`}
      description="Step 3 of 3. Buy something in the shop’s test mode, or send a test order from here."
      onClose={onClose}
    >
      <DialogBody>
        <div aria-live="polite" className="grid gap-4">
          {order && !awaited ? (
            <>
              <div className="flex flex-wrap items-center gap-2">
                <strong className="wrap-anywhere font-medium">Order {order.order}</strong>
                <StateBadge {...orderStateFacts[order.state]} />
                {order.test && <Badge>Test</Badge>}
              </div>
              {order.reason && (
                <Callout tone="warning" title="It waits">
                  <span className="wrap-anywhere">{order.reason}</span>
                </Callout>
              )}
              {order.licenses.length > 0 && (
                <ul aria-label="Keys" className="grid gap-1">
                  {order.licenses.map(({ _id, key }) => (
                    <li key={_id}>
                      <KeyText>{key}</KeyText>
                    </li>
                  ))}
                </ul>
              )}
              {order.state === 'fulfilled' && (
                <p className="text-fg-muted">
                  {order.licenses.length > 0
                    ? `The shop is connected. The order created ${amountOf(order.licenses.length, 'license')}.`
                    : 'The shop is connected. The order needed no license.'}
                </p>
              )}
            </>
          ) : (
            <p className="flex items-center gap-3 py-6 text-fg-muted">
              <Spinner />
              Waiting for an order…
            </p>
          )}
        </div>
        {shop.lastEventAt === null && !order && (
          <p className="text-[0.8125rem] text-fg-muted">
            A test order from here does not test the shop’s own settings: only an order of the shop does.
          </p>
        )}
      </DialogBody>
      <DoneFooter onDone={onClose}>
        <Button onClick={onBack}>Back</Button>
        {shop.active && (
          <Button loading={awaited} onClick={() => test.mutate(shop)}>
            Send Test Order
          </Button>
        )}
        {order && (
          <Button asChild>
            <Link to={listPath(paths.orders, { app: shop.app._id, shop: shop._id })}>Show Orders</Link>
          </Button>
        )}
      </DoneFooter>
    </Dialog>
  )
}
