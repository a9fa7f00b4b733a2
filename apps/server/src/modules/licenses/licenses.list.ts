import type { LicenseStatus } from '@keyward/contract'
import { type RawBuilder, sql } from 'kysely'
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
import { afterPrefix, anywhere, containsLower, inNote, inNoteOfRow } from '../../db/lists/search.ts'
import type { Database } from '../../db/open.ts'

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
  hits(search) {
    if (search.term.short) return byBeginning(search)
    return search.dialect === 'sqlite' ? bySqliteIndex(search) : byPostgresIndex(search)
  },
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

const keyOrNote = (
  inKey: RawBuilder<unknown> | undefined,
  inNote: RawBuilder<unknown>,
): RawBuilder<unknown> => (inKey === undefined ? inNote : sql`(${inKey} or ${inNote})`)

async function bySqliteIndex(search: Search): Promise<Hits> {
  const { term, mine, order, denseOrder, shown, narrow, inIndex } = search
  const [licenses, names] = await Promise.all([
    search.find('license_search', term.text, term.key),
    search.find('client_search', term.text),
  ])
  const few = narrow && (await licenses.isCommon(narrow.total)) ? narrow : undefined
  const fewUsers = narrow && (await names.isCommon(narrow.total)) ? narrow : undefined
  const filter = inIndex && licenses.isMostlyOutside(inIndex.total) ? inIndex : undefined
  const inKeyOrNote = (row: 't' | 'l') =>
    keyOrNote(
      term.key === undefined ? undefined : sql`instr(${sql.ref(`${row}.key_normalized`)}, ${term.key}) > 0`,
      containsLower(`${row}.note`, term.text),
    )
  const inName = sql`instr(c.username_normalized, ${term.text}) > 0`
  const byText = (by: 'asc' | 'desc') => {
    if (few)
      return sql`select t.seq from ${few.rows} where ${few.where} and ${inKeyOrNote('t')} order by t.seq ${sql.raw(by)}`
    if (filter)
      return sql`select t.seq from ${licenses.rows} s cross join ${filter.rows} on t.seq = s.hit
        cross join licenses l on l.seq = s.hit
        where ${filter.where} and ${inKeyOrNote('l')} order by s.hit ${sql.raw(by)}`
    return sql`select t.seq from ${licenses.rows} s cross join licenses t on t.seq = s.hit
      where ${mine} and ${inKeyOrNote('t')} order by s.hit ${sql.raw(by)}`
  }
  const byName = fewUsers
    ? sql`select t.seq from ${fewUsers.rows} cross join clients c on c.id = t.client_id
      where ${fewUsers.where} and ${inName} order by t.seq ${sql.raw(order)}`
    : sql`select t.seq from ${names.rows} s cross join clients c on c.seq = s.hit
      cross join licenses t on t.client_id = c.id
      where ${mine} and ${inName} order by s.hit ${sql.raw(order)}`
  if (order === denseOrder || !licenses.isMany || names.isMany)
    return { counted: anyOf(byText(order), byName) }
  return { counted: anyOf(byText(denseOrder), byName), shown: anyOf(firstOf(byText(order), shown), byName) }
}

async function byPostgresIndex(search: Search): Promise<Hits> {
  const { term, mine, order, denseOrder, shown, narrow } = search
  const inKey = term.key === undefined ? undefined : sql`t.key_normalized like ${anywhere(term.key)}`
  const inKeyOrNote = keyOrNote(inKey, inNote('t.note', term.text))
  const inName = sql`c.username_normalized like ${anywhere(term.text)}`
  const few = narrow && (await search.expectsMany(sql`licenses t where ${inKeyOrNote}`)) ? narrow : undefined
  const fewUsers = narrow && (await search.expectsMany(sql`clients c where ${inName}`)) ? narrow : undefined
  // Comparing patterns is slower, and PostgreSQL would start parallel workers although it soon has enough hits.
  const isCommon = !narrow && (await search.expectsMany(sql`licenses t where ${mine} and ${inKeyOrNote}`))
  const hasRareKey =
    isCommon && inKey !== undefined && !(await search.expectsMany(sql`licenses t where ${inKey}`))
  const keyOfRow = term.key === undefined ? undefined : sql`strpos(t.key_normalized, ${term.key}) > 0`
  const inRow = keyOrNote(hasRareKey ? undefined : keyOfRow, inNoteOfRow('t.note', term.text))
  const byText = few
    ? sql`select t.seq from ${few.rows} where ${few.where} and ${withoutIndex(inKeyOrNote)}`
    : sql`select t.seq from licenses t where ${mine} and ${isCommon ? inRow : inKeyOrNote}`
  // Comparing each key would take as long as comparing the notes.
  const byKey = hasRareKey ? [{ from: sql`select t.seq from licenses t where ${mine} and ${inKey}` }] : []
  const byName = fewUsers
    ? sql`select t.seq from ${fewUsers.rows}
      where ${fewUsers.where} and exists (select 1 from clients c where c.id = t.client_id and ${withoutIndex(inName)} offset 0)`
    : sql`select t.seq from clients c join licenses t on t.client_id = c.id where ${mine} and ${inName}`
  return countedFast([{ from: byText, countedIn: denseOrder }, { from: byName }, ...byKey], order, shown)
}

function byBeginning({ scope, term, mine }: Search): Hits {
  const byName = sql`select t.seq from apps a cross join clients c cross join licenses t
    where a.owner_id = ${scope.ownerId} and c.app_id = a.id and c.username_normalized >= ${term.text}
      and c.username_normalized < ${afterPrefix(term.text)} and t.client_id = c.id and ${mine}`
  if (term.key === undefined) return { counted: anyOf(byName) }
  const byKey = sql`select t.seq from apps a cross join licenses t
    where a.owner_id = ${scope.ownerId} and t.app_id = a.id and t.key_normalized >= ${term.key}
      and t.key_normalized < ${afterPrefix(term.key)} and ${mine}`
  return { counted: anyOf(byKey, byName) }
}
