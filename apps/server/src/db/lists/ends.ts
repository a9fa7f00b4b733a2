import { sql } from 'kysely'
import { seek, toPagination } from '../../core/paging.ts'
import type { Database } from '../engine.ts'
import {
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

interface Target {
  order: Order
  offset: number
  limit: number
}

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
  const { rows } = await sql<{ seq: number }>`${endRows(database, list, filter, target)}`.execute(
    database.lists,
  )
  return { seqs: rows.map(({ seq }) => seq), pagination }
}

/** Selects `seq` in the order of ends. Each part of the index yields its rows in this order, and they are merged. */
export function endRows<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  { order, offset, limit, also = sql``, rows }: Target & { also?: Sql; rows?: Sql | undefined },
): Sql {
  const { index, parts } = list.byEnd(filter.status, filter.now)
  const direction = sql.raw(order)
  const find = (part: ListFilter<Status>, condition: Sql) => sql`
    select t.seq as seq, t.expires_at as ends from ${rows ?? indexed(database, list.table, part, index)}
    where ${rows ? sql`1 = 1` : within(part)} and ${condition} ${also}
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
