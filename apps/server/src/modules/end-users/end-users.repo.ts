import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { type Db, foundInScope, inScope, lock, type Tx } from '../../db/index.ts'
import { pageRows } from '../../db/lists/page-rows.ts'
import type { ClientRow } from '../../db/tables.ts'
import { shownCustomer } from '../customers/faces.access.ts'
import { deleteEndUserRows } from '../entitlements/end-user-rows.ts'

/** An end user with joined columns for display. */
export interface EndUserView extends ClientRow {
  /** As the caller sees it. */
  customer: string | null
  app_name: string
  app_public_id: string
  license_key: string | null
  license_test: number | null
}

// With a join, PostgreSQL would read all licenses for a page of some thousand rows.
const licenseKey = sql<string | null>`(select l.key from licenses l where l.id = c.license_id)`
const licenseTest = sql<number | null>`(select l.test from licenses l where l.id = c.license_id)`

const views = (db: Db, scope: OwnerScope) =>
  db
    .selectFrom('clients as c')
    .innerJoin('apps as a', 'a.id', 'c.app_id')
    .selectAll('c')
    .select(['a.name as app_name', 'a.app_id as app_public_id', licenseKey.as('license_key')])
    .select(licenseTest.as('license_test'))
    .select(shownCustomer(scope, 'c').as('customer'))

export const findEndUser = (db: Db, scope: OwnerScope, id: string): Promise<EndUserView | undefined> =>
  views(db, scope).where('c.id', '=', id).where(inScope(scope, 'c')).executeTakeFirst()

export const listBySeq = pageRows<EndUserView>('c', (db, scope, isOfPage) => views(db, scope).where(isOfPage))

/** Sorted by creation. */
export const listById = (db: Db, scope: OwnerScope, ids: readonly string[]): Promise<EndUserView[]> =>
  views(db, scope).where('c.id', 'in', ids).where(foundInScope(scope, 'c')).orderBy('c.seq').execute()

/** Locks the rows until the transaction ends and returns how many there are. */
export async function lockEndUsers(tx: Tx, scope: OwnerScope, ids: readonly string[]): Promise<number> {
  const endUsers = tx
    .selectFrom('clients')
    .select('id')
    .where('id', 'in', ids)
    .where(foundInScope(scope, 'clients'))
    .orderBy('id')
  return (await lock(tx, endUsers).execute()).length
}

/** Deletes end users and returns how many. Activation files that run on are kept, because they count on a limited plan. */
export async function deleteEndUsers(
  tx: Tx,
  scope: OwnerScope,
  ids: readonly string[],
  now: number,
): Promise<number> {
  const files = tx
    .selectFrom('offline_activations')
    .select(['id', 'app_id', 'until'])
    .where('client_id', 'in', ids)
    .where(foundInScope(scope, 'offline_activations'))
    .where('ended_by', 'is', null)
    .where('until', '>', now)
  await tx.insertInto('deleted_files').columns(['id', 'app_id', 'expires_at']).expression(files).execute()
  return deleteEndUserRows(tx, scope, ids)
}

/** Deletes up to `count` end users of an app and returns how many. Their licenses are deleted separately. */
export async function deleteSlice(tx: Tx, scope: OwnerScope, appId: string, count: number): Promise<number> {
  const slice = tx.selectFrom('clients').select('id').where('app_id', '=', appId).limit(count)
  return deleteEndUserRows(tx, scope, slice)
}

/** The app of an end user, if it has a page for customers. */
export const findAppOfPage = (db: Db, scope: OwnerScope, appId: string) =>
  db
    .selectFrom('apps as a')
    .select(['a.id', 'a.app_id as appId', 'a.name'])
    .where('a.id', '=', appId)
    .where('a.owner_id', '=', scope.ownerId)
    .where('a.customer_page', '=', 1)
    .executeTakeFirst()

/** The customer of an end user. */
export const findCustomerOf = (db: Db, scope: OwnerScope, id: string) =>
  db
    .selectFrom('clients as c')
    .innerJoin('customers as p', 'p.id', 'c.customer_id')
    .select(['p.id', 'p.email'])
    .where('c.id', '=', id)
    .where(foundInScope(scope, 'c'))
    .executeTakeFirst()

/** The language of the newest order of a customer that names one. */
export async function findLocaleOf(
  db: Db,
  scope: OwnerScope,
  customerId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('shop_orders as o')
    .select('o.locale')
    .where('o.customer_id', '=', customerId)
    .where('o.locale', 'is not', null)
    .where(foundInScope(scope, 'o'))
    .orderBy('o.seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.locale ?? undefined
}
