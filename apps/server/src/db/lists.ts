import { limits } from '@keyward/contract'
import { type RawBuilder, sql } from 'kysely'
import { hour } from '../core/clock.ts'
import type { OwnerScope } from '../core/ctx.ts'
import { orderOf, type Page, type Pagination, type Sort, seek, toPagination } from '../core/paging.ts'
import type { Database } from './open.ts'
import { findStart } from './places.ts'
import { type SearchTerm, toSearchTerm } from './search.ts'
import { findInIndex, type IndexHits } from './search-index.ts'

type Sql = RawBuilder<unknown>
type Order = 'asc' | 'desc'

/** What distinguishes the lists. In each query `t` is the listed table or its counts. */
export interface List<Status extends string> {
  /** Must have the indexes `…_owner` and `…_app` by `seq`, each also with `_expiry` and `_banned`. */
  table: 'licenses' | 'clients'
  id: RegExp
  /** SQL condition for each status. */
  statuses: Record<Status, (now: number) => Sql>
  /** The same condition in terms of the counts: by flags, and by whether the expiry has passed. */
  inPlaces: Record<Status, { flags: Sql; expired?: boolean }>
  count(database: Database, selection: ListScope): Promise<Counts<Status>>
  hits(search: Search): Hits | Promise<Hits>
}

/** The scope of a list: an owner, or one app that the caller has checked to be the owner's. */
export interface ListScope {
  scope: OwnerScope
  appId?: string | undefined
  now: number
}

export interface ListFilter<Status extends string> extends ListScope {
  status?: Status | undefined
}

/** The query of a list; `app` is an `_id` or an `appId`. */
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
  /** SQL condition of the filter. */
  mine: Sql
  /** By `seq`. On SQLite a capped search keeps the hits that are shown first. */
  order: Order
  /** By `seq`, so that rows with the filter's status probably come first: a capped search counts faster that way. */
  denseOrder: Order
  /** How many hits there are until the end of the page. */
  shown: number
  /** An alternative if few rows match the filter: scan those rows. */
  narrow?: Filtered
  /** The filter in an index by `seq`, which rejects hits without reading their rows. */
  inIndex?: Filtered
  /** Finds rows with one of the texts in a full-text index of SQLite. */
  find(index: 'license_search' | 'client_search', ...texts: (string | undefined)[]): Promise<IndexHits>
  /** Whether PostgreSQL expects so many rows, from its statistics, that reading all of them is slow. */
  expectsMany(rows: Sql): Promise<boolean>
}

/** The rows that match a filter. */
interface Filtered {
  rows: Sql
  where: Sql
  total: number
}

/** Select the `seq` of the hits of a search. */
export interface Hits {
  /** All, or as many as are counted. */
  counted: Sql
  /** Given if `counted` may be other ones than those that are shown first: the hits until the end of the page. */
  shown?: Sql
}

interface Found {
  /** Unsorted. */
  seqs: number[]
  pagination: Pagination
}

type SortedPage = Page & { sort: Sort }

/** A page of a list or of a search, with the counts over the whole filter. */
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

/** Where a page far from both ends starts. */
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

/** A page of a search; counts at most `limits.searchCountMax` hits. */
export async function searchPage<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  page: SortedPage,
  term: SearchTerm,
  /** How many rows match the filter, if known. */
  total?: number,
): Promise<Found> {
  const { counted, shown } = await searchHits(database, list, filter, page, term, total)
  const found = await selectPage(database, counted, page)
  const pagination = toPagination(page, found.total, true)
  if (!shown || !pagination.capped) return { seqs: found.seqs, pagination }
  return { seqs: (await selectPage(database, shown, page)).seqs, pagination }
}

async function selectPage({ lists }: Database, hits: Sql, { page, limit, sort }: SortedPage) {
  const order = sql.raw(orderOf[sort])
  const { rows } = await sql<{ seq: number | null; total: number }>`
    with hits as materialized (${hits}),
      shown as (select seq from hits order by seq ${order} limit ${limit} offset ${(page - 1) * limit})
    select shown.seq as seq, counted.total as total
    from (select count(*) as total from hits) counted left join shown on 1 = 1`.execute(lists)
  return { seqs: rows.map((row) => row.seq).filter((seq) => seq !== null), total: rows[0]?.total ?? 0 }
}

/**
 * Reads the next `count` rows before a `seq`, newest first, and marks those that match the status: a bounded step of
 * a long walk.
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

/**
 * Up to this many matches are read from the status index and sorted; above, the list is walked until the page is
 * full.
 */
