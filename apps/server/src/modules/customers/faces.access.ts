import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { newId, normalizeEmail } from '../../core/ids.ts'
import { type Db, foundInScope, isOneOf, ownerOf, type WriteTransaction } from '../../db/index.ts'
import type { CustomerRow } from '../../db/tables.ts'

// A customer is one row for each address of a vendor. Callers with some apps see a face of it: the customer itself if it
// came with one of these apps, or if somebody who sees all customers linked it there; else only what they know themselves.

/** Whether a customer `c` has a license, an end user or an order in the scope. */
export const hasAny = (scope: OwnerScope, app?: RawBuilder<SqlBool>): RawBuilder<SqlBool> => {
  const mine = sql`${foundInScope(scope, 't')} and ${app ?? sql`1 = 1`}`
  const has = (table: string) =>
    sql`exists (select 1 from ${sql.table(table)} t where t.customer_id = c.id and ${mine})`
  return sql`(${has('licenses')} or ${has('clients')} or ${has('shop_orders')})`
}

/** Whether a customer `c` is the vendor's and, for a caller with some apps, has something in one of these. */
export const customerInScope = (scope: OwnerScope): RawBuilder<SqlBool> =>
  scope.apps === null
    ? sql`${ownerOf('c')} = ${scope.ownerId}`
    : sql`${ownerOf('c')} = ${scope.ownerId} and ${hasAny(scope)}`

/** Whether a face is of the apps of a caller who has not all. */
export const isFaceOf = ({ apps }: OwnerScope, face: string): RawBuilder<SqlBool> =>
  isOneOf(apps ?? new Set(), sql.ref(`${face}.app_id`))

/** 0 for a face that shows the customer itself. */
const rank = (face: string) =>
  sql`case when ${sql.ref(`${face}.id`)} = ${sql.ref(`${face}.customer_id`)} then 0 else 1 end`

/** Whether a face `f` is the one that a caller with these apps sees: the customer itself, else the oldest. */
export const isShownFace = (
  scope: OwnerScope,
): RawBuilder<SqlBool> => sql`${isFaceOf(scope, 'f')} and not exists (
  select 1 from customer_faces g where g.customer_id = f.customer_id and ${isFaceOf(scope, 'g')}
    and (${rank('g')} < ${rank('f')} or (${rank('g')} = ${rank('f')} and g.seq < f.seq)))`

/** The id of the customer of a row, as the caller sees it. */
export const shownCustomer = (scope: OwnerScope, row: string): RawBuilder<string | null> =>
  scope.apps === null
    ? sql`${sql.ref(`${row}.customer_id`)}`
    : sql`(select f.id from customer_faces f where f.customer_id = ${sql.ref(`${row}.customer_id`)}
        and ${isFaceOf(scope, 'f')} order by ${rank('f')}, f.seq limit 1)`

/** What callers with all apps see of a customer `c`: its own text, else what was first written in an app. */
export const shownText = (column: 'name' | 'note'): RawBuilder<string | null> =>
  sql`coalesce(${sql.ref(`c.${column}`)}, (select ${sql.ref(`f.${column}`)} from customer_faces f
    where f.customer_id = c.id and ${sql.ref(`f.${column}`)} is not null order by f.seq limit 1))`

/** The address that a face shows: as it was typed, as long as it is the customer's. */
export const shownEmail = (
  typed: string | null,
  { email, email_normalized }: Pick<CustomerRow, 'email' | 'email_normalized'>,
): string => (typed !== null && normalizeEmail(typed) === email_normalized ? typed : email)

/** The customer that a caller names by an id that it sees; undefined if it sees none. */
export async function findNamedCustomer(db: Db, scope: OwnerScope, id: string): Promise<string | undefined> {
  const faces = db.selectFrom('customer_faces as f').select('f.customer_id').where('f.id', '=', id)
  const named = scope.apps === null ? faces : faces.where(isFaceOf(scope, 'f'))
  const found = await db
    .selectFrom('customers as c')
    .select('c.id')
    .where((eb) =>
      scope.apps === null ? eb.or([eb('c.id', '=', id), eb('c.id', 'in', named)]) : eb('c.id', 'in', named),
    )
    .where(customerInScope(scope))
    .executeTakeFirst()
  return found?.id
}

interface Shown {
  id: string
  email: string
}

