import type { Customer } from '@keyward/contract'
import { formatNumber } from '../../lib/format/numbers.ts'
import { customerPath } from '../../lib/navigation/paths.ts'
import { DateText } from '../../ui/date.tsx'
import type { Column } from '../../ui/table.tsx'
import { CellText, NoValue, RowLink } from '../../ui/table-rows.tsx'

export const customerColumns: Column<Customer>[] = [
  {
    id: 'email',
    header: 'Customer',
    phone: 'title',
    cell: ({ _id, email }) => <RowLink to={customerPath(_id)} title={email} />,
  },
  {
    id: 'name',
    header: 'Name',
    isEmpty: ({ name }) => name === null,
    cell: ({ name }) =>
      name === null ? (
        <NoValue />
      ) : (
        <CellText title={name}>
          <bdi>{name}</bdi>
        </CellText>
      ),
  },
  {
    id: 'licenses',
    header: 'Licenses',
    phone: 'aside',
    cell: ({ licenses }) => (
      <span className="tabular-nums">
        {formatNumber(licenses)}
        <span className="md:hidden">{licenses === 1 ? ' license' : ' licenses'}</span>
      </span>
    ),
  },
  {
    id: 'orders',
    header: 'Orders',
    phone: 'hidden',
    isEmpty: ({ orders }) => orders === 0,
    cell: ({ orders }) => <span className="tabular-nums">{formatNumber(orders)}</span>,
  },
  {
    id: 'added',
    header: 'Added',
    phone: 'whole',
    cell: ({ createdAt }) => <DateText value={createdAt} />,
  },
]
