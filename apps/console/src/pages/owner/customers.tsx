import { ContactRound, Plus } from 'lucide-react'
import { customerColumns } from '../../features/customers/customer-columns.tsx'
import { CreateCustomerDialog } from '../../features/customers/customer-dialogs.tsx'
import { useCustomers } from '../../features/customers/queries.ts'
import { useOwner } from '../../lib/api/account.ts'
import { useApps } from '../../lib/api/apps.ts'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { tableState, useLastPage, usePage } from '../../lib/list/list-page.ts'
import { useFilters } from '../../lib/list/use-filters.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Deferred, DialogSlot } from '../../ui/deferred.tsx'
import { FiltersSkeleton } from '../../ui/filters-skeleton.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { useTableView } from '../../ui/table-view.ts'

const CustomerFilters = lazyNamed(
  () => import('../../features/customers/customer-filters.tsx'),
  'CustomerFilters',
)
const Pagination = lazyNamed(() => import('../../ui/pagination.tsx'), 'Pagination')

const pageSize = 25
const noStatuses = {}
const dialogs = { create: [wire.customers.create] }

/** The people that the vendor sells to. */
export function CustomersPage() {
  const owner = useOwner().data
  const apps = useApps()
  const dialog = useCallDialog(dialogs)
  const [view, setView] = useTableView('customers', owner?._id)
  const { app, resolving, unresolved, filters, filtered, setFilters, clearFilters } = useFilters(noStatuses)
  const { page, turnTo } = usePage()
  const { app: appId, search } = filters
  const customers = useCustomers({ app: appId, search, page, limit: pageSize }, !resolving)
  const data = resolving ? undefined : customers.data
  useLastPage(customers.isPlaceholderData ? undefined : data?.pagination.pages)
  const { loading, error } = tableState(customers, 'Failed to load customers', unresolved ?? apps)
  const addButton = (
    <Button variant="primary" onClick={() => dialog.open('create')}>
      <Plus />
      Add Customer
    </Button>
  )
  return (
    <div className="grid gap-3 md:gap-6">
      <PageHeader
        title="Customers"
        subtitle="The people you sell to, each with licenses, orders and history."
        primary={dialog.may('create') && addButton}
      />
      <Card>
        <CardHeader
          title="Directory"
          filters
          actions={
            (filtered || data?.pagination.total !== 0) && (
              <Deferred fallback={<FiltersSkeleton selects={1} />}>
                <CustomerFilters
                  values={filters}
                  onChange={setFilters}
                  apps={apps.data ?? []}
                  app={app}
                  table={{ columns: customerColumns, view, onChange: setView }}
                />
              </Deferred>
            )
          }
        />
        <Table
          caption="Customers, newest first"
          columns={customerColumns}
          view={view}
          rows={data?.customers}
          rowKey={({ _id }) => _id}
          loading={loading}
          error={error}
          empty={
            filtered ? (
              <EmptyState
                icon={<ContactRound />}
                title="No customers found"
                description="No results match your search and filters."
                actions={<Button onClick={clearFilters}>Clear filters</Button>}
              />
            ) : (
              <EmptyState
                icon={<ContactRound />}
                title="No customers yet"
                description="Orders of your shops add customers. You can also name one when you generate a license."
                actions={<May call={wire.customers.create}>{addButton}</May>}
              />
            )
          }
        />
        {data && (
          <Deferred fallback={<div className="h-13 border-t" />}>
            <Pagination
              page={page}
              limit={pageSize}
              total={data.pagination.total}
              onPage={turnTo}
              noun="customers"
            />
          </Deferred>
        )}
      </Card>
      <DialogSlot>{dialog.kind === 'create' && <CreateCustomerDialog onClose={dialog.close} />}</DialogSlot>
    </div>
  )
}
