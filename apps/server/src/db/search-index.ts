import { type Kysely, type RawBuilder, sql } from 'kysely'
import { roughTrigramQuery, trigramQuery } from './search.ts'
import type { Tables } from './tables.ts'

type Sql = RawBuilder<unknown>
type Order = 'asc' | 'desc'

/** What SQLite's full-text index finds. The rows must be checked: they contain the text's trigrams, maybe not the text. */
export interface IndexHits {
  /** A table with the column `hit`, the rowid of each. */
  rows: Sql
  /** More than `sampled`. */
  isMany: boolean
  /** So many that scanning a narrow filter's rows is faster. */
  isCommon(): Promise<boolean>
}

/** Up to this many hits are read at once and not searched for again. */
const sampled = 300

const commonHits = 20_000

/** Finds the rows with one of the texts in a full-text index. */
export async function findInIndex(
  lists: Kysely<Tables>,
  index: 'license_search' | 'client_search',
  texts: readonly (string | undefined)[],
): Promise<IndexHits> {
  const query = trigramQuery(...texts)
  const newest = await sample(lists, index, query, 'desc')
  if (newest.n < sampled) {
    return {
      rows: sql`(select value as hit from json_each(${newest.hits}))`,
      isMany: false,
      isCommon: async () => false,
    }
  }
  const rough = roughTrigramQuery(...texts)
  const isRough = rough !== query && (await isSimilar(lists, index, query, rough, newest))
  const match = matching(index, isRough ? rough : query)
  return {
    rows: sql`(select rowid as hit from ${match})`,
    isMany: true,
    isCommon: async () => (await countUpTo(lists, match, commonHits)) === commonHits,
  }
}

/** Reading fewer trigrams pays off as long as at most this many times the rows must be checked. */
const similar = 1.5

/** Whether a rough query finds about as many rows as the exact one, judged by both ends of the index. */
async function isSimilar(
  lists: Kysely<Tables>,
  index: string,
  exact: string,
  rough: string,
  newest: Sample,
): Promise<boolean> {
  const oldest = await sample(lists, index, exact, 'asc')
  const most = sampled * similar
  const match = matching(index, rough)
  const near = [sql`${match} and rowid >= ${newest.lowest}`, sql`${match} and rowid <= ${oldest.highest}`]
  for (const rows of near) if ((await countUpTo(lists, rows, most + 1)) > most) return false
  return true
}

async function countUpTo(lists: Kysely<Tables>, rows: Sql, most: number): Promise<number> {
  const counted = await sql<{ n: number }>`
    select count(*) as n from (select 1 from ${rows} limit ${most})`.execute(lists)
  return counted.rows[0]?.n ?? 0
}

interface Sample {
  /** JSON array of rowids. */
  hits: string
  n: number
  lowest: number
  highest: number
}

async function sample(lists: Kysely<Tables>, index: string, query: string, order: Order): Promise<Sample> {
  const { rows } = await sql<Sample>`
    select json_group_array(hit) as hits, count(*) as n, min(hit) as lowest, max(hit) as highest
    from (select rowid as hit from ${matching(index, query)} order by rowid ${sql.raw(order)} limit ${sampled})`.execute(
    lists,
  )
  return rows[0] as Sample
}

const matching = (index: string, query: string): Sql =>
  sql`${sql.raw(index)} where ${sql.raw(index)} match ${query}`
