import { type RawBuilder, sql } from 'kysely'
import { normalizeKey, normalizeName } from '../../core/ids.ts'
import type { Syntax } from '../engine.ts'
import { lastIndexed } from './search-merges.ts'

type Sql = RawBuilder<unknown>

/** A search text in the forms that the indexes store. */
export interface SearchTerm {
  /** Lower case, for names and notes. */
  text: string
  /** As it was typed, for numbers of orders. */
  typed: string
  /** Normalized like a license key; undefined when nothing is left. */
  key: string | undefined
  /** Too short for the trigram index: search by prefix only. */
  short: boolean
}

/** What a text names besides texts of the rows, as far as the caller may read it. */
export interface Named {
  resellers: string[]
  types: string[]
  customers: string[]
  /** End users and licenses of the event with this reference. */
  clients: string[]
  licenses: string[]
}

const indexed = 3

export function toSearchTerm(search: string | undefined): SearchTerm | undefined {
  const text = normalizeName(search ?? '')
  if (text === '') return undefined
  const key = normalizeKey(text)
  const short = [...text].length < indexed
  const usableKey = /^[A-Z0-9]+$/.test(key) && (short || key.length >= indexed) ? key : undefined
  return { text, typed: (search ?? '').trim(), key: usableKey, short }
}

const fullTextIndexes = { licenses: 'license_search', clients: 'client_search', audit: 'audit_search' }

/** What SQLite's full-text index finds: rows that may contain one of the texts. */
export function hitsOf(table: keyof typeof fullTextIndexes, texts: readonly string[]): Sql {
  const index = sql.raw(fullTextIndexes[table])
  return sql`select rowid as hit from ${index} where ${index} match ${trigramQuery(texts)}`
}

/** Licenses that SQLite's full-text index does not have yet: a search compares them all. */
export const newLicenses: Sql = sql`select seq as hit from licenses where seq > (${sql.raw(lastIndexed)})`

/**
 * A query for SQLite's full-text index, which ignores case: groups of three letters that make up one of the texts.
 * Rows that it finds must be compared with the text.
 */
export function trigramQuery(texts: readonly string[]): string {
  const forms = texts.flatMap((text) => indexedForms(text.toLowerCase()))
  const long = forms.filter((text) => [...text].length >= indexed)
  return [...new Set(long.map((text) => `(${trigrams(text).join(' AND ')})`))].join(' OR ')
}

/** The Turkish capital I with a dot is two letters in lower case, but not in the indexes of the databases. */
const indexedForms = (lower: string): string[] => [...new Set([lower, lower.replaceAll('i\u0307', '\u0130')])]

function trigrams(text: string): string[] {
  const letters = [...text]
  const last = letters.length - indexed
  const starts = [...letters.slice(0, last).keys()].filter((at) => at % indexed === 0)
  const parts = [...starts, last].map((at) => quote(letters.slice(at, at + indexed).join('')))
  return [...new Set(parts)]
}

const quote = (part: string): string => `"${part.replaceAll('"', '""')}"`

/** A LIKE pattern that matches the literal text anywhere. */
export const anywhere = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/** Upper bound of the texts that start with `prefix`, in byte order. */
export const afterPrefix = (prefix: string): string => `${prefix}\u{10ffff}`

/** Whether a column contains the text, which is normalized like the column. */
export const contains = (index: Syntax['searchIndex'], column: string, text: string): Sql =>
  index === 'full text'
    ? sql`instr(${sql.ref(column)}, ${text}) > 0`
    : sql`${sql.ref(column)} like ${anywhere(text)}`

/** Whether a note contains the text, which is in lower case. */
export const noteContains = (index: Syntax['searchIndex'], column: string, text: string): Sql =>
  textContains(index, sql.ref(column), text)

/** Whether a text in any case contains another one, which is in lower case. */
export const textContains = (index: Syntax['searchIndex'], value: Sql, text: string): Sql =>
  index === 'full text' ? containsLower(value, text) : inText(value, text)

/** SQLite's own `lower()` knows ASCII only, but is fast. */
const containsLower = (value: Sql, text: string): Sql =>
  sql`case when ${value} is null then 0
    when octet_length(${value}) = length(${value}) then instr(lower(${value}), ${text}) > 0
    else instr(lower_unicode(${value}), ${text}) > 0 end`

/** On PostgreSQL, whether a note contains the text. */
export const inNote = (column: string, text: string): Sql => inText(sql.ref(column), text)

/**
 * On PostgreSQL, whether a text contains another one; written like the expressions of the indexes, whose trigrams may
 * include a space as a letter that no lower-case text has.
 */
function inText(value: Sql, text: string): Sql {
  const note = sql`replace(lower(${value}), ' ', 'Q')`
  const [lower, ...others] = indexedForms(text)
  const contains = sql`${note} like ${anywhere((lower as string).replaceAll(' ', 'Q'))}`
  const also = others.map((form) => sql`or ${note} like replace(lower(${anywhere(form)}), ' ', 'Q')`)
  return also.length === 0 ? contains : sql`(${contains} ${sql.join(also, sql` `)})`
}
