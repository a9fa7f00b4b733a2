import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { licenseColumns } from '../../db/columns.ts'
import { type Db, foundInScope, inScope, lock, type Tx } from '../../db/index.ts'
import { pageRows } from '../../db/lists/page-rows.ts'
import type { LicenseRow, Tables } from '../../db/tables.ts'
import { shownCustomer } from '../customers/faces.access.ts'
import { leftOf, usernameOf } from './licenses.access.ts'

/** A license with joined columns for display. */
export interface LicenseView extends LicenseRow {
  /** As the caller sees it. */
  customer: string | null
  app_name: string
  app_public_id: string
  username: string | null
  /** Whether it was added to its end user, whose first license is another one. */
  added: number
  /** The time that a pause of the end user holds whose first license it is. */
  left_ms: number | null
  reseller_email: string | null
  type_name: string | null
  /** The mail with its key to the customer that it has now; null for none. */
  mail: Tables['license_mails']['mail'] | null
  mail_waits_for: Tables['license_mails']['mail_waits_for']
}

/** What a list shows of a license: each column takes a page's time. */
const unlisted = ['owner_id', 'customer_id', 'key_normalized', 'key_twin'] as const
export type ListedLicense = Omit<LicenseView, (typeof unlisted)[number]>
const listed = licenseColumns
  .filter((column) => !unlisted.some((one) => one === column))
  .map((column) => `l.${column}` as const)

const faces = (db: Db, scope: OwnerScope) =>
  db
    .selectFrom('licenses as l')
    .innerJoin('apps as a', 'a.id', 'l.app_id')
    .leftJoin('resellers as r', 'r.id', 'l.reseller_id')
    .leftJoin('license_types as lt', 'lt.id', 'l.type_id')
    .leftJoin('license_mails as m', (join) =>
      join.onRef('m.license_id', '=', 'l.id').onRef('m.customer_id', '=', 'l.customer_id'),
    )
    .select([
      'a.name as app_name',
      'a.app_id as app_public_id',
      usernameOf('l').as('username'),
      sql<number>`coalesce((select case when u.license_id = l.id then 0 else 1 end
        from clients u where u.id = l.client_id), 0)`.as('added'),
      leftOf('l').as('left_ms'),
      'r.email as reseller_email',
      'lt.name as type_name',
      'm.mail',
      'm.mail_waits_for',
      shownCustomer(scope, 'l').as('customer'),
    ])

const views = (db: Db, scope: OwnerScope) => faces(db, scope).selectAll('l')

export const findLicense = (db: Db, scope: OwnerScope, id: string): Promise<LicenseView | undefined> =>
  views(db, scope).where('l.id', '=', id).where(inScope(scope, 'l')).executeTakeFirst()

export const listBySeq = pageRows<ListedLicense>('l', (db, scope, isOfPage) =>
  faces(db, scope).select(listed).where(isOfPage),
)

/** Sorted by creation. */
export const listById = (db: Db, scope: OwnerScope, ids: readonly string[]): Promise<LicenseView[]> =>
  views(db, scope).where('l.id', 'in', ids).where(foundInScope(scope, 'l')).orderBy('l.seq').execute()

/** Locks the rows until the transaction ends and returns them. */
export const lockLicenses = (tx: Tx, scope: OwnerScope, ids: readonly string[]): Promise<LicenseRow[]> =>
  lock(
    tx,
    tx
      .selectFrom('licenses')
      .selectAll()
      .where('id', 'in', ids)
      .where(foundInScope(scope, 'licenses'))
      .orderBy('id'),
  ).execute()

/** Whether an order banned a license because it was refunded or is disputed. */
export async function isBannedByOrder(tx: Tx, id: string): Promise<boolean> {
  const unit = tx.selectFrom('shop_order_units').select('unit').where('license_id', '=', id)
  return (await unit.where('told_ban', 'is not', null).executeTakeFirst()) !== undefined
}

export async function lastSeq(db: Db, scope: OwnerScope): Promise<number> {
  const row = await db
    .selectFrom('licenses')
    .select('seq')
    .where(inScope(scope))
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.seq ?? 0
}
