import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../tables.ts'
import { trigramQuery, trigramsOf } from './search.ts'

type Sql = RawBuilder<unknown>
type Order = 'asc' | 'desc'

/** What SQLite's full-text index finds. The rows must be checked: they contain the text's trigrams, maybe not the text. */
export interface IndexHits {
  /** A table with the column `hit`, the rowid of each. */
  rows: Sql
  /** More than `sampled`. */
  isMany: boolean
  /** So many that scanning the rows of a narrow filter is faster. */
  isCommon(rows: number): Promise<boolean>
  /** Whether a filter that matches so many rows rejects most hits, if they are spread evenly. */
  isMostlyOutside(rows: number): boolean
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
  const parts = trigramsOf(texts)
  const exact = trigramQuery(parts)
  const rough = trigramQuery(await chooseFew(lists, index, parts))
  const newest = await sample(lists, index, rough, 'desc')
  if (newest.n < sampled) {
    return {
      rows: sql`(select value as hit from json_each(${newest.hits}))`,
      isMany: false,
      isCommon: async () => false,
      isMostlyOutside: () => false,
    }
  }
  const isRough = rough === exact || (await isSimilar(lists, index, parts, rough, newest))
  const match = matching(index, isRough ? rough : exact)
  return {
    rows: sql`(select rowid as hit from ${match})`,
    isMany: true,
    isCommon: (rows) => isCommon(lists, match, rows),
    isMostlyOutside: (rows) => rows < newest.highest * mostly,
  }
}

const mostly = 1 / 5

/** Reading a row of a filter takes as long as checking this many hits in the filter's index. */
const hitsPerRow = 4

/** Estimates the number of all hits from how densely the newest ones lie. */
async function isCommon(lists: Kysely<Tables>, match: Sql, rows: number): Promise<boolean> {
  const newest = await range(lists, sql`${match} order by rowid desc limit ${commonHits}`)
  if (newest.n < commonHits) return false
  const all = (newest.n / (newest.highest - newest.lowest + 1)) * newest.highest
  return all >= rows * hitsPerRow
}

async function range(lists: Kysely<Tables>, rows: Sql): Promise<Omit<Sample, 'hits'>> {
  const found = await sql<Omit<Sample, 'hits'>>`
    select count(*) as n, min(hit) as lowest, max(hit) as highest from (select rowid as hit from ${rows})`.execute(
    lists,
  )
  return found.rows[0] as Sample
}

const fewTrigrams = 3

/** Trigrams that are this many powers of two more common than the rarest are not worth reading. */
const tooCommon = 3

/** Chooses the rarest trigrams of each text, from different parts of it if many are equally rare. */
async function chooseFew(
  lists: Kysely<Tables>,
  index: string,
  texts: readonly string[][],
): Promise<string[][]> {
  if (texts.every((parts) => parts.length <= fewTrigrams)) return [...texts]
  const rarity = await readRarity(lists, index, texts.flat())
  return texts.map((parts) => {
    const spread = [parts.at(0), parts.at(Math.floor(parts.length / 2)), parts.at(-1), ...parts]
    const rare = [...new Set(spread.filter((part) => part !== undefined))]
      .map((part) => ({ part, rarity: rarity.get(part) ?? 0 }))
      .toSorted((a, b) => b.rarity - a.rarity)
    const least = (rare[0]?.rarity ?? 0) - tooCommon
    return rare.slice(0, fewTrigrams).flatMap((one) => (one.rarity >= least ? [one.part] : []))
  })
}

const firstHits = 20
const rarest = 64

/** Over how many of the oldest rows the first hits of each trigram are spread, in powers of two. */
async function readRarity(lists: Kysely<Tables>, index: string, parts: readonly string[]) {
  const { rows } = await sql<{ part: string; hits: string }>`
    select value as part, (select json_array(count(*), min(hit), max(hit)) from (
      select rowid as hit from ${matching(index, sql`value`)} order by rowid limit ${firstHits})) as hits
    from json_each(${JSON.stringify([...new Set(parts)])})`.execute(lists)
  const read = rows.map(({ part, hits }) => [part, ...JSON.parse(hits)] as [string, number, number, number])
  const first = Math.min(...read.filter(([, n]) => n > 0).map(([, , lowest]) => lowest))
  return new Map(
    read.map(([part, n, , highest]) => [
      part,
      n < firstHits ? rarest : Math.round(Math.log2(highest - first + 1)),
    ]),
  )
}

/** Reading few trigrams pays off if at least this share of the rows that have them has all. */
const similar = 2 / 3

/** Whether an exact query finds nearly as many rows as a rough one, judged by both ends of the index. */
async function isSimilar(
  lists: Kysely<Tables>,
  index: string,
  texts: readonly string[][],
  rough: string,
  newest: Sample,
): Promise<boolean> {
  const oldest = await sample(lists, index, rough, 'asc')
  // A text is rarely common in two forms at once, and reading the second one would double the time.
  const match = matching(index, trigramQuery(texts.slice(0, 1)))
  const ends = [
    sql`${match} and rowid >= ${newest.lowest} order by rowid desc`,
    sql`${match} and rowid <= ${oldest.highest} order by rowid`,
  ]
  for (const rows of ends) if ((await countUpTo(lists, rows, sampled)) < sampled * similar) return false
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

const matching = (index: string, query: string | Sql): Sql =>
  sql`${sql.raw(index)} where ${sql.raw(index)} match ${query}`
