import { type SqlBool, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { type Db, foundInScope } from '../../db/index.ts'

/** An app with a page for customers. */
export interface PageRow {
  id: string
  owner_id: string
  app_id: string
  name: string
  brand_color: string | null
  customer_devices: number
  check_passwords: number
  test_licenses: number
  buy_url: string | null
  type_links: 0 | 1
  paused: number
  pause_applications: number
}

/** Takes no scope: strangers open pages. */
export const findPage = (db: Db, idOrAppId: string): Promise<PageRow | undefined> =>
  db
    .selectFrom('apps as a')
    .innerJoin('owners as o', 'o.id', 'a.owner_id')
    .select(['a.id', 'a.owner_id', 'a.app_id', 'a.name', 'a.brand_color', 'a.customer_devices'])
    .select(['a.check_passwords', 'a.test_licenses', 'a.buy_url', 'a.type_links'])
    .select(['a.paused', 'o.pause_applications'])
    .where(idOrAppId.startsWith('app_') ? 'a.id' : 'a.app_id', '=', idOrAppId)
    .where('a.customer_page', '=', 1)
    .executeTakeFirst()

/** What an id names in the scope, with its place in lists. */
export const findLicense = (db: Db, scope: OwnerScope, id: string) =>
  db
    .selectFrom('licenses as l')
    .leftJoin('clients as c', 'c.id', 'l.client_id')
    .select(['l.seq', 'c.id as client_id', 'c.seq as client_seq'])
    .where('l.id', '=', id)
    .where(foundInScope(scope, 'l'))
    .executeTakeFirst()

export const findEndUser = (db: Db, scope: OwnerScope, id: string) =>
  db
    .selectFrom('clients as c')
    .select(['c.id', 'c.seq'])
    .where('c.id', '=', id)
    .where(foundInScope(scope, 'c'))
    .executeTakeFirst()

/** The newest licenses of an end user. */
export async function listLicensesOf(
  db: Db,
  scope: OwnerScope,
  clientId: string,
  most: number,
): Promise<number[]> {
  const rows = await db
    .selectFrom('licenses as l')
    .select('l.seq')
    .where('l.client_id', '=', clientId)
    .where(foundInScope(scope, 'l'))
    .orderBy('l.seq', 'desc')
    .limit(most)
    .execute()
  return rows.map(({ seq }) => seq)
}

/** Takes no scope: the session names its customer, of one vendor. */
export const findCustomer = (db: Db, id: string) =>
  db.selectFrom('customers').select(['id', 'email', 'name']).where('id', '=', id).executeTakeFirst()

const isSet = (column: string) => sql<0 | 1>`case when ${sql.ref(column)} is null then 0 else 1 end`

/** What the page needs of end users beyond what lists show. */
export const listDetails = (db: Db, scope: OwnerScope, ids: readonly string[]) =>
  db
    .selectFrom('clients as c')
    .leftJoin('licenses as l', 'l.id', 'c.license_id')
    .select(['c.id', 'c.customer_id', 'c.device_count', isSet('c.password_hash').as('has_password')])
    .select(['c.added_rights', 'c.paused_at'])
    .select(['l.devices', 'l.seats', 'l.seat_timeout_seconds', 'l.features'])
    .select(['l.banned as license_banned', 'l.test as license_test', 'l.customer_id as buyer_id'])
    .where('c.id', 'in', ids)
    .where(foundInScope(scope, 'c'))
    .execute()

/** The end user of a device. */
export async function findDeviceOwner(db: Db, scope: OwnerScope, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('devices as d')
    .select('d.client_id')
    .where('d.id', '=', id)
    .where(foundInScope(scope, 'd'))
    .executeTakeFirst()
  return row?.client_id
}

/** The customer of a vendor with an address, if it has something in the app. */
export async function findByEmail(
  db: Db,
  { ownerId, appId }: { ownerId: string; appId: string },
  email: string,
): Promise<{ id: string; email: string; email_normalized: string } | undefined> {
  const has = (table: string) =>
    sql<SqlBool>`exists (select 1 from ${sql.table(table)} t where t.customer_id = c.id and coalesce(t.app_id, '') = ${appId})`
  return db
    .selectFrom('customers as c')
    .select(['c.id', 'c.email', 'c.email_normalized'])
    .where('c.owner_id', '=', ownerId)
    .where('c.email_normalized', '=', email)
    .where(({ or }) => or([has('licenses'), has('clients'), has('shop_orders')]))
    .executeTakeFirst()
}
