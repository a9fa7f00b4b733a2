import { type App, customerMailStates, limits, type ToldCustomer } from '@keyward/contract'
import { useState } from 'react'
import { Link } from 'react-router'
import { mailKindLabels, mailStates } from '../../../lib/format/told-mails.ts'
import { customerPath } from '../../../lib/navigation/paths.ts'
import { StateBadge } from '../../../ui/badge.tsx'
import { Card, CardBody, CardHeader } from '../../../ui/card.tsx'
import { DateText } from '../../../ui/date.tsx'
import { Pagination } from '../../../ui/pagination.tsx'
import { Select } from '../../../ui/select.tsx'
import { EmptyState, QueryError } from '../../../ui/states.tsx'
import { type Column, Table } from '../../../ui/table.tsx'
import { type ToldState, useToldCustomers } from './buyer-mail-queries.ts'

const columns: Column<ToldCustomer>[] = [
  {
    id: 'mail',
    header: 'Mail',
    phone: 'title',
    cell: ({ kind, days }) => `${mailKindLabels[kind]}${days === null ? '' : `: ${days} days`}`,
  },
  {
    id: 'customer',
    header: 'Customer',
    phone: 'whole',
    cell: ({ customer }) => (
      <Link to={customerPath(customer._id)} className="wrap-anywhere hover:underline">
        {customer.email}
      </Link>
    ),
  },
  {
    id: 'state',
    header: 'State',
    phone: 'aside',
    cell: ({ state }) => <StateBadge {...mailStates[state]} />,
  },
  {
    id: 'date',
    header: 'Date',
    phone: 'whole',
    cell: ({ doneAt, createdAt }) => <DateText value={doneAt ?? createdAt} />,
  },
]

const all = { value: 'all', label: 'All' } as const

/** The mails to the customers of an app, with those that failed. */
export function ToldCustomers({ app }: { app: App }) {
  const [state, setState] = useState<ToldState | 'all'>('all')
  const [page, setPage] = useState(1)
  const query = useToldCustomers(app._id, { state: state === 'all' ? undefined : state, page })
  return (
    <Card className="overflow-clip" aria-label="What Customers Were Told">
      <CardHeader
        title="What Customers Were Told"
        description={`Of the last ${limits.customerMailDays} days. Missed: it could not be sent before the day that it tells of.`}
      />
      <CardBody>
        <Select
          label="State"
          value={state}
          onChange={(value) => {
            setState(value as ToldState | 'all')
            setPage(1)
          }}
          options={[all, ...customerMailStates.map((value) => ({ value, label: mailStates[value].label }))]}
        />
      </CardBody>
      {query.isError && !query.data ? (
        <QueryError query={query} title="Failed to load the mails" />
      ) : (
        <Table
          caption="Mails to customers, newest first"
          columns={columns}
          rows={query.data?.mails}
          rowKey={({ _id }) => _id}
          empty={
            <EmptyState
              title="No mails"
              description="What your customers are told about their licenses appears here."
            />
          }
        />
      )}
      {query.data && <Pagination {...query.data.pagination} onPage={setPage} noun="mails" />}
    </Card>
  )
}
