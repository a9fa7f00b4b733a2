import type { ClientStatus, ListedClientStatus } from '@keyward/contract'
import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { type Database, syntaxOf } from '../../db/engine.ts'
import {
  type Counts,
  countedUntil,
  countRows,
  type List,
  type ListFilter,
  type ListScope,
  type Origin,
  type Search,
  type Sql,
  soonMs,
  within,
  withStatus,
} from '../../db/lists/list-filters.ts'
import { afterPrefix, contains } from '../../db/lists/search.ts'
import {
  anyOf,
  byPeople,
  endUsersByNamed,
  isCandidate,
  isKnown,
  isOfCustomer,
  isOfNamed,
  isReferenced,
} from '../../db/lists/search-names.ts'
import { shownName } from '../customers/names.access.ts'

/** The end users of an owner. */
export const endUserList: List<ListedClientStatus> = {
  table: 'clients',
  id: /^usr_[0-9a-f]{32}$/,
  statuses: {
    active: (now) => sql`t.banned = 0 and t.expires_at > ${now}`,
    expired: (now) => sql`t.banned = 0 and t.expires_at <= ${now}`,
    banned: () => sql`t.banned = 1`,
    expiring: (now) => sql`t.banned = 0 and t.expires_at > ${now} and t.expires_at <= ${now + soonMs}`,
  },
  inCounts: {
    active: { flags: sql`and t.banned = 0`, ends: 'ahead' },
    expired: { flags: sql`and t.banned = 0`, ends: 'past' },
    banned: { flags: sql`and t.banned = 1` },
    expiring: { flags: sql`and t.banned = 0`, ends: 'soon' },
  },
  count,
  byEnd: (status, now) => ({
    index: '_expiry',
    parts:
      status === undefined ? [sql`t.banned = 0`, sql`t.banned = 1`] : [endUserList.statuses[status](now)],
  }),
  isOf,
  ofOrigin,
  licensesOf: (database, origin) =>
    sql`select 1 from ${licensesBy(database, origin)} where ${isUsedOf(origin)}`,
  originIndexes: () => undefined,
  byUser: (order, { lists }, { scope }) =>
    sql`(select ${shownName(lists, scope)} from clients c where c.id = t.id) ${order} nulls last`,
  texts: ({ text, key }) => ({ clients: [text], licenses: key === undefined ? [] : [key] }),
  contains: (search) =>
    sql`${anyOf([
      ...isKnown(search, 't'),
      sql`exists (select 1 from licenses l where l.client_id = t.id
      and ${anyOf([inKey(search), ...isOfNamed('l', search.named)])} limit 1 offset 0)`,
      ...isOfCustomer('t', search.named.customers),
      ...isReferenced('id', search.named.clients),
      ...ofLicenses(search),
    ])}`,
  byIndex,
  byBeginning,
}

/** Counts like licenses: by blocks of hours, by hours, and row by row within the current hour. */
async function count(database: Database, selection: ListScope): Promise<Counts<ClientStatus>> {
  const past = countedUntil(selection.now)
  const row = await countRows(
    database,
    (most) =>
      sql<Record<'total' | 'banned' | 'expired' | 'fresh', number>>`
    select coalesce(sum(fresh), 0) as fresh, coalesce(sum(n), 0) as total, coalesce(sum(n * banned), 0) as banned,
      coalesce(sum(past * (1 - banned)), 0) as expired
    from (
      select t.n as n, t.banned as banned, case when t.block < ${past.block} then t.n else 0 end as past, 0 as fresh
      from client_blocks t where ${within(selection)}
      union all
      select 0, t.banned, t.n, 0 from client_counts t
      where ${within(selection)} and t.bucket >= ${past.firstHour} and t.bucket <= ${past.lastHour}
      union all
      select * from (select 0, 0, 1, 1 from clients t
      where ${within(selection)} and t.banned = 0 and t.expires_at > ${past.instant} and t.expires_at <= ${selection.now}
      limit ${sql.lit(most)}) rows_of_hour
    ) parts`,
  )
  const { total = 0, banned = 0, expired = 0 } = row ?? {}
  return { total, active: total - banned - expired, banned, expired }
}

