import { type DataOf, type endpoints, formatAmount } from '@keyward/contract'
import { ShoppingCart } from 'lucide-react'
import { useMemo } from 'react'
import { orderColumns } from '../../features/orders/order-columns.tsx'
import { OrderFilters, toState } from '../../features/orders/order-filters.tsx'
import { useOrders } from '../../features/orders/queries.ts'
import { RetryButton } from '../../features/orders/retry-button.tsx'
import { toSale, wordsOf } from '../../features/orders/sold.ts'
import { useOwner } from '../../lib/api/account.ts'
import { useApp, useApps } from '../../lib/api/apps.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { totalOf } from '../../lib/format/words.ts'
import { usePage } from '../../lib/list/list-page.ts'
import { usePageSize } from '../../lib/list/page-size.ts'
import { toId, toSearch } from '../../lib/list/url-values.ts'
import { useChosen } from '../../lib/list/use-chosen.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { useDialogParam, useUrlState } from '../../lib/navigation/url-state.ts'
import { Button } from '../../ui/button.tsx'
import { DialogSlot } from '../../ui/deferred.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { ResourceList } from '../../ui/resource-list.tsx'
import { NoApps } from './no-apps.tsx'

const OrderDialog = lazyNamed(() => import('../../features/orders/order-dialog.tsx'), 'OrderDialog')

const dialogs = ['order'] as const
const names = ['app', 'shop', 'state', 'search', 'license', 'customer'] as const
/** What the page Sales counts. */
const saleNames = ['sale', 'from', 'to', 'timeZone', 'currency', 'product'] as const
const none = Object.fromEntries([...names, ...saleNames].map((name) => [name, undefined]))

/** What the shops of all apps have sold. */
export function OrdersPage() {
  const apps = useApps()
  const may = useMay()
  const [url, setUrl] = useUrlState(...names, ...saleNames, 'page', 'dialog', 'id')
  const { app, resolving, unresolved } = useApp(toId(url.app))
  const { page } = usePage()
  const size = usePageSize(useOwner().data?._id, 50)
  const dialog = useDialogParam(dialogs)
  const [license, customer] = [toId(url.license), toId(url.customer)]
  const shown = {
    app: app?._id,
    shop: toId(url.shop),
    state: toState(url.state),
    search: toSearch(url.search),
  }
  const sold = toSale(url)
  const filters = { ...shown, license, customer, ...sold }
  const orders = useOrders({ ...filters, page, limit: size.limit }, !resolving)
  const data = resolving ? undefined : orders.data
  const filtered = Object.values(filters).some((value) => value !== undefined)
  const order = useChosen(data?.orders, dialog.kind && dialog.id)
  const setFilters = (changes: Record<string, string | undefined>) =>
    setUrl({ ...changes, page: undefined, dialog: undefined, id: undefined })
  const { open } = dialog
  const columns = useMemo(() => orderColumns(({ _id }) => open('order', _id)), [open])
  const header = <PageHeader title="Orders" subtitle="What your shops have sold, and what waits for you." />
  if (apps.data?.length === 0)
    return (
      <div className="grid gap-3 md:gap-6">
        {header}
        <NoApps icon={<ShoppingCart />} reason="An order creates licenses of an app." />
      </div>
    )

  return (
    <div className="grid gap-3 md:gap-6">
      {header}
      <ResourceList
        title={
          license
            ? 'Orders of one license'
            : customer
              ? 'Orders of one customer'
              : (wordsOf(sold) ?? 'All Orders')
        }
        description={data ? summaryOf(data) : '\u00a0'}
        stacked
        noun="orders"
        icon={<ShoppingCart />}
        filters={
          <>
            {(license || customer || wordsOf(sold)) && (
              <Button onClick={() => setFilters({ ...none, ...shown })}>All Orders</Button>
            )}
            <OrderFilters
              apps={apps.data ?? []}
              app={app}
              mayListShops={may(wire.shops.list)}
              values={shown}
              onChange={setFilters}
            />
          </>
        }
        query={orders}
        before={unresolved ?? apps}
        page={data}
        rows={data?.orders}
        {...size}
        failure="Failed to load orders"
        onClear={filtered ? () => setFilters(none) : undefined}
        nothingFound="Nothing matches your filters."
        caption="Orders, newest first"
        columns={columns}
        rowMenu={
          may(wire.orders.retry)
            ? (row) => <RetryButton order={row} onOpen={() => open('order', row._id)} />
            : undefined
        }
        skeletonRows={10}
        empty={{
          title: 'No orders yet',
          description: 'Connect a shop on the page of an app. What it sells appears here.',
        }}
      />
      <DialogSlot>
        {dialog.kind === 'order' && order && (
          <OrderDialog
            key={order._id}
            order={order}
            onCustomer={(id) => setFilters({ ...none, customer: id })}
            onClose={dialog.close}
          />
        )}
      </DialogSlot>
    </div>
  )
}

const summaryOf = ({ pagination, totals }: DataOf<typeof endpoints.orders.list>) => {
  const sums = (totals ?? []).map(
    ({ currency, revenue, refunded }) =>
      `${formatAmount(revenue, currency)}${refunded === 0 ? '' : `, ${formatAmount(refunded, currency)} refunded`}`,
  )
  return [totalOf(pagination, 'order'), ...sums].join(' · ')
}
