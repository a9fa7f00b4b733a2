import { sql } from 'kysely'
import { hour } from '../../core/clock.ts'
import type { Database } from '../engine.ts'
import {
  type Counts,
  indexed,
  type List,
  type ListFilter,
  type ListScope,
  soonMs,
  within,
} from './list-filters.ts'

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

/** What ends soon. */
export const countExpiring = (
  database: Database,
  list: Pick<List<'expiring'>, 'table' | 'inCounts'>,
  selection: ListScope,
): Promise<number> =>
  countEnding(database, list, selection, { from: selection.now, to: selection.now + soonMs })

/** How many rows match a filter by app and status. */
export async function countOf<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  counts: Counts<Exclude<Status, 'expiring'>>,
): Promise<number> {
  const status = filter.status ?? 'total'
  if (status !== 'expiring') return counts[status as keyof typeof counts]
  return countExpiring(database, list as unknown as List<'expiring'>, filter)
}
