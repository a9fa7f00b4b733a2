import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../engine.ts'
import { type ListScope, type Order, within } from './list-filters.ts'

type Sql = RawBuilder<unknown>

/** Rows are counted by ranges of `seq`. The triggers use the same width. */
const placeWidth = 16_384

interface Start {
  /** SQL condition, starting with `and`, for rows from the page's first place on. */
  from: Sql
  /** How many of those rows to skip. */
  offset: number
}

/** Finds where the page after `offset` rows of a list starts from counts, without a walk over the rows before it. */
export async function findStart(
  { counts }: Pick<Database, 'counts'>,
  table: 'licenses' | 'clients',
  filter: ListScope,
  { order, offset }: { order: Order; offset: number },
): Promise<Start> {
  const { scope, appId } = filter
  const isOfAll = appId === undefined && scope.apps === null
  const mine = isOfAll
    ? sql`t.app_id in (select a.id from apps a where a.owner_id = ${scope.ownerId})`
    : within(filter)
  const { rows } = await sql<{ place: number; n: number }>`select t.place as place, sum(t.n) as n
    from ${sql.raw(table === 'licenses' ? 'license_places' : 'client_places')} t
    where ${mine} group by t.place having sum(t.n) > 0 order by t.place ${sql.raw(order)}`.execute(counts)
  let left = offset
  for (const [at, { place, n }] of rows.entries()) {
    // Rows may have been added since the list was counted.
    if (left < n || at === rows.length - 1) return startAt(place, order, left)
    left -= n
  }
  return { from: sql``, offset }
}

function startAt(place: number, order: Order, offset: number): Start {
  const from =
    order === 'asc' ? sql`and t.seq >= ${place * placeWidth}` : sql`and t.seq < ${(place + 1) * placeWidth}`
  return { from, offset }
}
