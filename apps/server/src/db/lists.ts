import { limits } from '@keyward/contract'
import { type RawBuilder, sql } from 'kysely'
import { hour } from '../core/clock.ts'
import type { OwnerScope } from '../core/ctx.ts'
import { orderOf, type Page, type Pagination, type Sort, seek, toPagination } from '../core/paging.ts'
import type { Database } from './open.ts'
import { findStart } from './places.ts'
import { type SearchTerm, toSearchTerm } from './search.ts'

type Sql = RawBuilder<unknown>

/** What tells one list by `seq` from another. In every query `t` is the table that is listed, or its counts. */
export interface List<Status extends string> {
  /** Has the indexes `…_owner` and `…_app` by `seq`, and each again with `_expiry` and `_banned`. */
  table: 'licenses' | 'clients'
  id: RegExp
  /** The condition that a row with this status meets. */
  statuses: Record<Status, (now: number) => Sql>
  /** The same by what places count: the flags, and whether the expiry is past. */
  inPlaces: Record<Status, { flags: Sql; expired?: boolean }>
  count(database: Database, whose: ListScope): Promise<Counts<Status>>
  /** The `seq` of what a search finds. */
  hits(search: Search): Sql | Promise<Sql>
}

/** Whose rows: an owner's, or of one app that is known to be the owner's. */
export interface ListScope {
  scope: OwnerScope
  appId?: string | undefined
  now: number
}

export interface ListFilter<Status extends string> extends ListScope {
  status?: Status | undefined
}

/** What is asked of a list; `app` is named by either of its ids. */
export interface ListQuery<Status extends string> extends Page {
  app?: string | undefined
  status?: Status | undefined
  search?: string | undefined
  sort: Sort
}

export type Counts<Status extends string> = Record<Status | 'total', number>

export interface Search {
  dialect: Database['dialect']
  scope: OwnerScope
  term: SearchTerm
  /** What the filter lets through. */
  mine: Sql
  /** The order of the list for SQLite's full-text index `s`: of too many hits the ones to be shown first are found. */
  inOrder: Sql
  /** SQLite's other way, when the filter lets few rows through: to look at each of them. */
  narrow?: { rows: Sql; where: Sql; inOrder: Sql }
  /** Whether so many rows match in a full-text index that it takes long to look at all of them. */
  isCommon(index: 'license_search' | 'client_search', query: string): Promise<boolean>
}

interface Found {
  /** In no particular order. */
  seqs: number[]
  pagination: Pagination
}

type SortedPage = Page & { sort: Sort }

/** What is on a page of a list or of a search in it, with the counts that are shown above. */
export async function findPage<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  page: SortedPage & { search?: string | undefined },
): Promise<Found & { stats: Counts<Status> }> {
  const stats = await list.count(database, filter)
  const term = toSearchTerm(page.search)
  const found = term
    ? await searchPage(database, list, filter, page, term, stats[filter.status ?? 'total'])
    : await plainPage(database, list, filter, page, stats[filter.status ?? 'total'])
  return { ...found, stats }
}

async function plainPage<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  page: SortedPage,
  total: number,
): Promise<Found> {
  const pagination = toPagination(page, total, false)
  const target = seek(page, total, page.sort)
  if (!target) return { seqs: [], pagination }
  const few = filter.status !== undefined && total <= fewMatches
  const isFar = target.offset > nearOffset || (filter.status !== undefined && filter.status !== 'banned')
  const { from, offset } =
    isFar && !few
      ? await findListStart(database, list, filter, target)
      : { from: sql``, offset: target.offset }
  const { rows } = await sql<{ seq: number }>`
    select t.seq as seq from ${indexed(database, list.table, filter, toIndex(filter, total))}
    where ${within(filter)} ${withStatus(list, filter)} ${from}
    order by t.seq ${sql.raw(target.order)} limit ${target.limit} offset ${offset}`.execute(database.lists)
  return { seqs: rows.map((row) => row.seq), pagination }
}

/** For pages of a list that are far from its ends. */
export function findListStart<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  target: { order: 'asc' | 'desc'; offset: number },
) {
  const { status, now } = filter
  const { flags, expired } =
    status === undefined ? { flags: sql``, expired: undefined } : list.inPlaces[status]
  const byExpiry = indexed(database, list.table, filter, '_expiry')
  const conditions = { within: within(filter), status: withStatus(list, filter), flags, expired }
  return findStart(database, { table: list.table, byExpiry, now, ...conditions }, target)
}

/** The same for a search, which counts no further than `limits.searchCountMax`. */
export async function searchPage<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  page: SortedPage,
  term: SearchTerm,
  /** How many rows the filter lets through, if that is known. */
  total?: number,
): Promise<Found> {
  const order = sql.raw(orderOf[page.sort])
  const offset = (page.page - 1) * page.limit
  const hits = await searchHits(database, list, filter, order, term, total)
  const { rows } = await sql<{ seq: number | null; total: number }>`
    with hits as materialized (${hits}),
      shown as (select seq from hits order by seq ${order} limit ${page.limit} offset ${offset})
    select shown.seq as seq, counted.total as total
    from (select count(*) as total from hits) counted left join shown on 1 = 1`.execute(database.lists)
  const seqs = rows.map((row) => row.seq).filter((seq) => seq !== null)
  return { seqs, pagination: toPagination(page, rows[0]?.total ?? 0, true) }
}

