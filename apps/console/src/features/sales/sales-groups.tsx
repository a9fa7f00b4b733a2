import { formatAmount, type SaleFigures } from '@keyward/contract'
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
  to: string
}

const columns = (noun: string): Column<SalesGroup>[] => [
  {
    id: 'name',
    header: noun,
    phone: 'title',
    cell: ({ name, to }) => (
      <Link
        to={to}
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
    cell: ({ orders, renewals }) => (
      <Lines note={<span className="whitespace-nowrap">+ {formatNumber(renewals)} renewed</span>}>
        {formatNumber(orders)}
      </Lines>
    ),
  },
  {
    id: 'revenue',
    header: 'Revenue',
    align: 'end',
    phone: 'aside',
    cell: ({ revenue, currency }) => (
      <span className="whitespace-nowrap">{formatAmount(revenue, currency)}</span>
    ),
  },
  {
    id: 'refunded',
    header: 'Refunded',
    align: 'end',
    phone: 'hidden',
    cell: ({ refunded, currency }) => (
      <span className="whitespace-nowrap">{formatAmount(refunded, currency)}</span>
    ),
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
