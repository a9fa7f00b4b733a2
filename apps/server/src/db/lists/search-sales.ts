import type { SearchMatch } from '@keyward/contract'
import { sql } from 'kysely'
import { normalizeEmailPart } from '../../core/ids.ts'
import type { Database } from '../engine.ts'
import { foundInScope, inScope, isOneOf } from '../scope.ts'
import type { Db } from '../tables.ts'
import { type ListScope, mayRead, namedMost } from './list-filters.ts'
import { afterPrefix, type SearchTerm } from './search.ts'

/** Customers whose address begins with the text. Which of their licenses the caller sees is for the list to decide. */
export async function customersNamed({ lists }: Database, { scope }: ListScope, term: SearchTerm) {
  const text = normalizeEmailPart(term.text)
  // Customers of other apps must not use up the places of those that the caller sees.
  const isSeen =
    scope.apps === null
      ? sql``
      : sql`and exists (select 1 from customer_faces f where f.customer_id = t.id
          and ${isOneOf(scope.apps, sql.ref('f.app_id'))})`
  const { rows } = await sql<{ id: string }>`select t.id as id from customers t
    where t.owner_id = ${scope.ownerId} and t.email_normalized >= ${text} and t.email_normalized < ${afterPrefix(text)} ${isSeen}
    order by t.email_normalized limit ${namedMost}`.execute(lists)
  return rows.map(({ id }) => id)
}

/** The licenses of the orders with a number, which only a shop makes unique. */
export async function licensesOrdered(
  { lists }: Database,
  { scope, appId }: ListScope,
  { typed }: SearchTerm,
) {
  const inApp = appId === undefined ? sql`` : sql`and coalesce(t.app_id, '') = ${appId}`
  const { rows } = await sql<{ id: string }>`select u.license_id as id
    from shop_orders t join shop_order_units u on u.order_id = t.id
    where ${inScope(scope, 't')} and t.number = ${typed} ${inApp} and u.license_id is not null
    limit ${namedMost}`.execute(lists)
  return rows.map(({ id }) => id)
}

/** Whose address begins with the text, and which order has it as its number, by the ids of licenses and of end users. */
export async function readSales(
  db: Db,
  filter: ListScope,
  { licenses, endUsers }: { licenses: readonly string[]; endUsers: readonly string[] },
  { text, typed, short }: SearchTerm,
): Promise<Map<string, SearchMatch>> {
  const address = normalizeEmailPart(text)
  // How it was typed elsewhere is for those who see all.
  const email = filter.scope.apps === null ? sql`c.email` : sql`c.email_normalized`
  const customersOf = (table: 'licenses' | 'clients', ids: readonly string[]) =>
    ids.length === 0 || !mayRead(filter, 'clients:read')
      ? []
      : [
          sql`select t.id as id, 'customer' as field, ${email} as text
            from ${sql.table(table)} t join customers c on c.id = t.customer_id
            where t.id in (${sql.join(ids)}) and ${foundInScope(filter.scope, 't')}
              and c.email_normalized >= ${address} and c.email_normalized < ${afterPrefix(address)}`,
        ]
  const ordersOf =
    licenses.length === 0 || !mayRead(filter, 'licenses:read')
      ? []
      : [
          sql`select u.license_id as id, 'order' as field, t.number as text
            from shop_order_units u join shop_orders t on t.id = u.order_id
            where u.license_id in (${sql.join(licenses)}) and ${foundInScope(filter.scope, 't')}
              and t.number = ${typed}`,
        ]
  const parts = [...customersOf('clients', endUsers), ...customersOf('licenses', licenses), ...ordersOf]
  if (short || parts.length === 0) return new Map()
  const { rows } = await sql<SearchMatch & { id: string }>`${sql.join(parts, sql` union all `)}`.execute(db)
  return new Map(rows.map(({ id, field, text }) => [id, { field, text }]))
}
