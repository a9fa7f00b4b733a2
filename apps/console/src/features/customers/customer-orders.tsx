import { type DataOf, type endpoints, formatAmount } from '@keyward/contract'
import { orderStateFacts } from '../../lib/format/order-state.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { EmptyLine } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Lines, NoValue } from '../../ui/table-rows.tsx'
import { useOrdersOf } from './queries.ts'

type Order = DataOf<typeof endpoints.orders.list>['orders'][number]

const columns: Column<Order>[] = [
  {
    id: 'order',
    header: 'Order',
    phone: 'title',
    cell: ({ order, reason }) => (
      <span className="block truncate md:max-w-44" title={reason ?? order}>
        {order}
      </span>
    ),
  },
  {
    id: 'state',
    header: 'State',
    phone: 'aside',
    cell: ({ state, test }) => (
      <Lines note={test && 'Test'}>
        <StateBadge {...orderStateFacts[state]} />
      </Lines>
    ),
  },
  {
    id: 'amount',
    header: 'Amount',
    phone: 'whole',
    cell: ({ amount, currency }) =>
      amount === null || currency === null ? <NoValue /> : formatAmount(amount, currency),
  },
  {
    id: 'received',
    header: 'Received',
    phone: 'whole',
    cell: ({ createdAt }) => <DateText value={createdAt} />,
  },
]

/** The newest orders of a customer. */
export function CustomerOrders({ customer }: { customer: string }) {
  const orders = useOrdersOf(customer, true)
  const failed = orders.isLoadingError ? orders : undefined
  return (
    <Card className="overflow-clip">
      <CardHeader title="Orders" />
      <Table
        caption="Orders, newest first"
        columns={columns}
        rows={orders.data?.orders}
        rowKey={({ _id }) => _id}
        loading={orders.isPending && !failed}
        skeletonRows={2}
        error={
          failed && {
            title: 'Failed to load the orders',
            description: failed.error.message,
            onRetry: () => void failed.refetch(),
          }
        }
        empty={<EmptyLine title="No orders" description="Orders of your shops appear here." />}
      />
    </Card>
  )
}