/** Whether one of the licenses of the end user is of the type and the reseller. */
function isOf({ lists }: Database, { typeId, resellerId }: Origin): Sql {
  const ofType = typeId === undefined ? sql`` : sql`and o.type_id = ${typeId}`
  const ofReseller = resellerId === undefined ? sql`` : sql`and o.reseller_id = ${resellerId}`
  return sql`exists (select 1 from ${sql.raw(syntaxOf(lists).indexed('licenses', 'o', 'licenses_client'))}
    where o.client_id = t.id ${ofType} ${ofReseller})`
}

/** For a FROM clause: licenses by an index of the origin. */
function licensesBy({ lists }: Database, { resellerId }: Origin): Sql {
  const index = resellerId === undefined ? 'licenses_type_expiry' : 'licenses_reseller_counts'
  return sql.raw(syntaxOf(lists).indexed('licenses', 'o', index))
}

const isUsedOf = ({ typeId, resellerId }: Origin): Sql =>
  resellerId === undefined
    ? sql`o.used = 1 and o.type_id = ${typeId}`
    : sql`o.used = 1 and o.reseller_id = ${resellerId}`

function ofOrigin(database: Database, filter: ListFilter<ListedClientStatus>, origin: Origin): Sql {
  const { typeId, resellerId } = origin
  const alsoOfType = typeId === undefined || resellerId === undefined ? sql`` : sql`and o.type_id = ${typeId}`
  const ofLicense = sql`${isUsedOf(origin)} ${alsoOfType}`
  const mine = sql`${within(filter)} ${withStatus(database, endUserList, { ...filter, origin: undefined })}`
  // By number, licenses and end users are read roughly as they are stored: four times as fast as by end.
  const index = resellerId === undefined ? 'licenses_type' : 'licenses_reseller'
  const bySeq = syntaxOf(database.lists).indexed('licenses', 'o', index)
  return sql`select distinct t.seq as seq, t.expires_at as ends from ${sql.raw(bySeq)} cross join clients t
    where ${ofLicense} and t.id = o.client_id and ${mine}`
}

const appsOf = (scope: OwnerScope) => sql`(select id from apps where owner_id = ${scope.ownerId})`

const inKey = ({ index, term: { key } }: Search) =>
  key === undefined ? sql`1 = 0` : contains(index, 'l.key_normalized', key)

function byIndex(search: Search): Sql[] {
  const { term, mine, named, order } = search
  const isNamed = isCandidate(search, 't')
  const byName = search
    .candidates('clients', 't')
    .map(
      ({ rows, seq }) => sql`select t.seq from ${rows} where ${mine} and ${isNamed} order by ${seq} ${order}`,
    )
  const others = [
    ...byPeople(search, 't', {
      clients: sql`clients t where true`,
      devices: sql`devices d cross join clients t where t.id = d.client_id`,
    }),
    ...endUsersByNamed(search),
    ...[
      ...isOfCustomer('t', named.customers),
      ...isReferenced('id', named.clients),
      ...ofLicenses(search),
    ].map((isOne) => sql`select t.seq from clients t where ${isOne} and ${mine}`),
  ]
  if (term.key === undefined) return [...byName, ...others]
  const byKey = search.candidates('licenses', 'l').map(
    ({ rows, seq }) => sql`select t.seq from ${rows} cross join clients t
      where t.id = l.client_id and ${mine} and ${inKey(search)} order by ${seq} ${order}`,
  )
  return [...byName, ...byKey, ...others]
}

const ofLicenses = ({ named: { licenses } }: Search): Sql[] =>
  licenses.length === 0
    ? []
    : [sql`t.id in (select l.client_id from licenses l where l.id in (${sql.join(licenses)}))`]

function byBeginning({ scope, term, mine }: Search): Sql[] {
  const { text, key } = term
  const byName = sql`select t.seq from clients t
    where t.app_id in ${appsOf(scope)} and t.username_normalized >= ${text}
      and t.username_normalized < ${afterPrefix(text)} and ${mine}`
  if (key === undefined) return [byName]
  const byKey = sql`select t.seq from licenses l cross join clients t
    where t.id = l.client_id and l.app_id in ${appsOf(scope)} and l.key_normalized >= ${key}
      and l.key_normalized < ${afterPrefix(key)} and ${mine}`
  return [byName, byKey]
}
