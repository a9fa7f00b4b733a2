import { limits } from '@keyward/contract'
import { ContactRound, Pencil, ShoppingCart } from 'lucide-react'
import { useParams } from 'react-router'
import { CustomerDialog, useCustomerDialog } from '../../features/customers/customer-dialogs.tsx'
import { CustomerFacts } from '../../features/customers/customer-facts.tsx'
import { CustomerMails } from '../../features/customers/customer-mails.tsx'
import { CustomerMenu } from '../../features/customers/customer-menu.tsx'
import { CustomerOrders } from '../../features/customers/customer-orders.tsx'
import { useCustomer } from '../../features/customers/queries.ts'
import { Devices } from '../../features/end-users/devices.tsx'
import { endUserColumns } from '../../features/end-users/end-user-columns.tsx'
import { licenseColumns } from '../../features/licenses/license-columns.tsx'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Deferred, DialogSlot } from '../../ui/deferred.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { EmptyLine } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ItemColumns, ItemPage } from './item-page.tsx'

const NewSaleDialog = lazyNamed(() => import('../../features/licenses/new-sale-dialog.tsx'), 'NewSaleDialog')
const DevicesOfMany = lazyNamed(() => import('../../features/end-users/devices-of-many.tsx'), 'DevicesOfMany')
const LastRefusal = lazyNamed(() => import('../../features/activity/last-refusal.tsx'), 'LastRefusal')
const ItemTimeline = lazyNamed(() => import('./item-timeline.tsx'), 'ItemTimeline')

const sales = { 'new-sale': [wire.licenses.create, wire.clients.update] }
const licenseParts = licenseColumns.filter(({ id }) => ['key', 'status', 'app', 'expires'].includes(id))
const endUserParts = endUserColumns.filter(({ id }) => ['user', 'status', 'app', 'expires'].includes(id))

/** Everything about one person that the vendor sells to. */
export function CustomerPage() {
  const { id = '' } = useParams()
  const query = useCustomer(id)
  const dialog = useCustomerDialog()
  const sale = useCallDialog(sales)
  return (
    <ItemPage
      query={query}
      list={{ label: 'Customers', to: paths.customers }}
      noun="Customer"
      icon={<ContactRound />}
    >
      {({ customer, licenses, clients, devices, mails, refusal }) => (
        <>
          <PageHeader
            title={customer.email}
            subtitle={customer.name ?? 'Customer'}
            actions={
              <CustomerMenu
                customer={customer}
                onEdit={() => dialog.open('edit')}
                onErase={() => dialog.open('erase')}
              />
            }
            primary={
              (sale.may('new-sale') || dialog.may('edit')) && (
                <div className="flex gap-2 max-md:[&>*]:h-full max-md:[&>*]:flex-1">
                  {sale.may('new-sale') && (
                    <Button onClick={() => sale.open('new-sale')}>
                      <ShoppingCart />
                      New Sale
                    </Button>
                  )}
                  {dialog.may('edit') && (
                    <Button variant="primary" onClick={() => dialog.open('edit')}>
                      <Pencil />
                      Edit Customer
                    </Button>
                  )}
                </div>
              )
            }
          />
          <ItemColumns>
            <div className="grid gap-4 md:gap-6">
              {refusal && (
                <Deferred fallback={<Skeleton className="h-48 rounded-xl" />}>
                  <Card className="p-4 md:p-5">
                    <LastRefusal key={refusal} reference={refusal} />
                  </Card>
                </Deferred>
              )}
              {licenses && (
                <Part
                  title="Licenses"
                  columns={licenseParts}
                  rows={licenses}
                  empty="Open a license and link it to this customer, or name the customer when you generate one."
                />
              )}
              {clients.length > 1 ? (
                <Deferred fallback={<Skeleton className="h-40 rounded-xl" />}>
                  <DevicesOfMany devices={devices.map((device) => named(device, clients))} />
                </Deferred>
              ) : (
                clients[0] && <Devices user={clients[0]._id} />
              )}
              <Part
                title="End Users"
                columns={endUserParts}
                rows={clients.map((user) => ({ ...user, knownAs: customer.name ?? customer.email }))}
                empty="People who sign in with a license of this customer appear here."
              />
              <May call={wire.orders.list}>
                <CustomerOrders customer={customer._id} />
              </May>
              <CustomerMails mails={mails} />
            </div>
            <div className="grid gap-4 md:gap-6">
              <CustomerFacts customer={customer} />
              <Deferred fallback={<Skeleton className="h-64 rounded-xl" />}>
                <ItemTimeline changes={{ about: customer._id }} {...programsOf(licenses)} />
              </Deferred>
            </div>
          </ItemColumns>
          <DialogSlot>
            {sale.kind === 'new-sale' && <NewSaleDialog customer={customer.email} onClose={sale.close} />}
          </DialogSlot>
          <CustomerDialog kind={dialog.kind} customer={customer} onClose={dialog.close} />
        </>
      )}
    </ItemPage>
  )
}

/** A device whose end user signs in with a key names its beginning. */
const named = <Device extends { client: { _id: string; username: string } }>(
  device: Device,
  clients: readonly { _id: string; licenseKey: string | null }[],
): Device => {
  const { _id, username } = device.client
  const isKey = clients.some((one) => one._id === _id && one.licenseKey === username)
  return isKey ? { ...device, client: { _id, username: keyPrefix(username) } } : device
}

/** What programs did with the license of a customer; the log knows no more than one at a time. */
const programsOf = (licenses: readonly { _id: string }[] | null) =>
  licenses?.[0] && licenses.length === 1 ? { programs: { license: licenses[0]._id } } : {}

interface PartProps<Row> {
  title: string
  columns: Column<Row>[]
  rows: Row[]
  empty: string
}

function Part<Row extends { _id: string }>({ title, columns, rows, empty }: PartProps<Row>) {
  const isCut = rows.length >= limits.customerPartsMax
  return (
    <Card className="overflow-clip">
      <CardHeader title={title} description={isCut ? `The newest ${limits.customerPartsMax}` : undefined} />
      <Table
        caption={`${title} of the customer, newest first`}
        columns={columns}
        rows={rows}
        rowKey={({ _id }) => _id}
        empty={<EmptyLine title={`No ${title.toLowerCase()}`} description={empty} />}
      />
    </Card>
  )
}
