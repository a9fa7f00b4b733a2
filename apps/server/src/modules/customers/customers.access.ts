import { email as emailSchema } from '@keyward/contract'
import { sql } from 'kysely'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { newId, newToken, normalizeEmail } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import { type Db, lock, type Tx, type WriteTransaction } from '../../db/index.ts'
import type { CustomerRow } from '../../db/tables.ts'
import { findNamedCustomer, isFaceOf, listShown, showInApp, showNew } from './faces.access.ts'

export interface NewCustomer {
  /** The id of the vendor, which the caller has checked. */
  owner: string
  /** Where it is about to be linked. */
  appId: string
  /** Whether the caller sees all customers, so that the people of the app may see the one that it finds. */
  seesAll: boolean
  email: string
  name?: string | null | undefined
}

/**
 * Finds or makes the customer of an address, in the caller's transaction: concurrent callers get the same one. A customer
 * without a name takes the name. Call it before the transaction locks licenses or end users.
 */
export async function customerOf(write: WriteTransaction, wanted: NewCustomer): Promise<string> {
  const { tx } = write
  const { owner: ownerId, appId, seesAll } = wanted
  const name = wanted.name?.trim() || null
  const email = emailSchema.safeParse(wanted.email).data ?? wanted.email.trim()
  const id = newId('cus')
  // One statement, which also locks the row: no erasure deletes it before it is linked.
  const customer = await tx
    .insertInto('customers')
    .values({
      ...{ id, owner_id: ownerId, email, email_normalized: normalizeEmail(email) },
      ...{ name, note: null, created_at: write.now },
    })
    .onConflict((conflict) =>
      conflict.columns(['owner_id', 'email_normalized']).doUpdateSet({ email: sql`customers.email` }),
    )
    .returning('id')
    .executeTakeFirstOrThrow()
  const isNew = customer.id === id
  if (isNew) {
    write.record('customer.created', id, {})
    await showNew(write, id, appId)
  } else await showInApp(write, customer.id, { ownerId, appId, isShared: seesAll, email, name })
  return customer.id
}

/**
 * What a call names as the customer of something in an app, as an id: null for none, undefined to keep it. An address finds
 * or adds its customer. Call it before the transaction locks licenses or end users.
 */
export async function linkedCustomer(
  write: WriteTransaction,
  actor: VendorActor,
  link: string | null | undefined,
  appId: string,
): Promise<string | null | undefined> {
  if (link === undefined || link === null) return link
  if (!actor.permissions.has('clients:write')) throw problem('permission_missing')
  const seesAll = actor.apps === null && actor.permissions.has('clients:read')
  const { ownerId } = actor
  if (link.includes('@')) return customerOf(write, { owner: ownerId, appId, seesAll, email: link })
  const { tx } = write
  const id = await findNamedCustomer(tx, actor, link)
  const customer = id && tx.selectFrom('customers as c').select('c.id').where('c.id', '=', id)
  if (!customer || !(await lock(tx, customer).executeTakeFirst()))
    throw problem('not_found', { message: 'Customer not found' })
  const email = (await listShown(tx, actor, [id])).get(id)?.email ?? ''
  await showInApp(write, id, { ownerId, appId, isShared: seesAll, email })
  return id
}

/** The id of a customer as the caller sees it. */
export const shownCustomerId = async (db: Db, scope: OwnerScope, id: string): Promise<string | null> =>
  scope.apps === null ? id : ((await listShown(db, scope, [id])).get(id)?.id ?? null)

export type CustomerDetails = Pick<CustomerRow, 'email' | 'name' | 'note' | 'mails'>

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
  if (Object.keys(change).length === 0) return
  const normalized = change.email === undefined ? {} : { email_normalized: normalizeEmail(change.email) }
  await tx
    .updateTable('customers')
    .set({ ...change, ...normalized })
    .where('id', '=', id)
    .where('owner_id', '=', ownerId)
    .execute()
}

export type FaceText = Pick<CustomerDetails, 'name' | 'note'>

/** Changes what the people of the caller's apps wrote about a customer that they do not see itself. */
export async function updateFaces(
  tx: Tx,
  scope: OwnerScope,
  id: string,
  change: Partial<FaceText>,
): Promise<void> {
  if (Object.keys(change).length === 0) return
  const faces = tx.updateTable('customer_faces as f').set(change).where('f.customer_id', '=', id)
  await faces.where(isFaceOf(scope, 'f')).execute()
}

/** Replaces a text that was written in apps, for the people of these apps alone. */
export async function replaceInFaces(
  tx: Tx,
  id: string,
  column: keyof FaceText,
  { before, after }: { before: string; after: string | null },
): Promise<void> {
  const faces = tx
    .updateTable('customer_faces')
    .set({ [column]: after })
    .where('customer_id', '=', id)
  await faces.where(column, '=', before).execute()
}

/** The addresses of customers by their ids, as the caller sees them. */
export async function listAddresses(
  db: Db,
  scope: OwnerScope,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const shown = await listShown(db, scope, ids)
  return new Map([...shown].map(([id, { email }]) => [id, email]))
}

/** What unsubscribes a customer, made when its first mail needs it. */
export async function mailTokenOf(
  { tx }: WriteTransaction,
  { id, mail_token }: Pick<CustomerRow, 'id' | 'mail_token'>,
): Promise<string> {
  if (mail_token !== null) return mail_token
  const row = await tx
    .updateTable('customers')
    .set({ mail_token: sql`coalesce(mail_token, ${newToken('kwu')})` })
    .where('id', '=', id)
    .returning('mail_token')
    .executeTakeFirstOrThrow()
  return row.mail_token ?? ''
}

/** The vendor of the customer that a token unsubscribes. */
export async function ownerOfToken(db: Db, token: string): Promise<string | undefined> {
  const customer = db.selectFrom('customers').select('owner_id').where('mail_token', '=', token)
  return (await customer.executeTakeFirst())?.owner_id
}

/** Notes that a customer wants no mails that it does not need, and returns its id; undefined if it wanted none before. */
export async function stopMails(tx: Tx, token: string): Promise<string | undefined> {
  const stopped = await tx
    .updateTable('customers')
    .set({ mails: 0 })
    .where('mail_token', '=', token)
    .where('mails', '=', 1)
    .returning('id')
    .executeTakeFirst()
  return stopped?.id
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
