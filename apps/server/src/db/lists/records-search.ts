import type { ActionName } from '@keyward/contract'
import { type RawBuilder, sql } from 'kysely'
import { type Database, syntaxOf } from '../engine.ts'
import { lastIndexedRecord, recordText } from '../record-search.ts'
import { isIn } from '../scope.ts'
import { fewMatches } from './list-filters.ts'
import {
  byTime,
  countFound,
  enough,
  matches,
  newest,
  type RecordFilter,
  type Walk,
  wrapped,
} from './records.ts'
import { hitsOf, textContains } from './search.ts'

type Sql = RawBuilder<unknown>

/** What a search looks for; a record matches if one of these does. */
export interface RecordSearch {
  /** Lower case, for address and detail; undefined if it is too short. */
  text: string | undefined
  actions: ActionName[]
  /** People, apps and others that many records can name. */
  ids: string[]
  /** Licenses and end users. */
  subjects: string[]
  /** Actions whose details the caller may not read. */
  hidden: ActionName[]
}

/** Finds the newest records that match, `enough` at most. A filter with few records is read whole. */
export async function searchRecords(
  database: Database,
  filter: RecordFilter,
  search: RecordSearch,
  walk: Walk,
): Promise<Sql> {
  const total = await countFound(database, walk({ count: fewMatches + 1 }))
  if (total <= fewMatches) return walk({ also: sql`and ${isHit(database, search)}`, count: enough })
  const ways = await waysOf(database, filter, search)
  if (ways.length === 0) return sql`select seq, created_at from audit where 1 = 0`
  return sql`select * from (${sql.join(ways, sql` union `)}) hits ${byTime} limit ${enough}`
}

/** Compares a record with everything that is looked for. */
function isHit(database: Database, search: RecordSearch): Sql {
  const { text, actions, ids, subjects } = search
  const either: Sql[] = [sql`1 = 0`]
  if (text !== undefined) either.push(containsText(database, search, text))
  if (actions.length > 0) either.push(isIn(database.lists, 't.action', actions))
  if (ids.length > 0) either.push(isIn(database.lists, 't.actor_id', ids))
  const targets = [...ids, ...subjects]
  if (targets.length > 0) either.push(isIn(database.lists, 't.target_id', targets))
  return sql`(${sql.join(either, sql` or `)})`
}

function containsText({ lists }: Database, { hidden }: RecordSearch, text: string): Sql {
  const index = syntaxOf(lists).searchIndex
  const contains = textContains(index, sql`(${recordText('t')})`, text)
  if (hidden.length === 0) return contains
  const isReadable = sql`t.action not in (${sql.join(hidden)})`
  return sql`(${contains} and (${isReadable} or ${textContains(index, sql.ref('t.address'), text)}))`
}

/** Queries that find the hits together, each through an index. */
async function waysOf(database: Database, filter: RecordFilter, search: RecordSearch): Promise<Sql[]> {
  const { actions, ids, subjects, text } = search
  const find = (more: Partial<RecordFilter>, by: 'action' | 'actor' | 'subject') =>
    newest(database, { ...filter, ...more }, by, { count: enough })
  const fits = <T>(values: T[], wanted: T | undefined) =>
    wanted === undefined ? values : values.filter((value) => value === wanted)
  const ways = [
    ...fits(actions, filter.action).map((action) => find({ action }, 'action')),
    ...fits(ids, filter.actor).map((actor) => find({ actor }, 'actor')),
    ...fits(ids, filter.subject).map((subject) => find({ subject }, 'subject')),
  ]
  const named = fits(subjects, filter.subject)
  if (named.length > 0) {
    ways.push(sql`select * from (select t.seq as seq, t.created_at as created_at from audit t
      where ${isIn(database.lists, 't.target_id', named)} and ${matches(filter, wrapped)} ${byTime} limit ${enough}) named`)
  }
  if (text !== undefined) ways.push(...(await withText(database, filter, search, text)))
  return ways
}

async function withText(
  database: Database,
  filter: RecordFilter,
  search: RecordSearch,
  text: string,
): Promise<Sql[]> {
  const contains = containsText(database, search, text)
  const indexed = await lastIndexedRecord(database.db)
  if (indexed === undefined) {
    return [
      sql`select * from (select t.seq as seq, t.created_at as created_at from audit t
        where ${matches(filter)} and ${contains} order by t.created_at desc, t.seq desc limit ${enough}) texts`,
    ]
  }
  // Both in the order of their numbers, which is nearly that of their times.
  return [
    sql`select * from (select t.seq as seq, t.created_at as created_at
      from (${hitsOf('audit', [text])}) s cross join audit t on t.seq = s.hit
      where ${matches(filter, wrapped)} and ${contains} order by s.hit desc limit ${enough}) texts`,
    sql`select * from (select t.seq as seq, t.created_at as created_at from audit t not indexed
      where t.seq > ${indexed} and ${matches(filter, wrapped)} and ${contains} order by t.seq desc limit ${enough}) latest`,
  ]
}
