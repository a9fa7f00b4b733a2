import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import { isByEnd, isByName, type NameSort, type Sort, seek, toPagination } from '../../core/paging.ts'
import { invalid } from '../../core/problem.ts'
import type { Database } from '../engine.ts'
import { endPage } from './ends.ts'
import {
  type Counts,
  countOf,
  type Found,
  firstRows,
  indexed,
  type List,
  type ListFilter,
  type ListScope,
  type SortedPage,
  toIndex,
  within,
  withStatus,
} from './list-filters.ts'
import { searchPage } from './list-search.ts'
import { namedPage } from './named.ts'
import { originPage } from './origins.ts'
import { findStart } from './places.ts'
import { toSearchTerm } from './search.ts'

/** A page of a list or of a search, with the counts over the whole filter. */
export async function findPage<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  { search, sort, ...size }: SortedPage<Sort | NameSort> & { search?: string | undefined },
): Promise<Found & { stats: Counts<Exclude<Status, 'expiring'>> }> {
  const stats = await list.count(database, filter)
  const term = toSearchTerm(search)
  const total = await countOf(database, list, filter, stats)
  if (isByName(sort)) {
    if (term || filter.origin) throw invalid('sort', 'This is for lists without a search, type and reseller.')
    return { ...(await namedPage(database, list, filter, { ...size, sort }, total)), stats }
  }
  const page = { ...size, sort }
  if (term) return { ...(await searchPage(database, list, filter, page, term, total)), stats }
  if (filter.origin) {
    const totals = { all: stats.total, ofStatus: total }
    return { ...(await originPage(database, list, filter, filter.origin, page, totals)), stats }
  }
  const pageOf = isByEnd(page.sort) ? endPage : plainPage
  return { ...(await pageOf(database, list, filter, page, total)), stats }
}

/** The ids of the newest rows that match, at most so many as a search counts. */
export async function findIds<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  search: string | undefined,
): Promise<{ ids: string[]; capped: boolean }> {
  const page = { page: 1, limit: limits.searchCountMax, sort: 'newest', search } as const
  const { seqs, pagination } = await findPage(database, list, filter, page)
  const capped = pagination.capped === true || pagination.total > seqs.length
  if (seqs.length === 0) return { ids: [], capped }
  const { rows } = await sql<{ id: string }>`
    select t.id as id from ${sql.raw(list.table)} t
    where t.seq in (${sql.join(seqs.map((seq) => sql.lit(seq)))}) and ${within({ ...filter, appId: undefined })}
    order by t.seq desc`.execute(database.lists)
  return { ids: rows.map(({ id }) => id), capped }
}

/** Skipping this many rows takes 0.1 ms. */
const nearOffset = 2_000
/** The numbers of so many rows are read in less time than another thread takes to answer. */
const shortPage = 200

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
  const isWhole = filter.status === undefined
  const isFar = target.offset > nearOffset
  const { from, offset } =
    isWhole && isFar
      ? await findStart(database, list.table, filter, target)
      : { from: sql``, offset: target.offset }
  const find = (part: ListFilter<Status>) => sql`
    select t.seq as seq from ${indexed(database, list.table, part, toIndex(filter, total))}
    where ${within(part)} ${withStatus(database, list, part)} ${from}`
  const { limit, order } = target
  // One index holds its rows in their order: asking another thread would take longer than reading them.
  const isShort = isWhole && !isFar && isOfOneIndex(filter) && limit <= shortPage
  const { rows } = await sql<{
    seq: number
  }>`${firstRows(filter, find, sql.raw(order), { limit, offset })}`.execute(
    isShort ? database.db : database.lists,
  )
  return { seqs: rows.map((row) => row.seq), pagination }
}

const isOfOneIndex = ({ scope, appId }: ListScope): boolean => scope.apps === null || appId !== undefined

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
  const status = withStatus(database, list, filter)
  const banned = filter.status === 'banned'
  const find = (part: ListFilter<Status>) => sql`
    select t.seq as seq, case when 1 = 1 ${status} then 1 else 0 end as hit
    from ${indexed(database, list.table, part, banned ? '_banned' : '')}
    where ${within(part)} and t.seq < ${before} ${banned ? status : sql``}`
  const { rows } = await sql<{
    seq: number
    hit: 0 | 1
  }>`${firstRows(filter, find, sql`desc`, { limit: count })}`.execute(database.db)
  return rows
}
