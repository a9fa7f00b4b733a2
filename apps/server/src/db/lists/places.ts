import { type RawBuilder, sql } from 'kysely'
import { hour } from '../../core/clock.ts'
import type { Database } from '../engine.ts'
import type { Span } from './list-filters.ts'

type Sql = RawBuilder<unknown>

/** Rows are counted by ranges of `seq` (places) and of expiry (blocks). The triggers use the same widths. */
const placeWidth = 16_384
const blockMs = 32 * hour

export const placeBlock = (end: number): number => Math.floor(end / blockMs)

export interface PlacesQuery {
  table: 'licenses' | 'clients'
  /** The listed table with SQLite's index on expiry. */
  byExpiry: Sql
  /** SQL condition of the scope. */
  within: Sql
  /** SQL condition on a row, starting with `and`. */
  status: Sql
  /** The part of the condition that concerns the flags, starting with `and`. */
  flags: Sql
  /** When the rows that count end; at least two blocks long. */
  span: Span
}

interface PlaceCount {
  place: number
  n: number
}

export interface Start {
  /** SQL condition, starting with `and`, for rows from the page's first place on. */
  from: Sql
  /** How many of those rows to skip. */
  offset: number
}

/** Finds where the page after `offset` rows starts from counts, without walking over the rows before it. */
export async function findStart(
  { lists }: Pick<Database, 'lists'>,
  query: PlacesQuery,
  { order, offset }: { order: 'asc' | 'desc'; offset: number },
): Promise<Start> {
  const { rows } = await countPlaces(query).execute(lists)
  const counts = rows.filter(({ n }) => n > 0).toSorted((a, b) => a.place - b.place)
  if (order === 'desc') counts.reverse()
  let before = 0
  for (const { place, n } of counts) {
    if (before + n > offset) return startAt(place, order, offset - before)
    before += n
  }
  const last = counts.at(-1)
  return last ? startAt(last.place, order, offset - before + last.n) : { from: sql``, offset }
}

function startAt(place: number, order: 'asc' | 'desc', offset: number): Start {
  const from =
    order === 'asc' ? sql`and t.seq >= ${place * placeWidth}` : sql`and t.seq < ${(place + 1) * placeWidth}`
  return { from, offset }
}

/** Counts the rows per place. Rows of a block that the span cuts are counted one by one. */
function countPlaces({ table, byExpiry, within, status, flags, span: { after, until } }: PlacesQuery) {
  const places = sql.raw(table === 'licenses' ? 'license_places' : 'client_places')
  const whole = [
    ...(after === undefined ? [] : [sql`and t.block > ${placeBlock(after)}`]),
    ...(until === undefined ? [] : [sql`and t.block < ${placeBlock(until)}`]),
  ]
  const partly = [
    ...(after === undefined ? [] : [sql`t.expires_at < ${(placeBlock(after) + 1) * blockMs}`]),
    ...(until === undefined ? [] : [sql`t.expires_at >= ${placeBlock(until) * blockMs}`]),
  ]
  if (partly.length === 0) {
    return sql<PlaceCount>`select t.place as place, sum(t.n) as n from ${places} t where ${within} ${flags} group by t.place`
  }
  const parts = [
    sql`select t.place as place, sum(t.n) as n from ${places} t
      where ${within} ${flags} ${sql.join(whole, sql` `)} group by t.place`,
    ...partly.map(
      (cut) =>
        sql`select t.seq / ${sql.lit(placeWidth)}, 1 from ${byExpiry} where ${within} ${status} and ${cut}`,
    ),
  ]
  return sql<PlaceCount>`select place, sum(n) as n from (${sql.join(parts, sql` union all `)}) parts group by place`
}
