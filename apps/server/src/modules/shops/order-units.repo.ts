import { limits } from '@keyward/contract'
import { type Insertable, type SqlBool, sql, type Updateable } from 'kysely'
import type { Db, Tx } from '../../db/index.ts'
import type { LicenseRow, ShopOrderRow, ShopOrderUnitRow, Tables } from '../../db/tables.ts'
import type { ToldLicense } from '../customer-mails/customer-mails.tell.ts'
import type { Which } from '../entitlements/license-rows.ts'

// The caller has the order of the units.

/** The license that a unit created or renews. */
export const licenseOf = ({ license_id, renewed_id }: ShopOrderUnitRow): string | null =>
  license_id ?? renewed_id

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

const ordersOfLicenseMax = 50

/** Other orders that created or renewed a license, newest first; `unheard` are those that change it no more. */
export const listOrdersOf = (
  tx: Tx,
  licenseId: string,
  without: string,
): Promise<
  (Pick<ShopOrderRow, 'id' | 'chosen' | 'issued'> &
    Pick<ShopOrderUnitRow, 'product' | 'unit' | 'gift' | 'unheard'>)[]
> =>
  tx
    .selectFrom('shop_order_units as u')
    .innerJoin('shop_orders as o', 'o.id', 'u.order_id')
    .select(['o.id', 'o.chosen', 'o.issued', 'u.product', 'u.unit', 'u.gift', 'u.unheard'])
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
