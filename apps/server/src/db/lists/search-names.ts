import type { SearchMatch } from '@keyward/contract'
import { sql } from 'kysely'
import { normalizeKey, normalizeName } from '../../core/ids.ts'
import { type Database, syntaxOf } from '../engine.ts'
import { foundInScope, inScope } from '../scope.ts'
import type { Db } from '../tables.ts'
import { type ListScope, mayRead, namedMost, type Search, type Sql } from './list-filters.ts'
import { contains, type Named, type SearchTerm, textContains } from './search.ts'
import { customersNamed, licensesOrdered } from './search-sales.ts'

export const nothing: Named = { resellers: [], types: [], customers: [], clients: [], licenses: [] }

export async function findNamed(database: Database, filter: ListScope, term: SearchTerm): Promise<Named> {
  if (term.short) return nothing
  const [resellers, types, customers, ordered, referenced] = await Promise.all([
    mayRead(filter, 'resellers:read') ? idsNamed(database, filter, 'resellers', 'email', term.text) : [],
    mayRead(filter, 'licenses:read') ? idsNamed(database, filter, 'license_types', 'name', term.text) : [],
    mayRead(filter, 'clients:read') ? customersNamed(database, filter, term) : [],
    mayRead(filter, 'licenses:read') ? licensesOrdered(database, filter, term) : [],
    mayRead(filter, 'clients:read') ? findReferenced(database, filter, term) : nothing,
  ])
  const licenses = [...new Set([...referenced.licenses, ...ordered])]
  return { ...referenced, licenses, resellers, types, customers }
}

async function idsNamed(
  { lists }: Database,
  { scope, appId }: ListScope,
  table: 'resellers' | 'license_types',
  column: 'email' | 'name',
  text: string,
): Promise<string[]> {
  const inApp = appId === undefined ? sql`` : sql`and t.app_id = ${appId}`
  const { rows } = await sql<{ id: string }>`select t.id as id from ${sql.table(table)} t
    where ${inScope(scope, 't')} ${inApp}
      and ${textContains(syntaxOf(lists).searchIndex, sql.ref(`t.${column}`), text)}
    order by t.seq desc limit ${namedMost}`.execute(lists)
  return rows.map(({ id }) => id)
}

/** A reference in any case, with O, I and L for the digits that they look like; undefined if the text is none. */
export function toReference(text: string): string | undefined {
  const reference = text.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1')
  return /^[0-9A-Z]{10}$/.test(reference) ? reference : undefined
}

/** The end user of a refusal, and the license or end user that the program named in it. */
async function findReferenced({ lists }: Database, { scope, appId }: ListScope, term: SearchTerm) {
  const reference = toReference(term.text)
  if (reference === undefined) return nothing
  const inApp = appId === undefined ? sql`` : sql`and t.app_id = ${appId}`
  const { rows } = await sql<{ app_id: string; client_id: string | null; subject: string | null }>`
    select t.app_id as app_id, t.client_id as client_id, t.subject as subject from activity t
    where t.reference = ${reference} and ${foundInScope(scope, 't')} ${inApp}`.execute(lists)
  const [event] = rows
  if (!event) return nothing
  const { app_id: app, client_id: client, subject } = event
  if (client !== null) return { ...nothing, clients: [client] }
  if (subject === null) return nothing
  const ofApp = (table: 'licenses' | 'clients', column: string, name: string) =>
    sql<{ id: string }>`select t.id as id from ${sql.table(table)} t
      where t.app_id = ${app} and ${sql.ref(`t.${column}`)} = ${name}`.execute(lists)
  const [licenses, clients] = await Promise.all([
    ofApp('licenses', 'key_normalized', normalizeKey(subject)),
    ofApp('clients', 'username_normalized', normalizeName(subject)),
  ])
  return {
    ...nothing,
    licenses: licenses.rows.map(({ id }) => id),
    clients: clients.rows.map(({ id }) => id),
  }
}

const isAny = (column: string, ids: readonly string[]): Sql[] =>
  ids.length === 0 ? [] : [sql`${sql.ref(column)} in (${sql.join(ids)})`]

/** Conditions: whether a license is of what the text names. */
export const isOfNamed = (row: string, { resellers, types, customers }: Named): Sql[] => [
  ...isAny(`${row}.reseller_id`, resellers),
  ...isAny(`${row}.type_id`, types),
  ...isOfCustomer(row, customers),
]

/** Conditions: whether a license or an end user belongs to one of these customers. */
export const isOfCustomer = (row: string, customers: readonly string[]): Sql[] =>
  isAny(`${row}.customer_id`, customers)

export const isReferenced = (column: 'client_id' | 'id', ids: readonly string[]): Sql[] =>
  isAny(`t.${column}`, ids)

/** Conditions: whether the name, the address or a device of an end user contains the text. */
export const isKnown = ({ index, term, seesPeople }: Search, row: string): [Sql, ...Sql[]] => [
  contains(index, `${row}.username_normalized`, term.text),
  ...(seesPeople
    ? [
        textContains(index, sql.ref(`${row}.email`), term.text),
        sql`exists (select 1 from devices d where d.client_id = ${sql.ref(`${row}.id`)}
          and ${textContains(index, sql.ref('d.name'), term.text)} limit 1 offset 0)`,
      ]
    : []),
]

