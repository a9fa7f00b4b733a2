import { type App, limits, type Shop } from '@keyward/contract'
import { Pause, Pencil, Play, Plug, Plus, RefreshCw, Store, Trash2 } from 'lucide-react'
import { Link } from 'react-router'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { amountOf } from '../../lib/format/words.ts'
import { tableState } from '../../lib/list/list-page.ts'
import { listPath, paths } from '../../lib/navigation/paths.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { TimeText } from '../../ui/date.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { kindFacts } from './kinds.ts'
import { useShops, useUpdateShop, useWaitingCount } from './queries.ts'
import { type ShopDialogKind, ShopDialogs, useShopDialog } from './shop-dialogs.tsx'

/** The shops whose orders create licenses of an app, on its page. */
export function ShopsTab({ app }: { app: App }) {
  const shops = useShops(app._id)
  const dialog = useShopDialog()
  const count = shops.data?.length
  const add = dialog.may('new-shop') && count !== undefined && count < limits.shopsMax && (
    <Button variant={count === 0 ? 'primary' : undefined} size="sm" onClick={() => dialog.open('new-shop')}>
      <Plus />
      Add Shop
    </Button>
  )
  return (
    <>
      <Card className="overflow-clip" aria-label="Shops">
        <CardHeader
          title="Shops"
          description={`Their orders create licenses of ${app.name}. At most ${limits.shopsMax}.`}
          actions={count !== 0 && add}
        />
        <Table
          caption="Shops, oldest first"
          columns={columns}
          rows={shops.data}
          rowKey={({ _id }) => _id}
          rowMenu={dialog.may('edit-shop') ? (shop) => <ShopMenu shop={shop} /> : undefined}
          {...tableState(shops, 'Failed to load shops')}
          skeletonRows={2}
          empty={
            <EmptyState
              icon={<Store />}
              title="No shops yet"
              description="Connect the shop where you sell, and each paid order creates its licenses."
              actions={add}
            />
          }
        />
      </Card>
      <ShopDialogs app={app} shops={shops.data ?? []} />
    </>
  )
}

const columns: Column<Shop>[] = [
  {
    id: 'name',
    header: 'Name',
    phone: 'title',
    cell: ({ name }) => (
      <span className="wrap-anywhere font-medium">
        <bdi>{name}</bdi>
      </span>
    ),
  },
  {
    id: 'state',
    header: 'State',
    phone: 'aside',
    cell: ({ active }) => <StateBadge tone={active ? 'success' : 'neutral'} label={active ? 'On' : 'Off'} />,
  },
  { id: 'kind', header: 'Kind', phone: 'whole', cell: ({ kind }) => kindFacts(kind).label },
  {
    id: 'products',
    header: 'Products',
    phone: 'whole',
    cell: ({ products }) => (
      <span className="whitespace-nowrap">
        {formatNumber(products.length)}
        <span className="md:hidden">&nbsp;{products.length === 1 ? 'product' : 'products'}</span>
      </span>
    ),
  },
  {
    id: 'waiting',
    header: 'Waiting',
    phone: 'third',
    cell: (shop) => (
      <>
        <May call={wire.orders.list}>
          <Waiting shop={shop} />
        </May>
        {shop.waiting > 0 && (
          <span className="block whitespace-nowrap text-fg-muted">
            {shop.waiting === limits.shopWaitingShown && 'at least '}
            {amountOf(shop.waiting, 'event')}
          </span>
        )}
      </>
    ),
  },
  {
    id: 'event',
    header: 'Last event',
    phone: 'third',
    cell: ({ lastEventAt }) =>
      lastEventAt ? <TimeText value={lastEventAt} /> : <span className="text-fg-muted">No event yet</span>,
  },
]

function Waiting({ shop }: { shop: Shop }) {
  const waiting = useWaitingCount(shop._id)
  if (!waiting) return null
  const { total, capped } = waiting
  if (total === 0) return <span className="text-fg-muted">No orders</span>
  return (
    <Link
      to={listPath(paths.orders, { app: shop.app._id, shop: shop._id, state: 'waiting' })}
      className="whitespace-nowrap rounded-sm text-accent-text underline-offset-4 hover:underline"
    >
      {amountOf(total, 'order')}
      {capped && ' and more'}
      <span className="md:hidden">{total === 1 ? ' waits' : ' wait'}</span>
    </Link>
  )
}

function ShopMenu({ shop }: { shop: Shop }) {
  const dialog = useShopDialog()
  const resume = useUpdateShop('Shop turned on')
  const open = (kind: ShopDialogKind) => () => dialog.open(kind, shop._id)
  return (
    <Menu label={`Actions for ${shop.name}`}>
      <MenuItem icon={<Plug />} onSelect={open('connect-shop')}>
        Connect and Test
      </MenuItem>
      <MenuItem icon={<Pencil />} onSelect={open('edit-shop')}>
        Edit
      </MenuItem>
      <MenuItem icon={<RefreshCw />} onSelect={open('replace-secret')}>
        Replace Secret
      </MenuItem>
      {shop.active ? (
        <MenuItem icon={<Pause />} onSelect={open('pause-shop')}>
          Turn Off
        </MenuItem>
      ) : (
        <MenuItem icon={<Play />} onSelect={() => resume.mutate({ id: shop._id, active: true })}>
          Turn On
        </MenuItem>
      )}
      <MenuSeparator />
      <MenuItem icon={<Trash2 />} tone="danger" onSelect={open('delete-shop')}>
        Delete
      </MenuItem>
    </Menu>
  )
}
