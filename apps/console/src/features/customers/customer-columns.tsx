import type { Customer } from '@keyward/contract'
import { Link } from 'react-router'
import { formatNumber } from '../../lib/format/numbers.ts'
import { customerPath } from '../../lib/navigation/paths.ts'
import { DateText } from '../../ui/date.tsx'
import type { Column } from '../../ui/table.tsx'
import { CellText, NoValue, textWidth } from '../../ui/table-rows.tsx'

export const customerColumns: Column<Customer>[] = [
  {
    id: 'email',
    header: 'Customer',
    phone: 'title',
    cell: ({ _id, email }) => (
      <span className={textWidth.name}>
        <Link
          to={customerPath(_id)}
          data-row-open=""
          className="truncate rounded-sm font-medium underline-offset-4 hover:underline"
          title={email}
        >
          {email}
        </Link>
      </span>
    ),
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
