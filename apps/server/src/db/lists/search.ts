import { type RawBuilder, sql } from 'kysely'
import { normalizeKey, normalizeName } from '../../core/ids.ts'

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

/** The groups of three letters in each of the texts, quoted for SQLite's full-text index, which ignores their case. */
export const trigramsOf = (texts: readonly (string | undefined)[]): string[][] =>
  texts
    .flatMap((text) => (text === undefined ? [] : indexedForms(text.toLowerCase())))
    .filter((text) => [...text].length >= indexed)
    .map(trigrams)

/** The Turkish capital I with a dot is two letters in lower case, but not in the indexes of the databases. */
const indexedForms = (lower: string): string[] => [...new Set([lower, lower.replaceAll('i\u0307', '\u0130')])]

/** A query for SQLite's full-text index that requires every trigram of one of the texts. */
export const trigramQuery = (texts: readonly string[][]): string =>
  [...new Set(texts.map((parts) => `(${parts.join(' AND ')})`))].join(' OR ')

function trigrams(text: string): string[] {
  const letters = [...text]
  const parts = letters
    .slice(0, letters.length - indexed + 1)
    .map((_, at) => quote(letters.slice(at, at + indexed).join('')))
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
export function inNote(column: string, text: string): RawBuilder<unknown> {
  const note = sql`replace(lower(${sql.ref(column)}), ' ', 'Q')`
  const [lower, ...others] = indexedForms(text)
  const contains = sql`${note} like ${anywhere((lower as string).replaceAll(' ', 'Q'))}`
  const also = others.map((form) => sql`or ${note} like replace(lower(${anywhere(form)}), ' ', 'Q')`)
  return also.length === 0 ? contains : sql`(${contains} ${sql.join(also, sql` `)})`
}

/**
 * The condition for reading row by row: cheaper, but no index serves it. Lower case is fast in ASCII alone, which most
 * notes are.
 */
export function inNoteOfRow(column: string, text: string): RawBuilder<unknown> {
  const note = sql.ref(column)
  const [lower] = indexedForms(text)
  const inLower = indexedForms(text).map((form) => sql`strpos(lower(${note}), lower(${form})) > 0`)
  return sql`(${note} is not null and case when octet_length(${note}) = length(${note})
    then strpos(lower(${note} collate "C"), ${lower}) > 0 else ${sql.join(inLower, sql` or `)} end)`
}
