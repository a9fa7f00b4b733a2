import { formatAmount, type SaleFigures, type SaleKind } from '@keyward/contract'
import { Link } from 'react-router'
import { formatNumber } from '../../lib/format/numbers.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { EmptyLine } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Lines } from '../../ui/table-rows.tsx'

export interface SalesGroup extends SaleFigures {
  id: string
  name: string
  currency: string | null
  /** The list of orders that a kind of sale counts. */
  toOrders: (sale?: SaleKind) => string
}

/** A number that opens its orders; nothing has none. */
function count(
  group: SalesGroup,
  sale: 'new' | 'renewed' | 'refunded' | undefined,
  label: string,
  text: string,
) {
  const { name, toOrders, orders, renewals, refunds } = group
  const counts = { new: orders, renewed: renewals, refunded: refunds, all: orders + renewals }
  if (counts[sale ?? 'all'] === 0) return <span className="whitespace-nowrap">{text}</span>
  return (
    <Link
      to={toOrders(sale)}
      aria-label={`${label} of ${name}: ${text}`}
      className="inline-flex min-h-6 items-center whitespace-nowrap md:justify-end rounded-sm underline-offset-4 hover:underline"
    >
      {text}
    </Link>
  )
}

const columns = (noun: string): Column<SalesGroup>[] => [
  {
    id: 'name',
    header: noun,
    phone: 'title',
    cell: ({ name, toOrders }) => (
      <Link
        to={toOrders()}
        title={name}
        className="block max-w-64 truncate font-medium md:max-w-36 underline-offset-4 hover:underline"
      >
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  {
    id: 'orders',
    header: 'Orders',
    align: 'end',
    phone: 'whole',
    cell: (group) => (
      <Lines note={count(group, 'renewed', 'Renewals', `+ ${formatNumber(group.renewals)} renewed`)}>
        {count(group, 'new', 'Orders', formatNumber(group.orders) ?? '0')}
      </Lines>
    ),
  },
  {
    id: 'revenue',
    header: 'Revenue',
    align: 'end',
    phone: 'aside',
    cell: (group) => count(group, undefined, 'Revenue', formatAmount(group.revenue, group.currency)),
  },
  {
    id: 'refunded',
    header: 'Refunded',
    align: 'end',
    phone: 'hidden',
    cell: (group) => count(group, 'refunded', 'Refunds', formatAmount(group.refunded, group.currency)),
  },
]

/** What was sold of each product, or by each shop. */
export function SalesGroups({ title, noun, groups }: { title: string; noun: string; groups: SalesGroup[] }) {
  return (
    <Card className="overflow-clip">
      <CardHeader title={title} />
      <Table
        caption={`${title}, the largest revenue first`}
        columns={columns(noun)}
        rows={groups}
        rowKey={({ id }) => id}
        empty={<EmptyLine title="Nothing in these days" description="Choose other days, or another app." />}
      />
    </Card>
  )
}
