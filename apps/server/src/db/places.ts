import { type RawBuilder, sql } from 'kysely'
import { hour } from '../core/clock.ts'
import type { Database } from './open.ts'

type Sql = RawBuilder<unknown>

/** Numbers of `seq` that are counted together, and the hours of expiries; the triggers have the same. */
const placeWidth = 16_384
const blockMs = 32 * hour

export interface PlacesQuery {
  table: 'licenses' | 'clients'
  /** The listed table, with the index by which SQLite finds expiries. */
  byExpiry: Sql
  /** Whose rows. */
  within: Sql
  /** Begins with `and`: the condition on a row. */
  status: Sql
  /** Begins with `and`: the same condition on the flags alone. */
  flags: Sql
  /** Whether the rows have expired; undefined when that does not matter. */
  expired: boolean | undefined
  now: number
}

interface PlaceCount {
  place: number
  n: number
}

export interface Start {
  /** Begins with `and`: the rows from the place on in which the page begins. */
  from: Sql
  /** How many of them come before the page. */
  offset: number
}

/** Where a page begins that comes after `offset` rows, found by counts instead of a walk along all of them. */
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

/** The rows of each place; those of the hours around now, of which only some have expired, are counted one by one. */
function countPlaces({ table, byExpiry, within, status, flags, expired, now }: PlacesQuery) {
  const places = sql.raw(table === 'licenses' ? 'license_places' : 'client_places')
  if (expired === undefined) {
    return sql<PlaceCount>`select t.place as place, sum(t.n) as n from ${places} t where ${within} ${flags} group by t.place`
  }
  const block = Math.floor(now / blockMs)
  const whole = expired ? sql`t.block < ${block}` : sql`t.block > ${block}`
  const partly = expired
    ? sql`t.expires_at >= ${block * blockMs}`
    : sql`t.expires_at < ${(block + 1) * blockMs}`
  return sql<PlaceCount>`select place, sum(n) as n from (
      select t.place as place, sum(t.n) as n from ${places} t where ${within} ${flags} and ${whole} group by t.place
      union all
      select t.seq / ${sql.lit(placeWidth)}, 1 from ${byExpiry} where ${within} ${status} and ${partly}
    ) parts group by place`
}