const fewMatches = 20_000

/** Up to this many filtered rows are scanned for a common text instead of reading all of its hits. */
const narrowMatches = { sqlite: 200_000, postgres: 20_000 }

/** Skipping this many rows is as fast as computing the start from counts. */
const nearOffset = 2_000

function toIndex({ status }: ListFilter<string>, total: number): '' | '_expiry' | '_banned' {
  if (status === 'banned') return '_banned'
  return status !== undefined && total <= fewMatches ? '_expiry' : ''
}

/** Names the index, because SQLite keeps no statistics to choose it; PostgreSQL chooses itself. */
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
  page: SortedPage,
  term: SearchTerm,
  total: number | undefined,
): Hits | Promise<Hits> {
  const { dialect, lists } = database
  const { scope, appId } = filter
  // The unary plus keeps SQLite from scanning the owner's index: the search has a more selective one.
  const mine = sql`${sql.raw(dialect === 'sqlite' ? '+' : '')}t.owner_id = ${scope.ownerId}
    ${appId === undefined ? sql`` : sql`and t.app_id = ${appId}`} ${withStatus(list, filter)}`
  if (list.id.test(term.text)) {
    return { counted: sql`select t.seq from ${sql.raw(list.table)} t where t.id = ${term.text} and ${mine}` }
  }
  const filteredBy = (index: Parameters<typeof indexed>[3]) => ({
    rows: indexed(database, list.table, filter, index),
    where: sql`${within(filter)} ${withStatus(list, filter)}`,
    total: total ?? 0,
  })
  const isNarrow = total !== undefined && total <= narrowMatches[dialect]
  const order = orderOf[page.sort]
  const shown = Math.min(page.page * page.limit, enough)
  return list.hits({
    dialect,
    scope,
    term,
    mine,
    order,
    denseOrder: (shown < enough / 2 && denseOrder(list, filter)) || order,
    shown,
    ...(isNarrow && { narrow: filteredBy(toIndex(filter, total)) }),
    ...(total !== undefined && { inIndex: filteredBy(filter.status === 'banned' ? '_banned' : '') }),
    find: (index, ...texts) => findInIndex(lists, index, texts),
    expectsMany: async (rows) => (await expectedRows(database, rows)) >= manyRows,
  })
}

/** Rows expire roughly in the order of their creation. */
function denseOrder<Status extends string>(
  { inPlaces }: List<Status>,
  { status }: ListFilter<Status>,
): Order | undefined {
  const expired = status === undefined ? undefined : inPlaces[status].expired
  return expired === undefined ? undefined : expired ? 'asc' : 'desc'
}

const enough = limits.searchCountMax + 1

/** The first `count` of the rows that a search condition finds. */
export const firstOf = (way: Sql, count: number): Sql => sql`select seq from (${way} limit ${count}) way`

/** Combines search conditions; each finds no more rows than are counted. */
export const anyOf = (...ways: Sql[]): Sql =>
  sql.join(
    ways.map((way) => firstOf(way, enough)),
    sql` union `,
  )

const manyRows = 20_000

async function expectedRows({ lists }: Database, from: Sql): Promise<number> {
  const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>`
    explain (format json) select 1 from ${from}`.execute(lists)
  return rows[0]?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0
}

/** For PostgreSQL, where each way counts its hits in the order that is fastest: a second query finds those shown first. */
export const countedFast = (
  ways: readonly { from: Sql; countedIn?: Order }[],
  order: Order,
  shown: number,
): Hits => {
  const by = ({ from, countedIn }: (typeof ways)[number]) =>
    countedIn === undefined ? from : sql`${from} order by t.seq ${sql.raw(countedIn)}`
  const first = ways.map(({ from }) => firstOf(sql`${from} order by t.seq ${sql.raw(order)}`, shown))
  return { counted: anyOf(...ways.map(by)), shown: anyOf(...first) }
}

/** Keeps PostgreSQL from using an index for a condition. */
export const withoutIndex = (condition: Sql): Sql => sql`case when ${condition} then 1 else 0 end = 1`

const blockHours = 256

/** Where the trigger-kept counts by block (256 hours) and by hour end; rows after `instant` are counted one by one. */
export function countedUntil(now: number) {
  const lastHour = Math.floor(now / hour)
  const block = Math.floor(lastHour / blockHours)
  return { block, firstHour: block * blockHours, lastHour, instant: lastHour * hour }
}
