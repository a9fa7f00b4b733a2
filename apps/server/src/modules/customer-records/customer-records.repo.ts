import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { normalizeEmailPart, normalizeName } from '../../core/ids.ts'
import type { Page } from '../../core/paging.ts'
import { type Database, type Db, foundInScope, inScope, lock, ownerOf, type Tx } from '../../db/index.ts'
import { countUpTo } from '../../db/lists/pages.ts'
import { anywhere } from '../../db/lists/search.ts'
import type { CustomerRow } from '../../db/tables.ts'
import {
  customerInScope,
  findNamedCustomer,
  hasAny,
  isShownFace,
  shownText,
} from '../customers/faces.access.ts'

/** A customer as a caller sees it: `id` and what follows can be those of a face. */
export interface CustomerView extends Omit<CustomerRow, 'mail_token'> {
  customer_id: string
  /** The address as the people of the caller's apps typed it; null if they see the customer itself. */
  typed: string | null
  licenses: number
  orders: number
}

export interface CustomerFilter {
  /** An app that the caller has checked. */
  appId: string | undefined
  search: string | undefined
}

const countOf = (table: 'licenses' | 'shop_orders', scope: OwnerScope) =>
  sql<number>`(select count(*) from ${sql.table(table)} t where t.customer_id = c.id and ${foundInScope(scope, 't')})`

const views = (db: Db, scope: OwnerScope) => {
  const counts = [
    countOf('licenses', scope).as('licenses'),
    countOf('shop_orders', scope).as('orders'),
  ] as const
  if (scope.apps === null) {
    return db
      .selectFrom('customers as c')
      .select([
        'c.seq',
        'c.id',
        'c.id as customer_id',
        'c.owner_id',
        'c.email',
        'c.email_normalized',
        'c.mails',
        'c.created_at',
      ])
      .select([
        shownText('name').as('name'),
        shownText('note').as('note'),
        sql<string | null>`null`.as('typed'),
      ])
      .select(counts)
  }
  const shown = (column: 'name' | 'note' | 'created_at') =>
    sql`case when f.id = c.id then ${sql.ref(`c.${column}`)} else ${sql.ref(`f.${column}`)} end`
  return db
    .selectFrom('customer_faces as f')
    .innerJoin('customers as c', 'c.id', 'f.customer_id')
    .select([
      'f.seq',
      'f.id',
      'c.id as customer_id',
      'c.owner_id',
      'c.email',
      'c.email_normalized',
      'c.mails',
    ])
    .select(shown('name').$castTo<string | null>().as('name'))
    .select(shown('note').$castTo<string | null>().as('note'))
    .select(shown('created_at').$castTo<number>().as('created_at'))
    .select('f.email as typed')
    .select(counts)
    .where(isShownFace(scope))
}

export async function findCustomer(db: Db, scope: OwnerScope, id: string): Promise<CustomerView | undefined> {
  const customer = await findNamedCustomer(db, scope, id)
  if (customer === undefined) return undefined
  return views(db, scope).where('c.id', '=', customer).executeTakeFirst()
}

/** Locks the row until the transaction ends. */
export const lockCustomer = (tx: Tx, scope: OwnerScope, id: string): Promise<CustomerRow | undefined> =>
  lock(
    tx,
    tx.selectFrom('customers as c').selectAll('c').where('c.id', '=', id).where(customerInScope(scope)),
  ).executeTakeFirst()

