import { formatAmount, type ShopOrder } from '@keyward/contract'
import { Mail } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { orderStateFacts } from '../../lib/format/order-state.ts'
import { appTabPath } from '../../lib/navigation/app-tabs.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Badge, StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { TimeText } from '../../ui/date.tsx'
import { Deferred } from '../../ui/deferred.tsx'
import { Dialog, DialogBody, DoneFooter } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Callout } from '../../ui/states.tsx'
import { ChooseType } from './choose-type.tsx'
import { deletedOf, mailWaits, mailWords } from './order-columns.tsx'
import { OrderDecisions } from './order-decisions.tsx'
import { linkClass, OrderLicenses } from './order-licenses.tsx'
import { useMailOrder } from './queries.ts'

const AddressForm = lazyNamed(() => import('./address-form.tsx'), 'AddressForm')

export interface OrderDialogProps {
  order: ShopOrder
  onCustomer: (customer: string) => void
  onClose: () => void
}

/** All that the shop told about an order, and what it created. */
export function OrderDialog({ order, onCustomer, onClose }: OrderDialogProps) {
  const [chosen, setChosen] = useState<string[]>([])
  const resend = useMailOrder()
  const may = useMay()
  const { app, shop, email, name, customer, amount, currency, test } = order
  const { lines, state, reason, licenses, renewed, mail } = order
  const mayEnd = order.choices.includes('end') && may(wire.orders.retry)
  const choosing = mayEnd ? { chosen, onChosen: setChosen } : {}
  const mayMail =
    state === 'fulfilled' &&
    customer &&
    licenses.length > 0 &&
    mail !== 'queued' &&
    mail !== 'waiting' &&
    may(wire.orders.mail)
  const needsAddress =
    customer === null &&
    !test &&
    state !== 'refunded' &&
    (order.reasonCode === 'no_address' || licenses.length > 0)
  return (
    <Dialog size="lg" title={`Order ${order.order}`} onClose={onClose}>
      {/* Focusable, so that the keyboard scrolls it. */}
      <DialogBody tabIndex={0} role="region" aria-label="Order">
        {reason && (
          <Callout tone="warning" title="This order waits">
            <span className="wrap-anywhere">{reason}</span>
          </Callout>
        )}
        {order.mailWaitsFor && (
          <Callout tone="warning" title="The mail with the keys waits">
            {mailWaits[order.mailWaitsFor]}
          </Callout>
        )}
        {needsAddress && may(wire.orders.update) && may(wire.customers.update) && (
          <Deferred>
            <AddressForm order={order} />
          </Deferred>
        )}
        <ChooseType order={order} />
        <div className="-my-2.5" aria-live="polite">
          <Facts
            items={[
              {
                label: 'State',
                value: (
                  <span className="flex flex-wrap justify-end gap-1.5">
                    {test && <Badge>Test</Badge>}
                    <StateBadge {...orderStateFacts[state]} />
                  </span>
                ),
              },
              ...(email
                ? [
                    {
                      label: 'Buyer',
                      value: (
                        <span className="inline-flex min-w-0 items-center gap-1">
                          <bdi className="wrap-anywhere">{name ? `${name}, ${email}` : email}</bdi>
                          <CopyButton text={email} label={`Copy ${email}`} />
                        </span>
                      ),
                    },
                  ]
                : []),
              ...(mail === 'none' ? [] : [{ label: 'Mail with the keys', value: mailWords[mail].text }]),
              ...(amount === null ? [] : [{ label: 'Amount', value: formatAmount(amount, currency) }]),
              {
                label: 'Shop',
                value: may(wire.shops.list) ? (
                  <Link to={appTabPath(app._id, 'shops')} className={linkClass}>
                    <bdi>{shop.name}</bdi>
                  </Link>
                ) : (
                  <bdi>{shop.name}</bdi>
                ),
              },
              { label: 'App', value: <bdi>{app.name}</bdi> },
              { label: 'Time', value: <TimeText value={order.createdAt} /> },
            ]}
          />
        </div>
        {lines.length > 0 && (
          <section aria-label="Products">
            <h3 className="mb-1.5 font-medium">Products</h3>
            <ul className="divide-y rounded-lg border">
              {lines.map(({ product, quantity }) => (
                <li key={product} className="flex justify-between gap-4 px-3 py-2">
                  <span className="wrap-anywhere">{product}</span>
                  <span className="whitespace-nowrap text-fg-muted">× {quantity}</span>
                </li>
              ))}
            </ul>
          </section>
        )}
        <OrderLicenses title="Renewed license" licenses={renewed ? [renewed] : []} {...choosing} />
        <OrderLicenses title="Licenses" licenses={licenses} {...choosing} />
        {deletedOf(order) && <p className="text-fg-muted">{deletedOf(order)}.</p>}
      </DialogBody>
      <DoneFooter onDone={onClose}>
        {customer && <Button onClick={() => onCustomer(customer)}>All of This Customer</Button>}
        {mayMail && (
          <Button loading={resend.isPending} onClick={() => resend.mutate(order)}>
            <Mail aria-hidden />
            {mail === 'none' ? 'Mail Keys' : 'Mail Keys Again'}
          </Button>
        )}
        <OrderDecisions order={order} chosen={chosen} />
      </DoneFooter>
    </Dialog>
  )
}
