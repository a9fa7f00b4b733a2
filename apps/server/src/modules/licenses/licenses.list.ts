import type { LicenseStatus } from '@keyward/contract'
import { sql } from 'kysely'
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
import { afterPrefix, contains, noteContains } from '../../db/lists/search.ts'

/** The licenses of an owner. */
export const licenseList: List<LicenseStatus> = {
  table: 'licenses',
  id: /^lic_[0-9a-f]{32}$/,
  statuses: {
    unused: (now) => sql`t.used = 0 and t.expires_at > ${now}`,
    active: (now) => sql`t.used = 1 and t.expires_at > ${now}`,
    expired: (now) => sql`t.used in (0, 1) and t.expires_at <= ${now}`,
    banned: () => sql`t.banned = 1`,
  },
  inPlaces: {
    unused: { flags: sql`and t.used = 0`, expired: false },
    active: { flags: sql`and t.used = 1`, expired: false },
    expired: { flags: sql``, expired: true },
    banned: { flags: sql`and t.banned = 1` },
  },
  count,
  texts: ({ text, key }) => ({ licenses: key === undefined ? [text] : [text, key], clients: [text] }),
  contains: (search) => sql`(${inKeyOrNote(search)} or exists (
    select 1 from clients c where c.id = t.client_id and ${inName(search)} limit 1 offset 0))`,
  byIndex,
  byBeginning,
}

/**
 * Adds trigger-kept counts by block and by hour to the rows of the current hour. One pass without GROUP BY, because
 * SQLite would sort for it.
 */
async function count({ lists }: Database, selection: ListScope): Promise<Counts<LicenseStatus>> {
  const past = countedUntil(selection.now)
  const { rows } = await sql<Record<'total' | 'used' | 'banned' | 'past' | 'past_used', number>>`
    select coalesce(sum(n), 0) as total, coalesce(sum(n * used), 0) as used, coalesce(sum(n * banned), 0) as banned,
      coalesce(sum(past), 0) as past, coalesce(sum(past * used), 0) as past_used
    from (
      select t.n as n, t.used as used, t.banned as banned, case when t.block < ${past.block} then t.n else 0 end as past
      from license_blocks t where ${within(selection)}
      union all
      select 0, t.used, 0, t.n from license_counts t
      where ${within(selection)} and t.bucket >= ${past.firstHour} and t.bucket <= ${past.lastHour}
      union all
      select 0, t.used, 0, 1 from licenses t
      where ${within(selection)} and t.used in (0, 1) and t.expires_at > ${past.instant} and t.expires_at <= ${selection.now}
    ) parts`.execute(lists)
  const { total = 0, used = 0, banned = 0, past: expired = 0, past_used: usedUp = 0 } = rows[0] ?? {}
  return { total, active: used - usedUp, unused: total - used - (expired - usedUp), expired, banned }
}

const inName = ({ index, term }: Search) => contains(index, 'c.username_normalized', term.text)

function inKeyOrNote({ index, term }: Search): Sql {
  const inNote = noteContains(index, 't.note', term.text)
  if (term.key === undefined) return inNote
  return sql`(${contains(index, 't.key_normalized', term.key)} or ${inNote})`
}

function byIndex(search: Search): Sql[] {
  const { mine, order } = search
  const texts = search.candidates('licenses', 't')
  const names = search.candidates('clients', 'c')
  return [
    sql`select t.seq from ${texts.rows}
      where ${mine} and ${inKeyOrNote(search)} order by ${texts.seq} ${order}`,
    sql`select t.seq from ${names.rows} cross join licenses t
      where t.client_id = c.id and ${mine} and ${inName(search)} order by ${names.seq} ${order}`,
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
