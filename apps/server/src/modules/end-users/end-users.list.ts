import type { ClientStatus } from '@keyward/contract'
import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import {
  type Counts,
  countedUntil,
  type Hits,
  type List,
  type ListScope,
  type Search,
  within,
} from '../../db/lists/list-filters.ts'
import { anyOf, countedFast, firstOf, withoutIndex } from '../../db/lists/list-search.ts'
import { afterPrefix, anywhere } from '../../db/lists/search.ts'
import type { Database } from '../../db/open.ts'

/** The end users of an owner. */
export const endUserList: List<ClientStatus> = {
  table: 'clients',
  id: /^usr_[0-9a-f]{32}$/,
  statuses: {
    active: (now) => sql`t.banned = 0 and t.expires_at > ${now}`,
    expired: (now) => sql`t.banned = 0 and t.expires_at <= ${now}`,
    banned: () => sql`t.banned = 1`,
  },
  inPlaces: {
    active: { flags: sql`and t.banned = 0`, expired: false },
    expired: { flags: sql`and t.banned = 0`, expired: true },
    banned: { flags: sql`and t.banned = 1` },
  },
  count,
  hits(search) {
    if (search.term.short) return byBeginning(search)
    return search.dialect === 'sqlite' ? bySqliteIndex(search) : byPostgresIndex(search)
  },
}

/** Counts like licenses: by blocks of hours, by hours, and row by row within the current hour. */
async function count({ lists }: Database, selection: ListScope): Promise<Counts<ClientStatus>> {
  const past = countedUntil(selection.now)
  const { rows } = await sql<Record<'total' | 'banned' | 'expired', number>>`
    select coalesce(sum(n), 0) as total, coalesce(sum(n * banned), 0) as banned,
      coalesce(sum(past * (1 - banned)), 0) as expired
    from (
      select t.n as n, t.banned as banned, case when t.block < ${past.block} then t.n else 0 end as past
      from client_blocks t where ${within(selection)}
      union all
      select 0, t.banned, t.n from client_counts t
      where ${within(selection)} and t.bucket >= ${past.firstHour} and t.bucket <= ${past.lastHour}
      union all
      select 0, 0, 1 from clients t
      where ${within(selection)} and t.banned = 0 and t.expires_at > ${past.instant} and t.expires_at <= ${selection.now}
    ) parts`.execute(lists)
  const { total = 0, banned = 0, expired = 0 } = rows[0] ?? {}
  return { total, active: total - banned - expired, banned, expired }
}

const appsOf = (scope: OwnerScope) => sql`(select id from apps where owner_id = ${scope.ownerId})`

async function bySqliteIndex(search: Search): Promise<Hits> {
  const { term, mine, order, denseOrder, shown, narrow, inIndex } = search
  const { text, key } = term
  const [names, keys] = await Promise.all([
    search.find('client_search', text),
    key === undefined ? undefined : search.find('license_search', key),
  ])
  const few = narrow && (await names.isCommon(narrow.total)) ? narrow : undefined
  const filter = inIndex && names.isMostlyOutside(inIndex.total) ? inIndex : undefined
  const inName = sql`instr(t.username_normalized, ${text}) > 0`
  const byName = (by: 'asc' | 'desc') => {
    if (few)
      return sql`select t.seq from ${few.rows} where ${few.where} and ${inName} order by t.seq ${sql.raw(by)}`
    if (filter)
      return sql`select t.seq from ${names.rows} s cross join ${filter.rows} on t.seq = s.hit
        cross join clients c on c.seq = s.hit
        where ${filter.where} and instr(c.username_normalized, ${text}) > 0 order by s.hit ${sql.raw(by)}`
    return sql`select t.seq from ${names.rows} s cross join clients t on t.seq = s.hit
      where ${mine} and ${inName} order by s.hit ${sql.raw(by)}`
  }
  const byKey = keys
    ? [
        sql`select t.seq from ${keys.rows} s cross join licenses l on l.seq = s.hit
          cross join clients t on t.id = l.client_id
          where ${mine} and instr(l.key_normalized, ${key}) > 0 order by s.hit ${sql.raw(order)}`,
      ]
    : []
  if (order === denseOrder || !names.isMany || keys?.isMany)
    return { counted: anyOf(byName(order), ...byKey) }
  return {
    counted: anyOf(byName(denseOrder), ...byKey),
    shown: anyOf(firstOf(byName(order), shown), ...byKey),
  }
}

async function byPostgresIndex(search: Search): Promise<Hits> {
  const { term, mine, order, denseOrder, shown, narrow } = search
  const { text, key } = term
  const inName = sql`t.username_normalized like ${anywhere(text)}`
  const few = narrow && (await search.expectsMany(sql`clients t where ${inName}`)) ? narrow : undefined
  const byName = few
    ? sql`select t.seq from ${few.rows} where ${few.where} and ${withoutIndex(inName)}`
    : sql`select t.seq from clients t where ${mine} and ${inName}`
  const byKey = sql`select t.seq from licenses l join clients t on t.id = l.client_id
    where ${mine} and l.key_normalized like ${anywhere(key ?? '')}`
  const ways = [{ from: byName, countedIn: denseOrder }, ...(key === undefined ? [] : [{ from: byKey }])]
  return countedFast(ways, order, shown)
}

function byBeginning({ scope, term, mine }: Search): Hits {
  const { text, key } = term
  const byName = sql`select t.seq from clients t
    where t.app_id in ${appsOf(scope)} and t.username_normalized >= ${text}
      and t.username_normalized < ${afterPrefix(text)} and ${mine}`
  if (key === undefined) return { counted: anyOf(byName) }
  const byKey = sql`select t.seq from licenses l join clients t on t.id = l.client_id
    where l.app_id in ${appsOf(scope)} and l.key_normalized >= ${key}
      and l.key_normalized < ${afterPrefix(key)} and ${mine}`
  return { counted: anyOf(byName, byKey) }
}
