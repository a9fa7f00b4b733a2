import { limits, type ShopOrderState } from '@keyward/contract'
import { type Insertable, type SqlBool, sql, type Updateable } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { normalizeEmailPart } from '../../core/ids.ts'
import type { Page } from '../../core/paging.ts'
import { appInScope, type Db, foundInScope, inScope, isIn, lock, type Tx } from '../../db/index.ts'
import { countUpTo } from '../../db/lists/pages.ts'
import type { SaleKind } from '../../db/tables/sales.ts'
import type { LicenseRow, ShopOrderRow, ShopOrderUnitRow, ShopRow, Tables } from '../../db/tables.ts'
import type { ToldLicense } from '../customer-mails/customer-mails.tell.ts'
import { shownCustomer } from '../customers/faces.access.ts'
import type { Which } from '../entitlements/license-rows.ts'

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

// What follows belongs to the events of a shop, and takes no scope: the caller has the shop of the event.

/** Finds or makes the order with a number, and locks it until the transaction ends: its events are used one after the other. */
export const lockOrderOf = (tx: Tx, row: Insertable<Tables['shop_orders']>): Promise<ShopOrderRow> =>
  tx
    .insertInto('shop_orders')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['shop_id', 'number']).doUpdateSet({ state: sql`shop_orders.state` }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()

/** Deletes an order that an event seemed to be about, until it was read back. */
export async function deleteUntold(tx: Tx, id: string): Promise<void> {
  await tx
    .deleteFrom('shop_orders')
    .where('id', '=', id)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('shop_events').select('seq').where('order_id', '=', id))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('shop_order_units').select('unit').where('order_id', '=', id))),
    )
    .execute()
}

/** The keys that an order has created and that its customer has no more; undefined if the order is gone. */
export async function listMovedKeys(db: Db, id: string): Promise<string[] | undefined> {
  const rows = await db
    .selectFrom('shop_orders as o')
    .leftJoin('shop_order_units as u', 'u.order_id', 'o.id')
    .leftJoin('licenses as l', (join) =>
      join.onRef('l.id', '=', 'u.license_id').on(sql<SqlBool>`l.customer_id is distinct from o.customer_id`),
    )
    .select('l.key')
    .where('o.id', '=', id)
    .execute()
  return rows.length === 0 ? undefined : rows.flatMap(({ key }) => key ?? [])
}

/** Lets the mail of an order that is queued wait for the next look. */
export async function letMailWait(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('shop_orders')
    .set({ mail: 'waiting', mail_waits_for: 'day' })
    .where('id', '=', id)
    .where('mail', '=', 'queued')
    .execute()
}

export const lockOrder = (tx: Tx, id: string): Promise<ShopOrderRow> =>
  lock(tx, tx.selectFrom('shop_orders').selectAll().where('id', '=', id)).executeTakeFirstOrThrow()

export const listUnits = (tx: Tx, orderId: string): Promise<ShopOrderUnitRow[]> =>
  tx
    .selectFrom('shop_order_units')
    .selectAll()
    .where('order_id', '=', orderId)
    .orderBy('product')
    .orderBy('unit')
    .limit(limits.orderLicensesMax)
    .execute()

export const insertUnits = (
  tx: Tx,
  rows: Insertable<Tables['shop_order_units']>[],
): Promise<ShopOrderUnitRow[]> => tx.insertInto('shop_order_units').values(rows).returningAll().execute()

/** Notes what a license got because of its order. */
export async function updateUnits(
  tx: Tx,
  licenseIds: readonly string[],
  told: Pick<Updateable<Tables['shop_order_units']>, 'told_end' | 'told_product' | 'told_ban' | 'kept_after'>,
): Promise<void> {
  await tx.updateTable('shop_order_units').set(told).where('license_id', 'in', licenseIds).execute()
}

type Unit = Pick<ShopOrderUnitRow, 'order_id' | 'product' | 'unit'>

/** Notes what a unit gave to the license that it renews. */
export async function setGift(
  tx: Tx,
  { order_id, product, unit }: Unit,
  gift: Pick<Updateable<Tables['shop_order_units']>, 'gift' | 'told_end' | 'told_ban' | 'kept_after'>,
): Promise<void> {
  await tx
    .updateTable('shop_order_units')
    .set(gift)
    .where('order_id', '=', order_id)
    .where('product', '=', product)
    .where('unit', '=', unit)
    .execute()
}

export async function deleteUnit(tx: Tx, { order_id, product, unit }: Unit): Promise<void> {
  await tx
    .deleteFrom('shop_order_units')
    .where('order_id', '=', order_id)
    .where('product', '=', product)
    .where('unit', '=', unit)
    .execute()
}

/** Whose a grant is. */
export async function findHolderOf(tx: Tx, grantId: string): Promise<Which | undefined> {
  const row = await tx
    .selectFrom('grants')
    .select(['license_id', 'client_id'])
    .where('id', '=', grantId)
    .executeTakeFirst()
  return row && (row.license_id ? { licenses: [row.license_id] } : { clients: [row.client_id ?? ''] })
}

