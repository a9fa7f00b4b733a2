import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import { orderOf, toPagination } from '../../core/paging.ts'
import type { Database } from '../open.ts'
import {
  type Found,
  type Hits,
  indexed,
  type List,
  type ListFilter,
  type Order,
  type SortedPage,
  type Sql,
  toIndex,
  within,
  withStatus,
} from './list-filters.ts'
import { spanOf } from './places.ts'
import type { SearchTerm } from './search.ts'
import { findInIndex } from './search-index.ts'

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

/** Up to this many filtered rows are scanned for a common text instead of reading all of its hits. */
const narrowMatches = { sqlite: 200_000, postgres: 20_000 }

const enough = limits.searchCountMax + 1

const manyRows = 20_000

async function searchHits<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  page: SortedPage,
  term: SearchTerm,
  total: number | undefined,
): Promise<Hits> {
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
  const span = dialect === 'sqlite' || isNarrow ? sql`` : await spanOfStatus(database, list, filter)
  const order = orderOf[page.sort]
  const shown = Math.min(page.page * page.limit, enough)
  return list.hits({
    dialect,
    scope,
    term,
    mine: sql`${mine} ${span}`,
    order,
    denseOrder: (shown < enough / 2 && denseOrder(list, filter)) || order,
    shown,
    ...(isNarrow && { narrow: filteredBy(toIndex(filter, total)) }),
    ...(total !== undefined && { inIndex: filteredBy(filter.status === 'banned' ? '_banned' : '') }),
    find: (index, ...texts) => findInIndex(lists, index, texts),
    expectsMany: async (rows) => (await expectedRows(database, rows)) >= manyRows,
  })
}

function spanOfStatus<Status extends string>(
  database: Database,
  { table, inPlaces }: List<Status>,
  filter: ListFilter<Status>,
): Sql | Promise<Sql> {
  const { status, now } = filter
  const { flags, expired } = (status !== undefined && inPlaces[status]) || {}
  if (!flags || expired === undefined) return sql``
  return spanOf(database, { table, within: within(filter), flags, expired, now })
}

/** Rows expire roughly in the order of their creation. */
function denseOrder<Status extends string>(
  { inPlaces }: List<Status>,
  { status }: ListFilter<Status>,
): Order | undefined {
  const expired = status === undefined ? undefined : inPlaces[status].expired
  return expired === undefined ? undefined : expired ? 'asc' : 'desc'
}

async function expectedRows({ lists }: Database, from: Sql): Promise<number> {
  const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>`
    explain (format json) select 1 from ${from}`.execute(lists)
  return rows[0]?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0
}

/** The first `count` of the rows that a search condition finds. */
export const firstOf = (way: Sql, count: number): Sql => sql`select seq from (${way} limit ${count}) way`

/** Combines search conditions; each finds no more rows than are counted. */
export const anyOf = (...ways: Sql[]): Sql =>
  sql.join(
    ways.map((way) => firstOf(way, enough)),
    sql` union `,
  )

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