/** What a candidate of the end users must contain; PostgreSQL finds addresses and devices by `byPeople`. */
export const isCandidate = (search: Search, row: string): Sql =>
  search.index === 'trigrams' ? isKnown(search, row)[0] : anyOf(isKnown(search, row))

/** Ways to rows by the addresses of end users and their devices `d`, which PostgreSQL finds by an index each. */
export function byPeople(
  { index, term, mine, order, seesPeople }: Search,
  row: string,
  { clients, devices }: { clients: Sql; devices: Sql },
): Sql[] {
  if (index !== 'trigrams' || !seesPeople) return []
  const email = sql.ref(`${row}.email`)
  return [
    sql`select t.seq from ${clients} and ${mine} and ${email} is not null
      and ${textContains(index, email, term.text)} order by t.seq ${order}`,
    sql`select t.seq from ${devices} and ${mine} and d.name is not null
      and ${textContains(index, sql.ref('d.name'), term.text)} order by t.seq ${order}`,
  ]
}

export const anyOf = (conditions: readonly Sql[]): Sql => sql`(${sql.join(conditions, sql` or `)})`

/** The indexes of licenses by what a text names. */
const groupsOf = ({ resellers, types, customers }: Named) =>
  [
    ['licenses_reseller', 'reseller_id', resellers],
    ['licenses_type', 'type_id', types],
    ['licenses_customer', 'customer_id', customers],
  ] as const

/** Selects a 1 for each license of the resellers, types and customers that the text names, up to `most` of each. */
export function countNamed(named: Named, { lists }: Database, most: number): Sql[] {
  const { indexed } = syntaxOf(lists)
  return groupsOf(named)
    .filter(([, , ids]) => ids.length > 0)
    .map(
      ([index, column, ids]) => sql`select 1 from (select 1 from ${sql.raw(indexed('licenses', 'l', index))}
        where ${sql.ref(`l.${column}`)} in (${sql.join(ids)}) limit ${most})`,
    )
}

/**
 * Selects the rows of all resellers that the text names, of all types and of all customers, as one query each: an index has
 * the licenses of one in order, and both databases merge them, so that many names read no more rows than one.
 */
export function byNamed(
  { named, licensesBy, order }: Search,
  row: string,
  /** `isAny` is the condition for all names, on any alias. */
  select: (rows: Sql, isOne: Sql, isAny: (row: string) => Sql) => Sql,
): Sql[] {
  return groupsOf(named).flatMap(([index, column, ids]) => {
    if (ids.length === 0) return []
    const isOneOf = (alias: string) => sql`${sql.ref(`${alias}.${column}`)} in (${sql.join(ids)})`
    const found = ids.map((id) =>
      select(licensesBy(index, row), sql`${sql.ref(`${row}.${column}`)} = ${id}`, isOneOf),
    )
    return [sql`${sql.join(found, sql` union all `)} order by license ${order}`]
  })
}

/** Selects each end user of `byNamed` once, by its newest such license, so that a limit counts end users. */
export function endUsersByNamed(search: Search): Sql[] {
  const { index, mine, named, order, licensesBy } = search
  // PostgreSQL would join all of these licenses first; written so, it reads end users until enough match.
  if (index === 'trigrams') {
    return isOfNamed('l', named).map(
      (isOne) => sql`select t.seq from clients t where ${mine}
        and exists (select 1 from licenses l where l.client_id = t.id and ${isOne}) order by t.seq ${order}`,
    )
  }
  return byNamed(
    search,
    'l',
    (rows, isOne, isAny) => sql`select t.seq as seq, l.seq as license from ${rows} cross join clients t
      where ${isOne} and t.id = l.client_id and ${mine} and not exists (
        select 1 from ${licensesBy('licenses_client', 'o')} where o.client_id = l.client_id and o.seq > l.seq and ${isAny('o')})`,
  )
}

type Field = SearchMatch['field']

/** What a row was found by: the first of its texts that contains what was searched for. */
export function matchOf(
  term: SearchTerm,
  texts: [Field, string | null | undefined][],
): SearchMatch | undefined {
  for (const [field, text] of texts) {
    if (text && isHit(term, field, text)) return { field, text }
  }
  return undefined
}

function isHit({ text, key, short }: SearchTerm, field: Field, value: string): boolean {
  const wanted = field === 'key' ? key : text
  if (wanted === undefined) return false
  const stored =
    field === 'key' ? normalizeKey(value) : field === 'username' ? normalizeName(value) : value.toLowerCase()
  return short
    ? (field === 'key' || field === 'username') && stored.startsWith(wanted)
    : stored.includes(wanted)
}

/** Addresses of end users, and names of their devices that contain the text. */
export async function readKnown(
  db: Db,
  filter: ListScope,
  ids: readonly string[],
  term: SearchTerm,
): Promise<Map<string, { email: string | null; device: string | null }>> {
  if (ids.length === 0 || !mayRead(filter, 'clients:read')) return new Map()
  const device = sql`(select min(d.name) from devices d where d.client_id = t.id
    and ${textContains(syntaxOf(db).searchIndex, sql.ref('d.name'), term.text)})`
  const { rows } = await sql<{ id: string; email: string | null; device: string | null }>`
    select t.id as id, t.email as email, ${device} as device from clients t
    where t.id in (${sql.join(ids)}) and ${foundInScope(filter.scope, 't')}`.execute(db)
  return new Map(rows.map(({ id, ...known }) => [id, known]))
}