/** The address of a license's customer, normalized, and the name of its app. */
export const findNamesOf = (tx: Tx, licenseId: string): Promise<{ holder: string | null; app: string }> =>
  tx
    .selectFrom('licenses as l')
    .innerJoin('apps as a', 'a.id', 'l.app_id')
    .leftJoin('customers as c', 'c.id', 'l.customer_id')
    .select(['c.email_normalized as holder', 'a.name as app'])
    .where('l.id', '=', licenseId)
    .executeTakeFirstOrThrow()

const ordersOfLicenseMax = 50

/** Other orders that created or renewed a license, newest first; `unheard` are those that change it no more. */
export const listOrdersOf = (
  tx: Tx,
  licenseId: string,
  without: string,
): Promise<(Pick<ShopOrderRow, 'id' | 'chosen'> & Pick<ShopOrderUnitRow, 'gift' | 'unheard'>)[]> =>
  tx
    .selectFrom('shop_order_units as u')
    .innerJoin('shop_orders as o', 'o.id', 'u.order_id')
    .select(['o.id', 'o.chosen', 'u.gift', 'u.unheard'])
    .where((eb) => eb.or([eb('u.license_id', '=', licenseId), eb('u.renewed_id', '=', licenseId)]))
    .where('u.order_id', '<>', without)
    .orderBy('o.seq', 'desc')
    .limit(ordersOfLicenseMax)
    .execute()

/** What these orders tell changes a license no more. */
export async function unhear(tx: Tx, licenseId: string, orders: readonly string[]): Promise<void> {
  if (orders.length === 0) return
  await tx
    .updateTable('shop_order_units')
    .set({ unheard: 1 })
    .where((eb) => eb.or([eb('license_id', '=', licenseId), eb('renewed_id', '=', licenseId)]))
    .where('order_id', 'in', orders)
    .execute()
}

export async function updateOrder(
  tx: Tx,
  id: string,
  change: Updateable<Tables['shop_orders']>,
): Promise<void> {
  await tx.updateTable('shop_orders').set(change).where('id', '=', id).execute()
}

/** The keys that an order has created and that its customer still has, with the customer's address and the app. */
export const listKeysOf = (tx: Tx, orderId: string, customerId: string) =>
  tx
    .selectFrom('shop_order_units as u')
    .innerJoin('licenses as l', 'l.id', 'u.license_id')
    .innerJoin('customers as c', 'c.id', 'l.customer_id')
    .innerJoin('apps as a', 'a.id', 'l.app_id')
    .select(['l.key', 'c.email', 'a.name as app', 'a.app_id', 'a.customer_page'])
    .where('u.order_id', '=', orderId)
    .where('l.customer_id', '=', customerId)
    .orderBy('u.product')
    .orderBy('u.unit')
    .execute()

export async function endMail(tx: Tx, id: string, mail: 'sent' | 'failed'): Promise<void> {
  await tx
    .updateTable('shop_orders')
    .set({ mail })
    .where('id', '=', id)
    .where('mail', '=', 'queued')
    .execute()
}

/** The next vendor, by its id, with an order whose mail waits. */
export async function findWaitingOwner(db: Db, after: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('shop_orders')
    .select('owner_id')
    .where('mail', '=', sql.lit('waiting'))
    .where('owner_id', '>', after)
    .orderBy('owner_id')
    .limit(1)
    .executeTakeFirst()
  return row?.owner_id
}

/** Orders of a vendor whose mail waits, oldest first, of shops other than some. */
export const listWaitingMails = (
  db: Db,
  ownerId: string,
  { isFree, without, count }: { isFree: boolean; without: readonly string[]; count: number },
): Promise<Pick<ShopOrderRow, 'id' | 'shop_id'>[]> =>
  db
    .selectFrom('shop_orders')
    .select(['id', 'shop_id'])
    .where('owner_id', '=', ownerId)
    .where('mail', '=', sql.lit('waiting'))
    .where((eb) => (isFree ? eb('amount', '=', 0) : eb.or([eb('amount', 'is', null), eb('amount', '<>', 0)])))
    .$if(without.length > 0, (query) => query.where('shop_id', 'not in', [...without]))
    .orderBy('seq')
    .limit(count)
    .execute()

/** Orders that are not in the sums of sales yet. */
export async function listUncounted(db: Db, count: number): Promise<string[]> {
  const rows = await db
    .selectFrom('shop_orders')
    .select('id')
    .where('counted', '=', sql.lit(0))
    .orderBy('seq')
    .limit(count)
    .execute()
  return rows.map(({ id }) => id)
}

/** Locks an order that may be gone. */
export const findLocked = (tx: Tx, id: string): Promise<ShopOrderRow | undefined> =>
  lock(tx, tx.selectFrom('shop_orders').selectAll().where('id', '=', id)).executeTakeFirst()

