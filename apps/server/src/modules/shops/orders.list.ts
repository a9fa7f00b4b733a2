import { limits, type ShopOrderState } from '@keyward/contract'
import { type SqlBool, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { day } from '../../core/clock.ts'
import { normalizeEmailPart } from '../../core/ids.ts'
import type { Page } from '../../core/paging.ts'
import { appInScope, type Db, foundInScope, inScope } from '../../db/index.ts'
import { countUpTo } from '../../db/lists/pages.ts'
import type { SaleKind } from '../../db/tables/sales.ts'
import type { ShopOrderRow, ShopRow } from '../../db/tables.ts'
import { shownCustomer } from '../customers/faces.access.ts'

/** An order with its shop and app. */
export interface OrderView extends ShopOrderRow {
  /** As the caller sees it. */
  customer: string | null
  app_name: string
  app_public_id: string
  shop_name: string
  shop_kind: ShopRow['kind']
}

const views = (db: Db, scope: OwnerScope) =>
  db
    .selectFrom('shop_orders as o')
    .innerJoin('apps as a', 'a.id', 'o.app_id')
    .innerJoin('shops as s', 's.id', 'o.shop_id')
    .selectAll('o')
    .select(['a.name as app_name', 'a.app_id as app_public_id', 's.name as shop_name', 's.kind as shop_kind'])
    .select(shownCustomer(scope, 'o').as('customer'))

export const findOrder = (db: Db, scope: OwnerScope, id: string): Promise<OrderView | undefined> =>
  views(db, scope).where('o.id', '=', id).where(inScope(scope, 'o')).executeTakeFirst()

export interface OrderFilter {
  appId?: string | undefined
  shop?: string | undefined
  state?: ShopOrderState | undefined
  license?: string | undefined
  customer?: string | undefined
  search?: string | undefined
  sales?: SaleFilter | undefined
}

/** What orders are counted as. */
interface SaleFilter {
  now: number
  /** The apps of the scope and filter; named, they are read by the index. */
  apps?: string[] | undefined
  kind?: SaleKind | undefined
  from?: number | undefined
  until?: number | undefined
  currency?: string | undefined
  product?: string | undefined
}

const isMoney = sql<SqlBool>`e.kind in ('new', 'renewed', 'refunded', 'disputed', 'dispute_won')`

function entriesOf(db: Db, { kind, from, until, currency, product }: Partial<SaleFilter>) {
  let entries = db.selectFrom('sale_entries as e')
  entries = kind === undefined ? entries.where(isMoney) : entries.where('e.kind', '=', kind)
  if (from !== undefined) entries = entries.where('e.at', '>=', from)
  if (until !== undefined) entries = entries.where('e.at', '<', until)
  if (currency !== undefined) entries = entries.where('e.currency', '=', currency)
  return product === undefined ? entries : entries.where('e.product', '=', product)
}

/** How many entries of orders are looked at for a list, the newest first; fewer if these have orders enough. */
const entriesMost = 20 * limits.searchCountMax
const fewEntries = 2 * limits.searchCountMax

/** Whether entries alone say which orders match. */
const isOfEntries = ({ state, license, customer, search }: OrderFilter): boolean =>
  (state ?? license ?? customer) === undefined && !search

/** The entries in the scope; no app has an empty id. */
function ownEntries(db: Db, sales: Partial<SaleFilter>, { shop }: OrderFilter) {
  const entries = entriesOf(db, sales).where('e.app_id', 'in', sales.apps ?? [''])
  return shop === undefined ? entries : entries.where('e.shop_id', '=', shop)
}

async function withApps(db: Db, scope: OwnerScope, filter: OrderFilter): Promise<OrderFilter> {
  const { appId, sales } = filter
  if (!sales) return filter
  const apps = await db.selectFrom('apps').select('id').where(appInScope(scope)).execute()
  const ids = apps.map(({ id }) => id).filter((id) => appId === undefined || id === appId)
  return { ...filter, sales: { ...sales, apps: ids.length > 0 ? ids : undefined } }
}

const hasMany = async (db: Db, sales: SaleFilter, filter: OrderFilter) =>
  (await countUpTo(db, ownEntries(db, sales, filter).select('e.order_id'), fewEntries)) > fewEntries

/** The filter from the day on that has entries enough: the entries of some days are sorted faster than those of years. */
async function narrowed(db: Db, sales: SaleFilter, filter: OrderFilter): Promise<SaleFilter> {
  for (let days = 1; days <= 1024; days *= 4) {
    const latest = { ...sales, from: (sales.until ?? sales.now) - days * day }
    if (sales.from !== undefined && latest.from <= sales.from) break
    if (await hasMany(db, latest, filter)) return latest
  }
  return sales
}

/** The last character of what begins with a text. */
const last = '\u{10ffff}'

/** The orders of the newest entries, with the time of the last one of each. */
function ordersOfNewest(db: Db, sales: SaleFilter, filter: OrderFilter, most: number) {
  const newest = ownEntries(db, sales, filter)
    .select(['e.order_id', 'e.at'])
    .orderBy('e.at', 'desc')
    .limit(most)
  return db
    .selectFrom(newest.as('some'))
    .select((eb) => ['order_id', eb.fn.max('at').as('last_at')])
    .groupBy('order_id')
}

function found(db: Db, scope: OwnerScope, filter: OrderFilter) {
  const { appId, shop, state, license, customer, search, sales } = filter
  let query = db.selectFrom('shop_orders as o').where(sales ? foundInScope(scope, 'o') : inScope(scope, 'o'))
  if (sales) {
    const newest = ordersOfNewest(db, sales, filter, entriesMost).as('newest')
    query = query.where('o.id', 'in', db.selectFrom(newest).select('order_id'))
  }
  if (appId !== undefined) query = query.where('o.app_id', '=', appId)
  if (shop !== undefined) query = query.where('o.shop_id', '=', shop)
  if (state !== undefined) query = query.where('o.state', '=', state)
  if (customer !== undefined) query = query.where('o.customer_id', '=', customer)
  if (license !== undefined) {
    query = query.where('o.id', 'in', (eb) =>
      eb
        .selectFrom('shop_order_units')
        .select('order_id')
        .where((unit) => unit.or([unit('license_id', '=', license), unit('renewed_id', '=', license)])),
    )
  }
  if (!search) return query
  const start = normalizeEmailPart(search)
  return query.where((eb) =>
    eb.or([
      eb('o.number', '=', search),
      eb.and([eb('o.email_normalized', '>=', start), eb('o.email_normalized', '<', start + last)]),
    ]),
  )
}

/** A page of orders, newest first, or by the time of what they are counted as, and how many there are, up to `most` + 1. */
export async function pageOrders(
  db: Db,
  scope: OwnerScope,
  filter: OrderFilter,
  { page, limit }: Page,
  most: number,
): Promise<{ rows: OrderView[]; total: number }> {
  const wanted = await withApps(db, scope, filter)
  const offset = (page - 1) * limit
  if (wanted.sales && isOfEntries(wanted)) {
    const { orders, total } = await findCounted(db, wanted.sales, wanted, most)
    if (offset >= Math.min(total, most)) return { rows: [], total }
    const newest = orders.orderBy('last_at', 'desc').orderBy('order_id')
    const ids = (await newest.limit(limit).offset(offset).execute()).map(({ order_id }) => order_id)
    const rows = await views(db, scope).where('o.id', 'in', ids).where(foundInScope(scope, 'o')).execute()
    return { rows: rows.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)), total }
  }
  const total = await countUpTo(db, found(db, scope, wanted).select('o.seq'), most)
  if (offset >= Math.min(total, most)) return { rows: [], total }
  const seqs = found(db, scope, wanted).select('o.seq').orderBy('o.seq', 'desc').limit(limit).offset(offset)
  const rows = await views(db, scope).where('o.seq', 'in', seqs).orderBy('o.seq', 'desc').execute()
  return { rows, total }
}

