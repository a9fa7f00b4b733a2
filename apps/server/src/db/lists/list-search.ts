import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import { isByEnd, orderOf, toPagination } from '../../core/paging.ts'
import { type Database, syntaxOf } from '../engine.ts'
import { isOneOf } from '../scope.ts'
import {
  type Found,
  fewMatches,
  indexed,
  type List,
  type ListFilter,
  mayRead,
  type Order,
  type Search,
  type SearchedTable,
  type SortedPage,
  type Sql,
  toIndex,
  within,
  withStatus,
} from './list-filters.ts'
import { hitsOf, type Named, newLicenses, type SearchTerm } from './search.ts'
import { countNamed, findNamed, nothing } from './search-names.ts'

/** A text, and what it names. */
interface Wanted {
  term: SearchTerm
  named: Named | undefined
}

/** One more than is counted, which shows that there are more. */
const enough = limits.searchCountMax + 1

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
  const named = list.id.test(term.text) ? undefined : await findNamed(database, filter, term)
  const isScan =
    total !== undefined &&
    total <= fewMatches &&
    (await hasMoreHits(database, list, filter, { term, named }, total))
  const find = async (order: Order, count: number) => {
    const search = toSearch(database, list, filter, { term, named }, order)
    const ways = isScan ? [scan(database, list, filter, search, total)] : waysOf(list, search)
    return select(database, list, ways, page, count)
  }
  const order = isByEnd(page.sort) ? 'desc' : orderOf[page.sort]
  const end = page.page * page.limit
  const dense = (end < enough / 2 && denseOrder(list, filter)) || order
  const { seqs, found } = await find(dense, enough)
  const pagination = toPagination(page, found, true)
  if (dense === order || !pagination.capped || isByEnd(page.sort)) return { seqs, pagination }
  return { seqs: (await find(order, end)).seqs, pagination }
}

/** Rows expire roughly in the order of their creation: counting begins where most rows have the status (ADR 5). */
function denseOrder<Status extends string>(
  { inCounts }: List<Status>,
  { status }: ListFilter<Status>,
): Order | undefined {
  const ends = status === undefined ? undefined : inCounts[status].ends
  return ends === undefined ? undefined : ends === 'ahead' ? 'desc' : 'asc'
}

async function select<Status extends string>(
  { lists }: Database,
  { table }: List<Status>,
  ways: Sql[],
  { page, limit, sort }: SortedPage,
  count: number,
) {
  const order = sql.raw(orderOf[sort])
  // Only what was counted is sorted by its end.
  const sorted = isByEnd(sort)
    ? sql`(select t.seq as seq from hits cross join ${sql.raw(table)} t where t.seq = hits.seq
        order by t.expires_at ${order}, t.seq ${order} limit ${limit} offset ${(page - 1) * limit})`
    : sql`(select seq from hits order by seq ${order} limit ${limit} offset ${(page - 1) * limit})`
  const hits = ways.map((way) => sql`select seq from (${way} limit ${count}) way`)
  const { rows } = await sql<{ seq: number | null; found: number }>`
    with hits as materialized (${sql.join(hits, sql` union `)}),
      shown as ${sorted}
    select shown.seq as seq, counted.found as found
    from (select count(*) as found from hits) counted left join shown on 1 = 1`.execute(lists)
  return { seqs: rows.map(({ seq }) => seq).filter((seq) => seq !== null), found: rows[0]?.found ?? 0 }
}

/** The queries that find the hits together. */
function waysOf<Status extends string>(list: List<Status>, search: Search): Sql[] {
  const { term, mine } = search
  if (list.id.test(term.text))
    return [sql`select t.seq from ${sql.raw(list.table)} t where t.id = ${term.text} and ${mine}`]
  return term.short ? list.byBeginning(search) : list.byIndex(search)
}

/** Compares all rows of a filter. The condition keeps PostgreSQL from using the index of the text. */
const scan = <Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  search: Search,
  total: number,
): Sql => sql`select t.seq from ${indexed(database, list.table, filter, toIndex(filter, total))}
  where ${within(filter)} ${withStatus(database, list, filter)} and case when ${list.contains(search)} then 1 else 0 end = 1
  order by t.seq ${search.order}`

/** Whether more rows of all accounts have the text than match the filter: counted by SQLite, estimated by PostgreSQL. */
async function hasMoreHits<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  { term, named }: Wanted,
  total: number,
): Promise<boolean> {
  if (term.short || list.id.test(term.text)) return false
  if (syntaxOf(database.lists).searchIndex === 'trigrams') {
    const search = { ...toSearch(database, list, filter, { term, named }, 'desc'), mine: sql`true` }
    const plan = sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>`
      explain (format json) ${sql.join(
        list.byIndex(search).map((way) => sql`select seq from (${way}) way`),
        sql` union all `,
      )}`
    const { rows } = await plan.execute(database.lists)
    return (rows[0]?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0) > total
  }
  const texts = list.texts(term)
  const hits = (['licenses', 'clients'] as const)
    .filter((table) => texts[table].length > 0)
    .map((table) => sql`select 1 from (${hitsOf(table, texts[table])} limit ${total + 1})`)
  const ofNames = named ? countNamed(named, database, total + 1) : []
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from (${sql.join([...hits, ...ofNames], sql` union all `)})`.execute(database.lists)
  return (rows[0]?.n ?? 0) > total
}

function toSearch<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  { term, named = nothing }: Wanted,
  order: Order,
): Search {
  const index = syntaxOf(database.lists).searchIndex
  const { scope, appId } = filter
  const status = withStatus(database, list, filter)
  const inSome = scope.apps ? sql`and ${isOneOf(scope.apps, sql`coalesce(t.app_id, '')`)}` : sql``
  const inApp = appId === undefined ? inSome : sql`and t.app_id = ${appId}`
  // The unary plus keeps SQLite from scanning the owner's index: the search has a more selective one.
  const mine = sql`${sql.raw(index === 'full text' ? '+' : '')}t.owner_id = ${scope.ownerId}
    ${inApp} ${status}`
  const licensesBy = (name: string, row: string) =>
    sql.raw(syntaxOf(database.lists).indexed('licenses', row, name))
  const seesPeople = mayRead(filter, 'clients:read')
  const search = { index, scope, term, named, seesPeople, licensesBy, mine, order: sql.raw(order) }
  if (index === 'trigrams') {
    const candidates = (table: SearchedTable, row: string) => [
      { rows: sql.raw(`${table} ${row}`), seq: sql`t.seq` },
    ]
    return { ...search, candidates }
  }
  const [column, id] = appId === undefined ? ['owner_id', scope.ownerId] : ['app_id', appId]
  const candidates = (table: SearchedTable, row: string) => {
    const found = hitsOf(table, list.texts(term)[table])
    // The filter's index rejects most hits without reading their rows.
    const index = row === 't' && filter.status === 'banned' ? '_banned' : ''
    const rows = indexed(database, table, { ...filter, scope: { ...scope, apps: null } }, index, row)
    const isMine = sql`${sql.ref(`${row}.seq`)} = s.hit and ${sql.ref(`${row}.${column}`)} = ${id}`
    return [found, ...(table === 'licenses' ? [newLicenses] : [])].map((hits) => ({
      rows: sql`(${hits}) s cross join ${rows} on ${isMine}`,
      seq: sql`s.hit`,
    }))
  }
  return { ...search, candidates }
}
