import { type Insertable, type SqlBool, sql, type Updateable } from 'kysely'
import { type Db, isIn, lock, type Tx } from '../../db/index.ts'
import type { ShopOrderRow, Tables } from '../../db/tables.ts'

/** What the vendor has decided about an order. */
export interface Chosen {
  /** What was returned of payments whose licenses are kept, by payment. */
  refunds?: Record<string, number>
  /** Warnings that were seen. */
  warnings?: string[]
  /** Payments whose licenses are banned. */
  banned?: string[]
  /** Licenses of units that were given up. */
  ended?: string[]
  /** What happens to the license that it names. */
  reference?: 'replace' | 'newLicense'
}

export const chosenOf = ({ chosen }: Pick<ShopOrderRow, 'chosen'>): Chosen => JSON.parse(chosen)

/** For how many units a product has its licenses, and how many each unit got. */
export type Issued = Record<string, { units: number; each: number }>

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
export async function deleteEmpty(tx: Tx, id: string): Promise<void> {
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

/** Lets the mail of an order that is queued wait for the next look. */
export async function letMailWait(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('shop_orders')
    .set({ mail: 'waiting', mail_waits_for: null })
    .where('id', '=', id)
    .where('mail', '=', 'queued')
    .execute()
}

export const lockOrder = (tx: Tx, id: string): Promise<ShopOrderRow> =>
  lock(tx, tx.selectFrom('shop_orders').selectAll().where('id', '=', id)).executeTakeFirstOrThrow()

/** The address of a license's customer, normalized, and the name of its app. */
export const findNamesOf = (tx: Tx, licenseId: string): Promise<{ holder: string | null; app: string }> =>
  tx
    .selectFrom('licenses as l')
    .innerJoin('apps as a', 'a.id', 'l.app_id')
    .leftJoin('customers as c', 'c.id', 'l.customer_id')
    .select(['c.email_normalized as holder', 'a.name as app'])
    .where('l.id', '=', licenseId)
    .executeTakeFirstOrThrow()

export async function updateOrder(
  tx: Tx,
  id: string,
  change: Updateable<Tables['shop_orders']>,
): Promise<void> {
  await tx.updateTable('shop_orders').set(change).where('id', '=', id).execute()
}

export async function endMail(tx: Tx, id: string, mail: 'sent' | 'failed'): Promise<void> {
  await tx
    .updateTable('shop_orders')
    .set({ mail })
    .where('id', '=', id)
    .where('mail', '=', 'queued')
    .execute()
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
