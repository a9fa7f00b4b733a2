import { limits, type ShopOrderState } from '@keyward/contract'
import { type SqlBool, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
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
  kind?: SaleKind | undefined
  from?: number | undefined
  until?: number | undefined
  currency?: string | undefined
  product?: string | undefined
}

const isMoney = sql<SqlBool>`e.kind in ('new', 'renewed', 'refunded', 'disputed', 'dispute_won')`

function entriesOf(db: Db, { kind, from, until, currency, product }: SaleFilter) {
  let entries = db.selectFrom('sale_entries as e')
  entries = kind === undefined ? entries.where(isMoney) : entries.where('e.kind', '=', kind)
  if (from !== undefined) entries = entries.where('e.at', '>=', from)
  if (until !== undefined) entries = entries.where('e.at', '<', until)
  if (currency !== undefined) entries = entries.where('e.currency', '=', currency)
  return product === undefined ? entries : entries.where('e.product', '=', product)
}

/** How many entries of orders are looked at for a list, the newest first. */
const entriesMost = 20 * limits.searchCountMax

/** The last character of what begins with a text. */
const last = '\u{10ffff}'

function found(db: Db, scope: OwnerScope, filter: OrderFilter) {
  const { appId, shop, state, license, customer, search, sales } = filter
  let query = db.selectFrom('shop_orders as o').where(sales ? foundInScope(scope, 'o') : inScope(scope, 'o'))
  if (sales) {
    const apps = db.selectFrom('apps').select('id').where(appInScope(scope))
    const newest = entriesOf(db, sales).select('e.order_id').orderBy('e.at', 'desc').limit(entriesMost)
    const mine = newest.where('e.app_id', 'in', appId === undefined ? apps : [appId])
    query = query.where('o.id', 'in', db.selectFrom(mine.as('some')).select('order_id'))
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

/** A page of orders, newest first, and how many there are, up to `most` + 1. */
export async function pageOrders(
  db: Db,
  scope: OwnerScope,
  filter: OrderFilter,
  { page, limit }: Page,
  most: number,
): Promise<{ rows: OrderView[]; total: number }> {
  const total = await countUpTo(db, found(db, scope, filter).select('o.seq'), most)
  const offset = (page - 1) * limit
  if (offset >= Math.min(total, most)) return { rows: [], total }
  const seqs = found(db, scope, filter).select('o.seq').orderBy('o.seq', 'desc').limit(limit).offset(offset)
  const rows = await views(db, scope).where('o.seq', 'in', seqs).orderBy('o.seq', 'desc').execute()
  return { rows, total }
}

/** What orders took and gave back, by currency; null for more orders than `most`. */
export async function sumOrders(
  db: Db,
  scope: OwnerScope,
  filter: OrderFilter,
): Promise<{ currency: string; kind: SaleKind; orders: number; n: number; amount: number }[]> {
  const rows = await entriesOf(db, filter.sales ?? {})
    .where('e.order_id', 'in', found(db, scope, filter).select('o.id'))
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

/** Licenses of orders that still exist. The caller has found the orders within its scope. */
const licensesBy =
  (column: 'u.renewed_id' | 'u.license_id') =>
  async (
    db: Db,
    orderIds: readonly string[],
  ): Promise<{ order_id: string; id: string; key: string; customer_id: string | null }[]> =>
    orderIds.length === 0
      ? []
      : db
          .selectFrom('shop_order_units as u')
          .innerJoin('licenses as l', 'l.id', column)
          .select(['u.order_id', 'l.id', 'l.key', 'l.customer_id'])
          .where('u.order_id', 'in', orderIds)
          .orderBy('u.product')
          .orderBy('u.unit')
          .execute()

/** The licenses that orders have created. */
export const listLicenses = licensesBy('u.license_id')

/** The licenses that orders have renewed. */
export const listRenewed = licensesBy('u.renewed_id')