/** When the licenses of an order were used last, by their ids. */
export async function listLastUses(tx: Tx, orderId: string): Promise<Map<string, number>> {
  const rows = await tx
    .selectFrom('shop_order_units as u')
    .innerJoin('licenses as l', 'l.id', 'u.license_id')
    .leftJoin('clients as c', 'c.license_id', 'l.id')
    .select(['l.id', 'l.used_at', 'c.last_login_at'])
    .where('u.order_id', '=', orderId)
    .execute()
  const usedAt = new Map<string, number>()
  for (const { id, used_at, last_login_at } of rows)
    usedAt.set(id, Math.max(usedAt.get(id) ?? 0, Number(used_at ?? 0), Number(last_login_at ?? 0)))
  return usedAt
}

/** The types of licenses that got an end of their order, which may be lost. */
export async function listTypesToRestore(tx: Tx, orderId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('shop_order_units as u')
    .innerJoin('licenses as l', 'l.id', 'u.license_id')
    .select('l.type_id')
    .distinct()
    .where('u.order_id', '=', orderId)
    .where('u.told_end', 'is not', null)
    .where('l.type_id', 'is not', null)
    .execute()
  return rows.flatMap(({ type_id }) => type_id ?? [])
}

/** Whether what an order paid has ended since it was looked at. */
export const hasEnded = async (db: Db, now: number): Promise<boolean> =>
  (await db
    .selectFrom('shop_orders')
    .select('id')
    .where('ends_at', '<=', now)
    .limit(1)
    .executeTakeFirst()) !== undefined

/** Passes over orders that have ended, of apps whose licenses never stay. */
export async function passEnds(tx: Tx, now: number, count: number): Promise<number> {
  const passed = await tx
    .selectFrom('shop_orders as o')
    .select('o.id')
    .where('o.ends_at', '<=', now)
    .where(
      sql<SqlBool>`not exists (select 1 from license_types t
        where t.app_id = o.app_id and t.fallback_after_months is not null)`,
    )
    .limit(count)
    .execute()
  const ids = passed.map(({ id }) => id)
  if (ids.length > 0)
    await tx
      .updateTable('shop_orders')
      .set({ ends_at: null })
      .where(isIn(tx, 'id', ids))
      .execute()
  return ids.length
}

/** Lets the other orders be looked at again that created or renewed a license of an order, where licenses stay for ever. */
export async function lookAtOthers(tx: Tx, { id, app_id }: ShopOrderRow, now: number): Promise<void> {
  const licenses = tx
    .selectFrom('shop_order_units')
    .select(sql<string>`coalesce(license_id, renewed_id)`.as('license'))
    .where('order_id', '=', id)
  await tx
    .updateTable('shop_orders')
    .set({ ends_at: now })
    .where('id', '<>', id)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('shop_order_units')
        .select('order_id')
        .where((unit) => unit.or([unit('license_id', 'in', licenses), unit('renewed_id', 'in', licenses)])),
    )
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('license_types')
          .select('id')
          .where('app_id', '=', app_id)
          .where('fallback_after_months', 'is not', null),
      ),
    )
    .execute()
}

export type EndedOrder = Pick<ShopOrderRow, 'id' | 'seq' | 'shop_id' | 'owner_id'>

/** Orders of which what they paid has ended, in the order of their arrival. */
export const listEnded = (
  db: Db,
  { now, after, count }: { now: number; after: number; count: number },
): Promise<EndedOrder[]> =>
  db
    .selectFrom('shop_orders')
    .select(['id', 'seq', 'shop_id', 'owner_id'])
    .where('ends_at', '<=', now)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(count)
    .execute()

/** After how many paid months the licenses of an app's types stay for ever. */
export async function listFallbackMonths(tx: Tx, appId: string): Promise<Map<string, number>> {
  const rows = await tx
    .selectFrom('license_types')
    .select(['id', 'fallback_after_months as months'])
    .where('app_id', '=', appId)
    .where('fallback_after_months', 'is not', null)
    .execute()
  return new Map(rows.map(({ id, months }) => [id, months ?? 0]))
}

/** The licenses that an order created or renewed, by their ids. */
export async function listTypesOfUnits(
  tx: Tx,
  orderId: string,
): Promise<Map<string, Pick<LicenseRow, 'type_id' | 'banned'>>> {
  const rows = await tx
    .selectFrom('shop_order_units as u')
    .innerJoin('licenses as l', (join) =>
      join.on('l.id', '=', sql<string>`coalesce(u.license_id, u.renewed_id)`),
    )
    .select(['l.id', 'l.type_id', 'l.banned'])
    .where('u.order_id', '=', orderId)
    .execute()
  return new Map(rows.map(({ id, ...row }) => [id, row]))
}

/** The licenses that an order created or renewed and that still follow it. */
export const listHeard = (tx: Tx, orderId: string): Promise<ToldLicense[]> =>
  tx
    .selectFrom('shop_order_units as u')
    .innerJoin('licenses as l', (join) =>
      join.on('l.id', '=', sql<string>`coalesce(u.license_id, u.renewed_id)`),
    )
    .select(['l.id', 'l.owner_id', 'l.app_id', 'l.customer_id', 'l.expires_at', 'l.grace_days'])
    .where('u.order_id', '=', orderId)
    .where('u.unheard', '=', 0)
    .execute()
