import type { ClientStatus } from '@keyward/contract'
import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import type { Database } from '../../db/index.ts'
import {
  type Counts,
  countedUntil,
  type List,
  type ListScope,
  type Search,
  type Sql,
  within,
} from '../../db/lists/list-filters.ts'
import { afterPrefix, contains } from '../../db/lists/search.ts'

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
  texts: ({ text, key }) => ({ clients: [text], licenses: key === undefined ? [] : [key] }),
  contains: (search) => sql`(${inName(search)} or exists (
    select 1 from licenses l where l.client_id = t.id and ${inKey(search)} limit 1 offset 0))`,
  byIndex,
  byBeginning,
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

const inName = ({ index, term }: Search) => contains(index, 't.username_normalized', term.text)

const inKey = ({ index, term: { key } }: Search) =>
  key === undefined ? sql`1 = 0` : contains(index, 'l.key_normalized', key)

function byIndex(search: Search): Sql[] {
  const { term, mine, order } = search
  const names = search.candidates('clients', 't')
  const byName = sql`select t.seq from ${names.rows}
    where ${mine} and ${inName(search)} order by ${names.seq} ${order}`
  if (term.key === undefined) return [byName]
  const keys = search.candidates('licenses', 'l')
  const byKey = sql`select t.seq from ${keys.rows} cross join clients t
    where t.id = l.client_id and ${mine} and ${inKey(search)} order by ${keys.seq} ${order}`
  return [byName, byKey]
}

function byBeginning({ scope, term, mine }: Search): Sql[] {
  const { text, key } = term
  const byName = sql`select t.seq from clients t
    where t.app_id in ${appsOf(scope)} and t.username_normalized >= ${text}
      and t.username_normalized < ${afterPrefix(text)} and ${mine}`
  if (key === undefined) return [byName]
  const byKey = sql`select t.seq from licenses l join clients t on t.id = l.client_id
    where l.app_id in ${appsOf(scope)} and l.key_normalized >= ${key}
      and l.key_normalized < ${afterPrefix(key)} and ${mine}`
  return [byName, byKey]
}