/** What a caller sees of customers, by their own ids and by those that it sees; also of those that have nothing left. */
export async function listShown(
  db: Db,
  scope: OwnerScope,
  ids: readonly string[],
): Promise<Map<string, Shown>> {
  if (ids.length === 0) return new Map()
  const faces = db
    .selectFrom('customer_faces as f')
    .innerJoin('customers as c', 'c.id', 'f.customer_id')
    .select(['f.id', 'f.customer_id', 'f.email as typed', 'c.email', 'c.email_normalized'])
    .where(ownerOf('c'), '=', scope.ownerId)
  if (scope.apps === null) {
    const own = db.selectFrom('customers as c').select(['c.id', 'c.email']).where('c.id', 'in', ids)
    const rows = await own.where(ownerOf('c'), '=', scope.ownerId).execute()
    const known = new Map<string, Shown>(rows.map((row) => [row.id, row]))
    const others = ids.filter((id) => !known.has(id))
    if (others.length === 0) return known
    const named = await faces.where('f.id', 'in', others).execute()
    for (const { id, customer_id, email } of named) known.set(id, { id: customer_id, email })
    return known
  }
  const named = db
    .selectFrom('customer_faces as n')
    .select('n.customer_id')
    .where('n.id', 'in', ids)
    .where(isFaceOf(scope, 'n'))
  const rows = await faces
    .where((eb) => eb.or([eb('f.customer_id', 'in', ids), eb('f.customer_id', 'in', named)]))
    .where(isShownFace(scope))
    .execute()
  return new Map(
    rows.flatMap((row) => {
      const shown = { id: row.id, email: shownEmail(row.typed, row) }
      return [[row.customer_id, shown] as const, [row.id, shown] as const]
    }),
  )
}

const customerIds = /\bcus_[0-9a-f]{32}\b/g

/** A text of JSON in which customers are named as the caller sees them; those that it does not see become null. */
export async function showCustomersIn(db: Db, scope: OwnerScope, json: string): Promise<string> {
  const ids = scope.apps === null ? [] : [...new Set(json.match(customerIds))]
  if (ids.length === 0) return json
  const shown = await listShown(db, scope, ids)
  return json.replace(/(\\?")(cus_[0-9a-f]{32})\\?"/g, (_, quote, id) => {
    const { id: seen } = shown.get(id) ?? {}
    return seen === undefined ? 'null' : `${quote}${seen}${quote}`
  })
}

interface NewLink {
  ownerId: string
  appId: string
  /** Whether the people of the app see the customer itself. */
  isShared: boolean
  /** As it was typed. */
  email: string
  name?: string | null | undefined
}

/** Shows a customer that this transaction has made in its app. */
export async function showNew({ tx, now }: WriteTransaction, id: string, appId: string): Promise<void> {
  await tx
    .insertInto('customer_faces')
    .values({ id, customer_id: id, app_id: appId, created_at: now })
    .execute()
}

/**
 * Makes a face of a customer that the caller has locked and links in an app. One without anything in the app gets a new face:
 * whether it is known elsewhere must not show by what comes back.
 */
export async function showInApp(
  { tx, now }: WriteTransaction,
  customerId: string,
  { ownerId, appId, isShared, email, name = null }: NewLink,
): Promise<void> {
  const face = await tx
    .selectFrom('customer_faces as f')
    .innerJoin('customers as c', 'c.id', 'f.customer_id')
    .select('f.id')
    .where('f.customer_id', '=', customerId)
    .where('f.app_id', '=', appId)
    .where(hasAny({ ownerId, apps: new Set([appId]) }))
    .executeTakeFirst()
  if (!face) {
    const isIt = { customer_id: customerId, app_id: appId, created_at: now }
    await tx
      .deleteFrom('customer_faces')
      .where('customer_id', '=', customerId)
      .where('app_id', '=', appId)
      .execute()
    await tx
      .insertInto('customer_faces')
      .values(isShared ? { ...isIt, id: customerId } : { ...isIt, id: newId('cus'), email, name })
      .execute()
  }
  if (name === null || (!face && !isShared)) return
  if (face ? face.id === customerId : isShared) {
    await tx
      .updateTable('customers')
      .set({ name })
      .where('id', '=', customerId)
      .where('name', 'is', null)
      .execute()
  } else {
    await tx
      .updateTable('customer_faces')
      .set({ name })
      .where('customer_id', '=', customerId)
      .where('app_id', '=', appId)
      .where('name', 'is', null)
      .execute()
  }
}