/**
 * Looks at the next rows before a `seq`, at most `count` of them, newest first, and tells which the status
 * lets through: a step of a long walk that never scans far.
 */
export async function nextWindow<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  before: number,
  count: number,
): Promise<{ seq: number; hit: 0 | 1 }[]> {
  const status = withStatus(list, filter)
  const banned = filter.status === 'banned'
  const { rows } = await sql<{ seq: number; hit: 0 | 1 }>`
    select t.seq as seq, case when 1 = 1 ${status} then 1 else 0 end as hit
    from ${indexed(database, list.table, filter, banned ? '_banned' : '')}
    where ${within(filter)} and t.seq < ${before} ${banned ? status : sql``}
    order by t.seq desc limit ${count}`.execute(database.db)
  return rows
}

export const within = ({ scope, appId }: ListScope): Sql =>
  appId === undefined ? sql`t.owner_id = ${scope.ownerId}` : sql`t.app_id = ${appId}`

const withStatus = <Status extends string>(
  { statuses }: List<Status>,
  { status, now }: ListFilter<Status>,
): Sql => (status === undefined ? sql`` : sql`and ${statuses[status](now)}`)

/** Below this many matches they are gathered and sorted; above, the list is walked until a page is full. */
const fewMatches = 20_000

/** As many rows that a filter lets through are looked at one by one for a text that is in very many others. */
const narrowMatches = 100_000

/** As many rows are walked along as fast as places are counted. */
const nearOffset = 2_000

function toIndex({ status }: ListFilter<string>, total: number): '' | '_expiry' | '_banned' {
  if (status === 'banned') return '_banned'
  return status !== undefined && total <= fewMatches ? '_expiry' : ''
}

/** SQLite keeps no statistics that would tell it which way is short; PostgreSQL finds out by itself. */
function indexed(
  { dialect }: Database,
  table: string,
  { appId }: ListScope,
  index: '' | '_expiry' | '_banned',
): Sql {
  const by = appId === undefined ? 'owner' : 'app'
  return sql.raw(dialect === 'sqlite' ? `${table} t indexed by ${table}_${by}${index}` : `${table} t`)
}

function searchHits<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  order: Sql,
  term: SearchTerm,
  total: number | undefined,
): Sql | Promise<Sql> {
  const { dialect } = database
  const { scope, appId } = filter
  // The plus keeps SQLite from walking the owner's index from end to end: searches come by a shorter way.
  const mine = sql`${sql.raw(dialect === 'sqlite' ? '+' : '')}t.owner_id = ${scope.ownerId}
    ${appId === undefined ? sql`` : sql`and t.app_id = ${appId}`} ${withStatus(list, filter)}`
  if (list.id.test(term.text)) {
    return sql`select t.seq from ${sql.raw(list.table)} t where t.id = ${term.text} and ${mine}`
  }
  const isNarrow = dialect === 'sqlite' && total !== undefined && total <= narrowMatches
  return list.hits({
    dialect,
    scope,
    term,
    mine,
    inOrder: sql`order by s.rowid ${order}`,
    ...(isNarrow && { narrow: toNarrow(database, list, filter, order, total) }),
    isCommon: (index, query) => isCommon(database, index, query),
  })
}

function toNarrow<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  order: Sql,
  total: number,
) {
  const { table } = list
  const rows = indexed(database, table, filter, toIndex(filter, total))
  return {
    rows,
    where: sql`${within(filter)} ${withStatus(list, filter)}`,
    inOrder: sql`order by t.seq ${order}`,
  }
}

const commonHits = 20_000

async function isCommon({ lists }: Database, index: string, query: string): Promise<boolean> {
  const name = sql.raw(index)
  const { rows } = await sql<{ n: number }>`select count(*) as n from (
    select 1 from ${name} where ${name} match ${query} limit ${commonHits})`.execute(lists)
  return rows[0]?.n === commonHits
}

const enough = limits.searchCountMax + 1

/** What one way or another of searching finds; each looks no further than is counted. */
export const anyOf = (...ways: Sql[]): Sql =>
  sql.join(
    ways.map((way) => sql`select seq from (${way} limit ${enough}) way`),
    sql` union `,
  )

const blockHours = 256

/** How far counts that triggers keep, by blocks of hours and by hours, tell what is past; the rest is counted row by row. */
export function countedUntil(now: number) {
  const lastHour = Math.floor(now / hour)
  const block = Math.floor(lastHour / blockHours)
  return { block, firstHour: block * blockHours, lastHour, instant: lastHour * hour }
}
