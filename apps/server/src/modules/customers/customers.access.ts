import { email as emailSchema } from '@keyward/contract'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { newId, normalizeEmail } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import { type Db, foundInScope, lockShared, ownerOf, type Tx, type WriteTransaction } from '../../db/index.ts'
import type { CustomerRow } from '../../db/tables.ts'

export interface NewCustomer {
  /** The id of the vendor, which the caller has checked. */
  owner: string
  email: string
  name?: string | null | undefined
}

/**
 * Finds or makes the customer of an address, in the caller's transaction: concurrent callers get the same one. A customer
 * without a name takes the name. Call it before the transaction locks licenses or end users.
 */
export async function customerOf(write: WriteTransaction, wanted: NewCustomer): Promise<CustomerRow> {
  const { tx } = write
  const name = wanted.name?.trim() || null
  const email = emailSchema.safeParse(wanted.email).data ?? wanted.email.trim()
  const id = newId('cus')
  // One statement, which also locks the row: no erasure deletes it before it is linked.
  const customer = await tx
    .insertInto('customers')
    .values({
      ...{ id, owner_id: wanted.owner, email },
      ...{ email_normalized: normalizeEmail(email), name, note: null, created_at: write.now },
    })
    .onConflict((conflict) =>
      conflict
        .columns(['owner_id', 'email_normalized'])
        .doUpdateSet({ name: sql`coalesce(customers.name, excluded.name)` }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
  if (customer.id === id) write.record('customer.created', id, {})
  return customer
}

/**
 * What a call names as a customer, as an id: null for none, undefined to keep it. An address finds or adds its customer.
 * Call it before the transaction locks licenses or end users.
 */
export async function linkedCustomer(
  write: WriteTransaction,
  actor: VendorActor,
  link: string | null | undefined,
): Promise<string | null | undefined> {
  if (link === undefined || link === null) return link
  if (!actor.permissions.has('clients:write')) throw problem('permission_missing')
  if (link.includes('@')) return (await customerOf(write, { owner: actor.ownerId, email: link })).id
  const found = lockShared(
    write.tx,
    write.tx
      .selectFrom('customers as c')
      .select('c.id')
      .where('c.id', '=', link)
      .where(customerInScope(actor)),
  )
  if (!(await found.executeTakeFirst())) throw problem('not_found', { message: 'Customer not found' })
  return link
}

/** Whether a customer `c` is the vendor's and, for a caller with some apps, has something in one of these. */
export const customerInScope = (scope: OwnerScope): RawBuilder<SqlBool> =>
  scope.apps === null
    ? sql`${ownerOf('c')} = ${scope.ownerId}`
    : sql`${ownerOf('c')} = ${scope.ownerId} and ${hasAny(scope)}`

/** Whether a customer `c` has a license, an end user or an order in the scope. */
export const hasAny = (scope: OwnerScope, app?: RawBuilder<SqlBool>): RawBuilder<SqlBool> => {
  const mine = sql`${foundInScope(scope, 't')} and ${app ?? sql`1 = 1`}`
  const has = (table: string) =>
    sql`exists (select 1 from ${sql.table(table)} t where t.customer_id = c.id and ${mine})`
  return sql`(${has('licenses')} or ${has('clients')} or ${has('shop_orders')})`
}

export type CustomerDetails = Pick<CustomerRow, 'email' | 'name' | 'note'>

export async function insertCustomer(
  { tx, now }: WriteTransaction,
  { ownerId }: OwnerScope,
  id: string,
  details: CustomerDetails,
): Promise<void> {
  const email_normalized = normalizeEmail(details.email)
  await tx
    .insertInto('customers')
    .values({ id, owner_id: ownerId, email_normalized, created_at: now, ...details })
    .execute()
}

export async function updateCustomer(
  tx: Tx,
  { ownerId }: OwnerScope,
  id: string,
  change: Partial<CustomerDetails>,
): Promise<void> {
  const normalized = change.email === undefined ? {} : { email_normalized: normalizeEmail(change.email) }
  await tx
    .updateTable('customers')
    .set({ ...change, ...normalized })
    .where('id', '=', id)
    .where('owner_id', '=', ownerId)
    .execute()
}

/** The address of a vendor's customer; undefined once it is erased. */
export async function findAddress(db: Db, ownerId: string, id: string): Promise<string | undefined> {
  const found = db.selectFrom('customers').select('email').where('id', '=', id)
  return (await found.where('owner_id', '=', ownerId).executeTakeFirst())?.email
}

/** The addresses of customers in the scope by their ids. */
export async function listAddresses(
  db: Db,
  scope: OwnerScope,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const found = db.selectFrom('customers as c').select(['c.id', 'c.email']).where('c.id', 'in', ids)
  const rows = await found.where(customerInScope(scope)).execute()
  return new Map(rows.map(({ id, email }) => [id, email]))
}

/** Deletes a customer with its mails; licenses and end users stay without it. */
export async function deleteCustomer(tx: Tx, { ownerId }: OwnerScope, id: string): Promise<boolean> {
  const deleted = await tx
    .deleteFrom('customers')
    .where('id', '=', id)
    .where('owner_id', '=', ownerId)
    .returning('id')
    .execute()
  return deleted.length > 0
}

/** Deletes up to `count` customers of a vendor and returns how many. */
export async function deleteCustomers(tx: Tx, { ownerId }: OwnerScope, count: number): Promise<number> {
  const some = tx.selectFrom('customers').select('id').where('owner_id', '=', ownerId).limit(count)
  const deleted = await tx.deleteFrom('customers').where('id', 'in', some).returning('id').execute()
  return deleted.length
}