/** The orders of the newest entries; of many more entries if these are of few orders, as renewals are. */
async function findCounted(db: Db, sales: SaleFilter, filter: OrderFilter, most: number) {
  const orders = ordersOfNewest(db, await narrowed(db, sales, filter), filter, fewEntries)
  const total = await countUpTo(db, orders, most)
  if (total > most || !(await hasMany(db, sales, filter))) return { orders, total }
  const ofMany = ordersOfNewest(db, sales, filter, entriesMost)
  return { orders: ofMany, total: await countUpTo(db, ofMany, most) }
}

/** What orders took and gave back, by currency. */
export async function sumOrders(
  db: Db,
  scope: OwnerScope,
  filter: OrderFilter,
): Promise<{ currency: string; kind: SaleKind; orders: number; n: number; amount: number }[]> {
  const wanted = await withApps(db, scope, filter)
  const { sales } = wanted
  const entries =
    sales && isOfEntries(wanted)
      ? ownEntries(db, sales, wanted)
      : entriesOf(db, sales ?? {}).where('e.order_id', 'in', found(db, scope, wanted).select('o.id'))
  const rows = await entries
    .where('e.kind', 'in', ['new', 'renewed', 'refunded'])
    .select((eb) => ['e.currency', 'e.kind', eb.fn.count<number>('e.order_id').distinct().as('orders')])
    .select((eb) => eb.fn.sum<number>('e.amount').as('amount'))
    .select(sql<number>`sum(case when e.amount < 0 then -1 else 1 end)`.as('n'))
    .groupBy(['e.currency', 'e.kind'])
    .orderBy('e.currency')
    .execute()
  return rows.map((row) => ({
    ...row,
    orders: Number(row.orders),
    amount: Number(row.amount),
    n: Number(row.n),
  }))
}

/** The units of orders with their licenses, which are null once they were deleted. The caller has found the orders within its scope. */
export const listUnitsOf = async (db: Db, orderIds: readonly string[]) =>
  orderIds.length === 0
    ? []
    : db
        .selectFrom('shop_order_units as u')
        .leftJoin('licenses as l', (join) =>
          join.on('l.id', '=', sql<string>`coalesce(u.license_id, u.renewed_id)`),
        )
        .select(['u.order_id', 'u.renewed_id', 'l.id', 'l.key', 'l.customer_id'])
        .where('u.order_id', 'in', orderIds)
        .orderBy('u.product')
        .orderBy('u.unit')
        .execute()
