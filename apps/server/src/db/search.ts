import { type RawBuilder, sql } from 'kysely'
import { normalizeKey, normalizeName } from '../core/ids.ts'

/** A search text in the forms that the indexes store. */
export interface SearchTerm {
  /** Lower case, for names and notes. */
  text: string
  /** Normalized like a license key; undefined when nothing is left. */
  key: string | undefined
  /** Too short for the trigram index: search by prefix only. */
  short: boolean
}

const indexed = 3

export function toSearchTerm(search: string | undefined): SearchTerm | undefined {
  const text = normalizeName(search ?? '')
  if (text === '') return undefined
  const key = normalizeKey(text)
  const short = [...text].length < indexed
  const usableKey = /^[A-Z0-9]+$/.test(key) && (short || key.length >= indexed) ? key : undefined
  return { text, key: usableKey, short }
}

/** A query for SQLite's full-text index that requires every trigram of one of the texts. */
export const trigramQuery = (...texts: (string | undefined)[]): string => toQuery(texts, trigrams)

/** Like `trigramQuery`, but requires only some trigrams of a text: faster, and matches more rows. */
export const roughTrigramQuery = (...texts: (string | undefined)[]): string =>
  toQuery(texts, (text) => spread(trigrams(text)))

const toQuery = (texts: (string | undefined)[], partsOf: (text: string) => string[]): string =>
  texts
    .filter((text) => text !== undefined && [...text].length >= indexed)
    .map(
      (text) =>
        `(${partsOf(text as string)
          .map(quote)
          .join(' AND ')})`,
    )
    .join(' OR ')

/** The first, the middle and the last. */
const spread = (parts: string[]): string[] => {
  const [first, middle, last] = [parts.at(0), parts.at(Math.floor(parts.length / 2)), parts.at(-1)]
  return [...new Set([first, middle, last].filter((part) => part !== undefined))]
}

function trigrams(text: string): string[] {
  const letters = [...text]
  const parts = letters
    .slice(0, letters.length - indexed + 1)
    .map((_, at) => letters.slice(at, at + indexed).join(''))
  return [...new Set(parts)]
}

const quote = (part: string): string => `"${part.replaceAll('"', '""')}"`

/** A LIKE pattern that matches the literal text anywhere. */
export const anywhere = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/** Upper bound of the texts that start with `prefix`, in byte order. */
export const afterPrefix = (prefix: string): string => `${prefix}\u{10ffff}`

/** Whether a column contains the text, which is in lower case. SQLite's own `lower()` knows ASCII only, but is fast. */
export const containsLower = (column: string, text: string): RawBuilder<boolean> => {
  const name = sql.ref(column)
  return sql`case when ${name} is null then 0
    when octet_length(${name}) = length(${name}) then instr(lower(${name}), ${text}) > 0
    else instr(lower_unicode(${name}), ${text}) > 0 end`
}

/**
 * On PostgreSQL, whether a note contains the text; written like the expression of its index, whose trigrams may include a
 * space as a letter that no lower-case text has.
 */
export const inNote = (column: string, text: string): RawBuilder<unknown> =>
  sql`replace(lower(${sql.ref(column)}), ' ', 'Q') like ${anywhere(text.replaceAll(' ', 'Q'))}`
