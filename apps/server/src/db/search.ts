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
export function trigramQuery(...texts: (string | undefined)[]): string {
  return texts
    .filter((text) => text !== undefined && [...text].length >= indexed)
    .map(
      (text) =>
        `(${trigrams(text as string)
          .map(quote)
          .join(' AND ')})`,
    )
    .join(' OR ')
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