/** A page of the customers that match a filter, newest first, and their number up to `most` + 1. */
export async function pageCustomers(
  { lists }: Database,
  scope: OwnerScope,
  { appId, search }: CustomerFilter,
  { page, limit }: Page,
  most: number,
): Promise<{ rows: CustomerView[]; total: number }> {
  const { apps } = scope
  // Faces find the customers of some apps.
  const owner = apps === null ? sql`c.owner_id` : ownerOf('c')
  const conditions = [sql<SqlBool>`${owner} = ${scope.ownerId}`]
  if (appId !== undefined) conditions.push(hasAny(scope, sql`coalesce(t.app_id, '') = ${appId}`))
  else if (apps) conditions.push(hasAny(scope))
  const matching = sql<SqlBool>`${sql.join(conditions, sql` and `)}`
  const found = (select: ReturnType<typeof views>) =>
    search === undefined ? select.where(matching) : select.where(matching).where(contains(scope, search))
  const total = await countUpTo(lists, found(views(lists, scope)).clearSelect().select('c.seq'), most)
  const offset = (page - 1) * limit
  if (offset >= Math.min(total, most)) return { rows: [], total }
  const rows = await found(views(lists, scope))
    .orderBy(sql.ref(apps === null ? 'c.seq' : 'f.seq'), 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  return { rows, total }
}

function contains({ apps }: OwnerScope, search: string): RawBuilder<SqlBool> {
  const [name, address] = [anywhere(normalizeName(search)), anywhere(normalizeEmailPart(search))]
  const shownName = apps === null ? shownText('name') : sql`case when f.id = c.id then c.name else f.name end`
  const typed = apps === null ? sql`c.email` : sql`coalesce(f.email, c.email)`
  return sql`(c.email_normalized like ${address} escape '\\' or lower(${typed}) like ${name} escape '\\'
    or lower(${shownName}) like ${name} escape '\\')`
}

/** The newest licenses of a customer, and of its end users. */
export async function listLicenses(db: Db, scope: OwnerScope, id: string, most: number): Promise<number[]> {
  const { rows } = await sql<{ seq: number }>`
    select l.seq as seq from licenses l where l.customer_id = ${id} and ${foundInScope(scope, 'l')}
    union select l.seq from clients c cross join licenses l
      where c.customer_id = ${id} and l.client_id = c.id and ${foundInScope(scope, 'l')}
    order by 1 desc limit ${most}`.execute(db)
  return rows.map(({ seq }) => Number(seq))
}

/** An end user of a customer. */
export interface PersonRow {
  id: string
  seq: number
  username: string
  last_address: string | null
}

/** The newest end users of a customer: those linked to it, and those who use its licenses. */
export async function listEndUsers(
  db: Db,
  scope: OwnerScope,
  id: string,
  most: number,
): Promise<PersonRow[]> {
  const { rows } = await sql<PersonRow>`
    select c.id, c.seq, c.username, c.last_address from clients c
      where c.customer_id = ${id} and ${foundInScope(scope, 'c')}
    union select c.id, c.seq, c.username, c.last_address from licenses l cross join clients c
      where l.customer_id = ${id} and c.id = l.client_id and ${foundInScope(scope, 'c')}
    order by 2 desc limit ${most}`.execute(db)
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }))
}

/** The mails to a customer, newest first. */
export const listMails = (db: Db, scope: OwnerScope, id: string, most: number) =>
  db
    .selectFrom('mails as t')
    .select(['t.id', 't.state', 't.created_at'])
    .where('t.customer_id', '=', id)
    .where(ownerOf('t'), '=', scope.ownerId)
    .orderBy('t.created_at', 'desc')
    .limit(most)
    .execute()

/** The numbers of orders by their ids. */
export async function listNumbers(
  db: Db,
  scope: OwnerScope,
  orderIds: readonly string[],
): Promise<Map<string, string>> {
  if (orderIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('shop_orders')
    .select(['id', 'number'])
    .where('id', 'in', orderIds)
    .where(inScope(scope))
    .execute()
  return new Map(rows.map(({ id, number }) => [id, number]))
}

/** The first license of each mail with keys that is about no order. */
export async function listMailedKeys(
  db: Db,
  scope: OwnerScope,
  batchIds: readonly string[],
): Promise<Map<string, { _id: string; key: string }>> {
  if (batchIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('license_mails as m')
    .innerJoin('licenses as l', 'l.id', 'm.license_id')
    .select(['m.batch_id', 'l.id as _id', 'l.key'])
    .where('m.batch_id', 'in', batchIds)
    .where(foundInScope(scope, 'l'))
    .orderBy('l.seq', 'desc')
    .execute()
  return new Map(rows.map(({ batch_id, ...license }) => [batch_id, license]))
}

/** What the people of single apps wrote about a customer that the caller has found. */
export const listFaces = (db: Db, id: string) =>
  db
    .selectFrom('customer_faces as f')
    .select(['f.app_id as app', 'f.email', 'f.name', 'f.note'])
    .where('f.customer_id', '=', id)
    .whereRef('f.id', '<>', 'f.customer_id')
    .orderBy('f.seq')
    .execute()

/** The licenses that a person has, or uses as an end user. */
export async function listLicenseIds(db: Db, scope: OwnerScope, id: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select l.id as id from licenses l where l.customer_id = ${id} and ${foundInScope(scope, 'l')}
    union select l.id from clients c cross join licenses l
      where c.customer_id = ${id} and l.client_id = c.id and ${foundInScope(scope, 'l')}`.execute(db)
  return rows.map((row) => row.id)
}
