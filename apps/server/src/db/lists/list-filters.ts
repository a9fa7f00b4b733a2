import { limits, type Permission } from '@keyward/contract'
import { type RawBuilder, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { day, hour } from '../../core/clock.ts'
import type { NameSort, Page, Pagination, Sort } from '../../core/paging.ts'
import { type Database, type Syntax, syntaxOf } from '../engine.ts'
import { isOneOf } from '../scope.ts'
import type { Named, SearchTerm } from './search.ts'

export type Sql = RawBuilder<unknown>

export type Order = 'asc' | 'desc'

/** What distinguishes the lists. In each query `t` is the listed table or its counts. */
export interface List<Status extends string> {
  /** Must have the indexes `…_owner` and `…_app` by `seq`, each also with `_expiry` and `_banned`. */
  table: 'licenses' | 'clients'
  id: RegExp
  /** SQL condition for each status. */
  statuses: Record<Status, (now: number) => Sql>
  /** The condition of each status in terms of the counts: by flags, and by when rows end. */
  inCounts: Record<Status, { flags: Sql; ends?: Ends }>
  count(database: Database, selection: ListScope): Promise<Counts<Exclude<Status, 'expiring'>>>
  /** The parts of an index that hold the rows of a status, each sorted by end and then `seq`. */
  byEnd(status: Status | undefined, now: number): { index: ListIndex; parts: Sql[] }
  /** SQL condition: whether the row is of the type and the reseller. */
  isOf(database: Database, origin: Origin): Sql
  /** Selects `seq` and `ends` of the rows of an origin, through its index. */
  ofOrigin(database: Database, filter: ListFilter<Status>, origin: Origin): Sql
  /** Selects a row for each license that `ofOrigin` reads, from the same index alone. */
  licensesOf(database: Database, origin: Origin): Sql
  /** SQLite's indexes that hold the rows of an origin and their status: by `seq`, and by flag and end. */
  originIndexes(origin: Origin, status: Status | undefined): OriginIndexes | undefined
  /** The first terms of ORDER BY for a list sorted by the names that it shows of end users; those without one come last. */
  byUser(order: Sql, database: Database, filter: ListScope): Sql
  texts(term: SearchTerm): SearchedTexts
  /** SQL condition: whether the row contains the text. */
  contains(search: Search): Sql
  /** Queries that select the `seq` of the rows that contain the text, through its index. */
  byIndex(search: Search): Sql[]
  /** The same for rows that begin with a text that is too short for the index. */
  byBeginning(search: Search): Sql[]
}

export interface OriginIndexes {
  bySeq: string
  byEnd: string
}

/** When rows end: before now, after now, or within the next days. */
export type Ends = 'past' | 'ahead' | 'soon'

export const soonMs = limits.expiringSoonDays * day

export type ListIndex = '' | '_expiry' | '_banned' | '_banned_expiry'

/** What licenses were made from or by; the caller has checked that it is the owner's. */
export interface Origin {
  typeId?: string | undefined
  resellerId?: string | undefined
}

/** The scope of a list: an owner, or one app that the caller has checked to be the owner's. */
export interface ListScope {
  scope: OwnerScope
  appId?: string | undefined
  now: number
}

/** A text finds the rows of so many resellers, types and customers, and so many licenses of orders. */
export const namedMost = 50

export const mayRead = ({ scope }: Pick<ListScope, 'scope'>, permission: Permission): boolean =>
  scope.permissions?.has(permission) === true

export interface ListFilter<Status extends string> extends ListScope {
  status?: Status | undefined
  origin?: Origin | undefined
}

/** The query of a list; `app` is an `_id` or an `appId`. */
export interface ListQuery<Status extends string> extends Page {
  app?: string | undefined
  status?: Status | undefined
  type?: string | undefined
  reseller?: string | undefined
  search?: string | undefined
  sort: Sort | NameSort
}

export type SortedPage<Order = Sort> = Page & { sort: Order }

export type Counts<Status extends string> = Record<Status | 'total', number>

export interface Search {
  index: Syntax['searchIndex']
  scope: OwnerScope
  term: SearchTerm
  named: Named
  /** Whether the caller may read addresses and devices of end users. */
  seesPeople: boolean
  /** For a FROM clause: licenses by one of their indexes. */
  licensesBy(index: string, row: string): Sql
  /** SQL condition of the filter. */
  mine: Sql
  /** By `seq`. */
  order: Sql
  /** Ways to the rows of a table that may contain one of its texts; they must be compared with it. */
  candidates(table: SearchedTable, row: string): Candidates[]
}

export type SearchedTable = 'licenses' | 'clients'

/** The texts that a search looks for in the index of each table. */
export type SearchedTexts = Record<SearchedTable, string[]>

interface Candidates {
  /** For a FROM clause. */
  rows: Sql
  /** What to sort by, so that SQLite reads its index in this order. */
  seq: Sql
}

export interface Found {
  /** Unsorted. */
  seqs: number[]
  pagination: Pagination
}

export function within({ scope, appId }: ListScope): Sql {
  if (appId !== undefined) return sql`t.app_id = ${appId}`
  return scope.apps ? isOneOf(scope.apps, sql`t.app_id`) : sql`t.owner_id = ${scope.ownerId}`
}

const partsMost = 100

/** The filter, for some apps one for each app, because the index of an app yields its rows in order. */
export function partsOf<Filter extends ListScope>(filter: Filter): Filter[] {
  const apps = [...((filter.appId === undefined && filter.scope.apps) || [])]
  if (apps.length === 0 || apps.length > partsMost) return [filter]
  return apps.map((appId) => ({ ...filter, appId }))
}

/**
 * The first rows that a query finds. For some apps it runs app by app, because the index of an app yields its rows in
 * order, and the results are merged.
 */
export function firstRows<Filter extends ListScope>(
  filter: Filter,
  find: (part: Filter) => Sql,
  order: Sql,
  { limit, offset = 0 }: { limit: number; offset?: number },
): Sql {
  const [only, ...others] = partsOf(filter)
  if (only && others.length === 0) {
    return sql`${find(only)} order by t.seq ${order} limit ${limit} offset ${offset}`
  }
  const parts = [only, ...others].map((part) => {
    const ofApp = find(part ?? filter)
    return sql`select * from (${ofApp} order by t.seq ${order}) part`
  })
  return sql`select * from (${sql.join(parts, sql` union all `)}) parts order by seq ${order} limit ${limit} offset ${offset}`
}

export const withStatus = <Status extends string>(
  database: Database,
  { statuses, isOf }: List<Status>,
  { status, origin, now }: ListFilter<Status>,
): Sql => {
  const ofOrigin = origin === undefined ? sql`` : sql`and ${isOf(database, origin)}`
  return status === undefined ? ofOrigin : sql`and ${statuses[status](now)} ${ofOrigin}`
}

/** Names the index, because SQLite keeps no statistics to choose it; PostgreSQL chooses itself. */
export function indexed(
  { lists }: Database,
  table: string,
  { scope, appId }: ListScope,
  index: ListIndex,
  row = 't',
): Sql {
  const by = appId === undefined && scope.apps === null ? 'owner' : 'app'
  return sql.raw(syntaxOf(lists).indexed(table, row, `${table}_${by}${index}`))
}

/**
 * Up to this many matches are read from the status index and sorted, or compared with the text of a search; above, the
 * list is walked until the page is full, and a search uses the index of the text.
 */
export const fewMatches = 20_000

export function toIndex({ status }: ListFilter<string>, total: number): '' | '_expiry' | '_banned' {
  if (status === 'banned') return '_banned'
  return status !== undefined && total <= fewMatches ? '_expiry' : ''
}

export const blockHours = 256

/** Where the trigger-kept counts by block (256 hours) and by hour end; rows after `instant` are counted one by one. */
export function countedUntil(now: number) {
  const lastHour = Math.floor(now / hour)
  const block = Math.floor(lastHour / blockHours)
  return { block, firstHour: block * blockHours, lastHour, instant: lastHour * hour }
}

const fewOfHour = 500

/**
 * Counts at once while few rows ended in the current hour (`fresh`). A million may end in one moment: such a count runs where lists
 * are read. `most` must be a literal in the SQL, because SQLite prepares a statement with a bound limit anew for each call.
 */
export async function countRows<T extends { fresh: number }>(
  { counts, lists }: Pick<Database, 'counts' | 'lists'>,
  counted: (most: number) => RawBuilder<T>,
): Promise<T | undefined> {
  const [row] = (await counted(fewOfHour).execute(counts)).rows
  if (Number(row?.fresh ?? 0) < fewOfHour) return row
  return (await counted(Number.MAX_SAFE_INTEGER).execute(lists)).rows[0]
}

/**
 * Counts used licenses or active end users that end after `from` and until `to`: whole hours from the hourly counts,
 * the partial hours at both ends row by row.
 */
export async function countEnding(
  database: Database,
  { table, inCounts: { expiring } }: Pick<List<'expiring'>, 'table' | 'inCounts'>,
  selection: ListScope,
  { from, to }: { from: number; to: number },
): Promise<number> {
  const [first, last] = [Math.floor(from / hour), Math.floor(to / hour)]
  const counts = sql.raw(table === 'licenses' ? 'license_counts' : 'client_counts')
  const byExpiry = indexed(database, table, selection, '_expiry')
  const mine = sql`${within(selection)} ${expiring.flags}`
  const { rows } = await sql<{ n: number }>`select coalesce(sum(n), 0) as n from (
      select t.n as n from ${counts} t where ${mine} and t.bucket > ${first} and t.bucket <= ${last}
      union all
      select -1 from ${byExpiry} where ${mine} and t.expires_at > ${first * hour} and t.expires_at <= ${from}
      union all
      select 1 from ${byExpiry} where ${mine} and t.expires_at > ${last * hour} and t.expires_at <= ${to}
    ) parts`.execute(database.lists)
  return Number(rows[0]?.n ?? 0)
}

/** How many rows match a filter by app and status. */
export async function countOf<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  counts: Counts<Exclude<Status, 'expiring'>>,
): Promise<number> {
  const status = filter.status ?? 'total'
  if (status !== 'expiring') return counts[status as keyof typeof counts]
  const soon = { from: filter.now, to: filter.now + soonMs }
  return countEnding(database, list as unknown as List<'expiring'>, filter, soon)
}
