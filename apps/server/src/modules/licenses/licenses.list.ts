import type { Bans, LicenseStatus, ListedLicenseStatus, SearchMatch } from '@keyward/contract'
import { sql } from 'kysely'
import { type Database, syntaxOf } from '../../db/engine.ts'
import type { Db } from '../../db/index.ts'
import {
  type Counts,
  countedUntil,
  countRows,
  type List,
  type ListScope,
  mayRead,
  type Origin,
  type Search,
  type Sql,
  soonMs,
  within,
} from '../../db/lists/list-filters.ts'
import { afterPrefix, contains, noteContains, toSearchTerm } from '../../db/lists/search.ts'
import {
  anyOf,
  byNamed,
  byPeople,
  isCandidate,
  isKnown,
  isOfCustomer,
  isOfNamed,
  isReferenced,
  matchOf,
  readKnown,
  toReference,
} from '../../db/lists/search-names.ts'
import { readSales } from '../../db/lists/search-sales.ts'
import { shownName } from '../customers/names.access.ts'
import type { ListedLicense } from './licenses.repo.ts'

/** The licenses of an owner, or with bans apart: there a banned license has no other status. */
const listOf = (bansApart: boolean): List<ListedLicenseStatus> => {
  const unbanned = bansApart ? sql`and t.banned = 0` : sql``
  const statuses: List<ListedLicenseStatus>['statuses'] = {
    unused: (now) => sql`t.used = 0 and t.expires_at > ${now} ${unbanned}`,
    active: (now) => sql`t.used = 1 and t.expires_at > ${now} ${unbanned}`,
    expired: (now) => sql`t.used in (0, 1) and t.expires_at <= ${now} ${unbanned}`,
    banned: () => sql`t.banned = 1`,
    expiring: (now) =>
      sql`t.used = 1 and t.expires_at > ${now} and t.expires_at <= ${now + soonMs} ${unbanned}`,
  }
  const byEnd: List<ListedLicenseStatus>['byEnd'] = (status, now) => {
    if (status === undefined) return { index: '_expiry', parts: flags }
    if (status !== 'expired')
      return { index: status === 'banned' ? '_banned_expiry' : '_expiry', parts: [statuses[status](now)] }
    const parts = flags.map((flag) => sql`${flag} and t.expires_at <= ${now} ${unbanned}`)
    return { index: '_expiry', parts }
  }
  return {
    table: 'licenses',
    id: /^lic_[0-9a-f]{32}$/,
    statuses,
    inCounts: {
      unused: { flags: sql`and t.used = 0 ${unbanned}`, ends: 'ahead' },
      active: { flags: sql`and t.used = 1 ${unbanned}`, ends: 'ahead' },
      expired: { flags: unbanned, ends: 'past' },
      banned: { flags: sql`and t.banned = 1` },
      expiring: { flags: sql`and t.used = 1 ${unbanned}`, ends: 'soon' },
    },
    count: (database, selection) => count(database, selection, bansApart),
    byEnd,
    isOf: (_database, origin) => isOf(origin),
    ofOrigin: (database, { status, now }, origin) => {
      const parts =
        status === 'banned' ? flags.map((flag) => sql`${flag} and t.banned = 1`) : byEnd(status, now).parts
      const found = parts.map(
        (part) => sql`select t.seq as seq, t.expires_at as ends from ${indexOf(database, origin)}
          where ${isOf(origin)} and ${part}`,
      )
      return sql.join(found, sql` union all `)
    },
    licensesOf: (database, origin) =>
      sql`select 1 from ${indexOf(database, origin)} where ${isOf(oneOf(origin))}`,
    originIndexes,
    byUser: (order, { lists }, { scope }) =>
      sql`(select ${shownName(lists, scope)} from clients c where c.id = t.client_id)
        ${order} nulls last, t.client_id is null`,
    texts: ({ text, key }) => ({ licenses: key === undefined ? [text] : [text, key], clients: [text] }),
    contains: (search) =>
      sql`${anyOf([
        inKeyOrNote(search),
        sql`exists (select 1 from clients c where c.id = t.client_id
        and ${anyOf([...isKnown(search, 'c'), ...isOfCustomer('c', search.named.customers)])} limit 1 offset 0)`,
        ...isOfNamed('t', search.named),
        ...isReferenced('client_id', search.named.clients),
        ...isReferenced('id', search.named.licenses),
      ])}`,
    byIndex,
    byBeginning,
  }
}

