import { ContactRound, Plus } from 'lucide-react'
import { customerColumns } from '../../features/customers/customer-columns.tsx'
import { CreateCustomerDialog } from '../../features/customers/customer-dialogs.tsx'
import { useCustomers } from '../../features/customers/queries.ts'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { Button } from '../../ui/button.tsx'
import { DialogSlot } from '../../ui/deferred.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { OwnerList, useOwnerList } from './owner-list.tsx'

const noStatuses = {}
const dialogs = { create: [wire.customers.create] }

/** The people that the vendor sells to. */
export function CustomersPage() {
  const list = useOwnerList('customers', noStatuses)
  const dialog = useCallDialog(dialogs)
  const { app, search } = list.filters
  const customers = useCustomers({ app, search, page: list.page, limit: list.size.limit }, !list.resolving)
  const data = list.resolving ? undefined : customers.data
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
      <OwnerList
        list={list}
        title="Directory"
        noun="customers"
        icon={<ContactRound />}
        search={{ label: 'Search customers', placeholder: 'Search by email or name' }}
        selects={1}
        hasNoRows={!list.filtered && data?.pagination.total === 0}
        query={customers}
        page={data}
        rows={data?.customers}
        failure="Failed to load customers"
        caption="Customers, newest first"
        columns={customerColumns}
        empty={{
          title: 'No customers yet',
          description:
            'Orders of your shops add customers. You can also name one when you generate a license.',
          actions: <May call={wire.customers.create}>{addButton}</May>,
        }}
      />
      <DialogSlot>{dialog.kind === 'create' && <CreateCustomerDialog onClose={dialog.close} />}</DialogSlot>
    </div>
  )
}
