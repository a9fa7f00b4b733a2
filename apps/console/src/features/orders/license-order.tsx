import { formatAmount } from '@keyward/contract'
import { Link } from 'react-router'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { orderStateFacts } from '../../lib/format/order-state.ts'
import { listPath, paths } from '../../lib/navigation/paths.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { TimeText } from '../../ui/date.tsx'
import { Facts } from '../../ui/facts.tsx'
import { useOrders } from './queries.ts'

/** The newest order that created or renewed a license; nothing for licenses that no shop sold. */
export function LicenseOrder({ license }: { license: string }) {
  const mayRead = useMay()(wire.orders.list)
  const order = useOrders({ license, limit: 1 }, mayRead).data?.orders[0]
  if (!order) return null
  return (
    <Card aria-label="Order">
      <CardHeader title="Order" />
      <CardBody className="py-2">
        <Facts
          items={[
            {
              label: 'Number',
              value: (
                <Link
                  to={`${listPath(paths.orders, { license })}&dialog=order&id=${order._id}`}
                  className="rounded-sm text-accent-text underline-offset-4 hover:underline"
                >
                  {order.order}
                </Link>
              ),
            },
            { label: 'State', value: <StateBadge {...orderStateFacts[order.state]} /> },
            ...(order.email ? [{ label: 'Buyer', value: <bdi>{order.email}</bdi> }] : []),
            ...(order.amount === null
              ? []
              : [{ label: 'Amount', value: formatAmount(order.amount, order.currency) }]),
            { label: 'Shop', value: <bdi>{order.shop.name}</bdi> },
            { label: 'Time', value: <TimeText value={order.createdAt} /> },
          ]}
        />
      </CardBody>
    </Card>
  )
}