/**
 * Adds trigger-kept counts by block and by hour to the rows of the current hour. One pass without GROUP BY, because
 * SQLite would sort for it.
 */
async function count(
  database: Database,
  selection: ListScope,
  bansApart: boolean,
): Promise<Counts<LicenseStatus>> {
  const past = countedUntil(selection.now)
  const counted = bansApart ? sql`(1 - banned)` : sql`1`
  const row = await countRows(
    database,
    (most) =>
      sql<Record<'total' | 'rest' | 'used' | 'banned' | 'past' | 'past_used' | 'fresh', number>>`
    select coalesce(sum(fresh), 0) as fresh, coalesce(sum(n), 0) as total, coalesce(sum(n * banned), 0) as banned,
      coalesce(sum(n * ${counted}), 0) as rest, coalesce(sum(n * used * ${counted}), 0) as used,
      coalesce(sum(past * ${counted}), 0) as past, coalesce(sum(past * used * ${counted}), 0) as past_used
    from (
      select t.n as n, t.used as used, t.banned as banned, case when t.block < ${past.block} then t.n else 0 end as past, 0 as fresh
      from license_blocks t where ${within(selection)}
      union all
      select 0, t.used, t.banned, t.n, 0 from license_counts t
      where ${within(selection)} and t.bucket >= ${past.firstHour} and t.bucket <= ${past.lastHour}
      union all
      select * from (select 0, t.used, t.banned, 1, 1 from licenses t
      where ${within(selection)} and t.used in (0, 1) and t.expires_at > ${past.instant} and t.expires_at <= ${selection.now}
      limit ${sql.lit(most)}) rows_of_hour
    ) parts`,
  )
  const { total = 0, rest = 0, used = 0, banned = 0, past: expired = 0, past_used: usedUp = 0 } = row ?? {}
  return { total, active: used - usedUp, unused: rest - used - (expired - usedUp), expired, banned }
}

const flags = [sql`t.used = 0`, sql`t.used = 1`]

function isOf({ typeId, resellerId }: Origin): Sql {
  const ofReseller = sql`t.reseller_id = ${resellerId}`
  if (typeId === undefined) return ofReseller
  return resellerId === undefined ? sql`t.type_id = ${typeId}` : sql`t.type_id = ${typeId} and ${ofReseller}`
}

const ofType = { bySeq: 'licenses_type', byEnd: 'licenses_type_expiry' }
const ofReseller = { bySeq: 'licenses_reseller', byEnd: 'licenses_reseller_counts' }

/** No index holds the bans of an origin, or a type and a reseller. */
function originIndexes({ typeId, resellerId }: Origin, status: ListedLicenseStatus | undefined) {
  if (status === 'banned' || (typeId !== undefined && resellerId !== undefined)) return undefined
  return typeId === undefined ? ofReseller : ofType
}

/** What the index of an origin holds. */
const oneOf = ({ typeId, resellerId }: Origin): Origin =>
  resellerId === undefined ? { typeId } : { resellerId }

function indexOf({ lists }: Database, { resellerId }: Origin): Sql {
  const { byEnd } = resellerId === undefined ? ofType : ofReseller
  return sql.raw(syntaxOf(lists).indexed('licenses', 't', byEnd))
}

function inKeyOrNote({ index, term }: Search): Sql {
  const inNote = noteContains(index, 't.note', term.text)
  if (term.key === undefined) return inNote
  return sql`(${contains(index, 't.key_normalized', term.key)} or ${inNote})`
}

