import { normalizeKey, normalizeName } from '../core/ids.ts'

/** A search text in the forms in which the indexes hold it. */
export interface SearchTerm {
  /** Lower case, as in names and notes. */
  text: string
  /** As in keys: upper case, without hyphens; undefined when nothing of a key is left. */
  key: string | undefined
  /** Too short for the three-letter index: only beginnings are found. */
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

/** An expression for SQLite's full-text index: every three-letter part of one of the texts must be there. */
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

/** A LIKE pattern that finds the text anywhere, taken literally. */
export const anywhere = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/** The end of the range of texts that begin with `prefix`, in byte order. */
export const afterPrefix = (prefix: string): string => `${prefix}\u{10ffff}`
