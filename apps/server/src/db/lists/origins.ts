import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import { isByEnd, orderOf, toPagination } from '../../core/paging.ts'
import { type Database, syntaxOf } from '../engine.ts'
import { endRows } from './ends.ts'
import {
  type Found,
  firstRows,
  indexed,
  type List,
  type ListFilter,
  type Origin,
  type SortedPage,
  type Sql,
  toIndex,
  within,
  withStatus,
} from './list-filters.ts'

/** One more than is counted, which shows that there are more. */
const enough = limits.searchCountMax + 1

/** A walk to a later page takes longer than to read and sort so many rows. */
const nearOffset = 1_000
const sortedMost = 50_000

/** How many rows of the app have any status, and how many the one of the filter. */
interface Totals {
  all: number
  ofStatus: number
}

/**
 * A page of the rows of a type or a reseller; counts as far as a search does. So many rows are read and sorted; of more,
 * the list is walked until the page is full.
 */
export async function originPage<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  origin: Origin,
  page: SortedPage,
  totals: Totals,
): Promise<Found> {
  const { limit, sort } = page
  const offset = (page.page - 1) * limit
  const isNear = offset < nearOffset || list.originIndexes(origin, filter.status) !== undefined
  const most = isNear ? enough : sortedMost
  const order = sql.raw(orderOf[sort])
  const key = isByEnd(sort) ? sql`ends ${order}, seq ${order}` : sql`seq ${order}`
  const way = await fasterWay(database, list, filter, origin, totals)
  const { rows } = await sql<{ seq: number | null; found: number }>`
    with hits as materialized (select seq, ends from (${way}) way limit ${most}),
      shown as (select seq from hits order by ${key} limit ${limit} offset ${offset})
    select shown.seq as seq, counted.found as found
    from (select count(*) as found from hits) counted left join shown on 1 = 1`.execute(database.lists)
  const found = rows[0]?.found ?? 0
  const pagination = toPagination(page, found, true)
  if (offset >= limits.searchCountMax) return { seqs: [], pagination }
  if (found < most) return { seqs: rows.map(({ seq }) => seq).filter((seq) => seq !== null), pagination }
  const walked = await sql<{ seq: number }>`${walkOrigin(database, list, filter, origin, page)}`.execute(
    database.lists,
  )
  return { seqs: walked.rows.map(({ seq }) => seq), pagination }
}

/**
 * Unless an index of the origin answers alone, SQLite reads the rows of the origin or those of the status: the fewer ones
 * until enough match. PostgreSQL decides by its statistics.
 */
async function fasterWay<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  origin: Origin,
  { all, ofStatus }: Totals,
): Promise<Sql> {
  const byOrigin = list.ofOrigin(database, filter, origin)
  if (list.originIndexes(origin, filter.status)) return byOrigin
  const byStatus = sql`select t.seq as seq, t.expires_at as ends
    from ${indexed(database, list.table, filter, toIndex(filter, ofStatus))}
    where ${within(filter)} ${withStatus(database, list, filter)}`
  if (syntaxOf(database.lists).searchIndex === 'trigrams') return byStatus
  const { rows } = await sql<{ n: number }>`select count(*) as n from (
    ${list.licensesOf(database, origin)} limit ${licensesMost}) licenses`.execute(database.lists)
  const licenses = rows[0]?.n ?? 0
  const readOfOrigin = Math.min(licenses, (enough * all) / ofStatus)
  const readOfStatus = Math.min(ofStatus, (enough * all) / licenses)
  return readOfOrigin <= readOfStatus ? byOrigin : byStatus
}

/** Counting more licenses would take longer than it saves. */
const licensesMost = 100_000

/** Selects the `seq` of a page of an origin with more rows than are sorted. */
export function walkOrigin<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  origin: Origin,
  { page, limit, sort }: SortedPage,
): Sql {
  const target = { order: orderOf[sort], limit, offset: (page - 1) * limit }
  const own = list.originIndexes(origin, filter.status)
  const by = (index: string) => sql.raw(syntaxOf(database.lists).indexed(list.table, 't', index))
  if (isByEnd(sort)) {
    const rows = own && by(own.byEnd)
    return endRows(database, list, filter, { ...target, also: sql`and ${list.isOf(database, origin)}`, rows })
  }
  const find = (part: ListFilter<Status>) => sql`
    select t.seq as seq from ${own ? by(own.bySeq) : indexed(database, list.table, part, toIndex(filter, Number.POSITIVE_INFINITY))}
    where ${own ? sql`1 = 1` : within(part)} ${withStatus(database, list, part)}`
  return firstRows(filter, find, sql.raw(target.order), target)
}