function byIndex(search: Search): Sql[] {
  const { mine, named, order } = search
  return [
    ...search.candidates('licenses', 't').map(
      ({ rows, seq }) => sql`select t.seq from ${rows}
        where ${mine} and ${inKeyOrNote(search)} order by ${seq} ${order}`,
    ),
    ...search.candidates('clients', 'c').map(
      ({ rows, seq }) => sql`select t.seq from ${rows} cross join licenses t
        where t.client_id = c.id and ${mine} and ${isCandidate(search, 'c')} order by ${seq} ${order}`,
    ),
    ...byPeople(search, 'c', {
      clients: sql`clients c cross join licenses t where t.client_id = c.id`,
      devices: sql`devices d cross join licenses t where t.client_id = d.client_id`,
    }),
    ...byNamed(
      search,
      't',
      (rows, isOne) => sql`select t.seq as seq, t.seq as license from ${rows} where ${isOne} and ${mine}`,
    ),
    ...isOfCustomer('c', named.customers).map(
      (isOne) => sql`select t.seq from clients c cross join ${search.licensesBy('licenses_client', 't')}
        where ${isOne} and t.client_id = c.id and ${mine}`,
    ),
    ...isReferenced('client_id', named.clients).map(
      (isOne) =>
        sql`select t.seq from ${search.licensesBy('licenses_client', 't')} where ${isOne} and ${mine}`,
    ),
    ...isReferenced('id', named.licenses).map(
      (isOne) => sql`select t.seq from licenses t where ${isOne} and ${mine}`,
    ),
  ]
}

function byBeginning({ scope, term, mine }: Search): Sql[] {
  const byName = sql`select t.seq from apps a cross join clients c cross join licenses t
    where a.owner_id = ${scope.ownerId} and c.app_id = a.id and c.username_normalized >= ${term.text}
      and c.username_normalized < ${afterPrefix(term.text)} and t.client_id = c.id and ${mine}`
  if (term.key === undefined) return [byName]
  const byKey = sql`select t.seq from apps a cross join licenses t
    where a.owner_id = ${scope.ownerId} and t.app_id = a.id and t.key_normalized >= ${term.key}
      and t.key_normalized < ${afterPrefix(term.key)} and ${mine}`
  return [byKey, byName]
}

export const licenseList = listOf(false)
const licensesApart = listOf(true)

export const licenseListBy = (banned: Bans | undefined): List<ListedLicenseStatus> =>
  banned === 'apart' ? licensesApart : licenseList

/** What a search found in each license of a page. */
export async function matchesOf(
  db: Db,
  filter: ListScope,
  search: string | undefined,
  rows: readonly ListedLicense[],
): Promise<(row: ListedLicense) => { match?: SearchMatch }> {
  const term = toSearchTerm(search)
  if (!term) return () => ({})
  const users = rows.flatMap(({ client_id }) => (client_id === null ? [] : [client_id]))
  const endUsers = [...new Set(users)]
  const known = await readKnown(db, filter, endUsers, term)
  const licenses = rows.map(({ id }) => id)
  const sales = await readSales(db, filter, { licenses, endUsers }, term)
  const reference = mayRead(filter, 'clients:read') ? toReference(term.text) : undefined
  return (row) => {
    const person = known.get(row.client_id ?? '')
    const match = matchOf(term, [
      ['key', row.key],
      ['note', row.note],
      ['username', row.username],
      ['email', person?.email],
      ['reseller', mayRead(filter, 'resellers:read') ? row.reseller_email : null],
      ['type', row.type_name],
      ['device', person?.device],
    ])
    const found = match ?? sales.get(row.id) ?? sales.get(row.client_id ?? '')
    if (found) return { match: found }
    return reference === undefined ? {} : { match: { field: 'reference', text: reference } }
  }
}
