import { sql } from 'kysely'
import { hour } from '../../core/clock.ts'
import { seek, toPagination } from '../../core/paging.ts'
import type { Database } from '../engine.ts'
import { never } from '../stored-end.ts'
import {
  blockHours,
  type Found,
  indexed,
  type List,
  type ListFilter,
  type Order,
  partsOf,
  type SortedPage,
  type Sql,
  within,
} from './list-filters.ts'
import { findStart, placeBlock } from './places.ts'

interface Target {
  order: Order
  offset: number
  limit: number
}

/** Skipping this many rows is as fast as computing the start from counts. */
const nearOffset = 2_000

/** A page sorted by end. */
export async function endPage<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  page: SortedPage,
  total: number,
): Promise<Found> {
  const pagination = toPagination(page, total, false)
  const target = seek(page, total, page.sort)
  if (!target) return { seqs: [], pagination }
  const start =
    target.offset > nearOffset && !isCut(list, filter)
      ? await findEnd(database, list, filter, fromWholeHours(list, filter, target, total))
      : { ...target, from: sql`` }
  const { rows } = await sql<{ seq: number }>`${endRows(database, list, filter, start)}`.execute(
    database.lists,
  )
  return { seqs: rows.map(({ seq }) => seq), pagination }
}

/** The clock cuts what ends soon on both sides, so its rows are skipped one by one in the index. */
const isCut = <Status extends string>({ inPlaces }: List<Status>, { status }: ListFilter<Status>): boolean =>
  status !== undefined && inPlaces[status].ends === 'soon'

/** Selects `seq` in the order of ends. Each part of the index yields its rows in this order, and they are merged. */
export function endRows<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  { order, offset, limit, from, rows }: Target & { from: Sql; rows?: Sql | undefined },
): Sql {
  const { index, parts } = list.byEnd(filter.status, filter.now)
  const direction = sql.raw(order)
  const find = (part: ListFilter<Status>, condition: Sql) => sql`
    select t.seq as seq, t.expires_at as ends from ${rows ?? indexed(database, list.table, part, index)}
    where ${rows ? sql`1 = 1` : within(part)} and ${condition} ${from}
    order by t.expires_at ${direction}, t.seq ${direction}`
  const scopes = rows ? [filter] : partsOf(filter)
  const found = scopes.flatMap((scope) => parts.map((part) => find(scope, part)))
  // Without a limit of each part, SQLite merges the indexes without sorting.
  const sorted = found.map((part) => sql`select * from (${part}) part`)
  const [only] = found
  if (only && found.length === 1) return sql`${only} limit ${limit} offset ${offset}`
  return sql`select seq, ends from (${sql.join(sorted, sql` union all `)}) parts
    order by ends ${direction}, seq ${direction} limit ${limit} offset ${offset}`
}

/** The same page, counted from the side where the clock cuts no hour of the counts. */
function fromWholeHours<Status extends string>(
  { inPlaces }: List<Status>,
  { status }: ListFilter<Status>,
  target: Target,
  total: number,
): Target {
  const ends = status === undefined ? undefined : inPlaces[status].ends
  const order = ends === undefined ? target.order : ends === 'past' ? 'asc' : 'desc'
  if (order === target.order) return target
  return { order, limit: target.limit, offset: total - target.offset - target.limit }
}

interface EndCount {
  at: number
  n: number
}

/** Finds where a page starts from the counts by block and by hour, without walking over the rows before it. */
export async function findEnd<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  { order, offset, limit }: Target,
): Promise<Target & { from: Sql }> {
  const flags = filter.status === undefined ? sql`` : list.inPlaces[filter.status].flags
  const counted = list.table === 'licenses' ? 'license' : 'client'
  const where = sql`${within(filter)} ${flags}`
  const blocks = await sql<EndCount>`select t.block as at, sum(t.n) as n
    from ${sql.raw(`${counted}_blocks`)} t where ${where} group by t.block`.execute(database.lists)
  const block = skip(blocks.rows, order, offset)
  if (!block) return { order, offset, limit, from: sql`` }
  const first = block.at * blockHours
  const hours =
    await sql<EndCount>`select t.bucket as at, sum(t.n) as n from ${sql.raw(`${counted}_counts`)} t
    where ${where} and t.bucket >= ${first} and t.bucket < ${first + blockHours} group by t.bucket`.execute(
      database.lists,
    )
  const found = skip(hours.rows, order, block.left)
  if (!found) return { order, offset, limit, from: sql`` }
  const at = { order, limit, offset: found.left }
  if (found.at * hour === never && found.left + limit <= found.n) {
    const isNever = sql`and t.expires_at >= ${never}`
    const ofNever = { status: sql``, flags: sql`${flags} and t.block = ${placeBlock(never)}` }
    const places = { table: list.table, byExpiry: sql``, within: within(filter), ...ofNever }
    const start = await findStart(database, { ...places, span: {} }, at)
    return { ...at, offset: start.offset, from: sql`${isNever} ${start.from}` }
  }
  const from =
    order === 'asc'
      ? sql`and t.expires_at > ${(found.at - 1) * hour}`
      : sql`and t.expires_at <= ${found.at * hour}`
  return { ...at, from }
}

/** The first count that reaches beyond `offset` rows, and how many of its rows are to be skipped. */
function skip(counts: readonly EndCount[], order: Order, offset: number) {
  const sorted = counts.filter(({ n }) => n > 0).toSorted((a, b) => a.at - b.at)
  if (order === 'desc') sorted.reverse()
  let left = offset
  for (const { at, n } of sorted) {
    if (left < n) return { at, n, left }
    left -= n
  }
  return undefined
}
