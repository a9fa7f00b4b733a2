import { normalizeKey } from './ids.ts'

const most = 8
/** The shortest custom key has as many letters and digits. */
const shortest = 6

/** Longer texts are not searched for a key. */
const longest = 1000

/** Without what is around it. */
const bare = (text: string): string => /[\p{L}\p{N}](?:.*[\p{L}\p{N}])?/su.exec(text)?.[0] ?? ''
const word = /[\p{L}\p{N}][\p{L}\p{N}_\p{Dash}]*/gu
/** A key that a line break or spaces have split into its groups. */
const groups = /(?<![\p{L}\p{N}])[0-9A-Z]{4,8}(?:[ \t\u00a0]+[0-9A-Z]{4,8}){2,7}(?![\p{L}\p{N}])/gu

interface PastedKeys {
  /** All of the text but what is around it: it counts before its parts. */
  whole: string | undefined
  parts: string[]
}

/**
 * What may be a license key in a text that people pasted with more than the key: a label, a sentence, a full stop,
 * brackets, stars. A text that is one word has nothing but itself.
 */
export function keysIn(text: string): PastedKeys {
  const sent = text.slice(0, longest).replace(/(\p{Dash})\s*\n\s*/gu, '$1')
  const seen = new Set([normalizeKey(text)])
  const isNew = (candidate: string): boolean => {
    const key = normalizeKey(candidate)
    if (key.length < shortest || seen.has(key)) return false
    seen.add(key)
    return true
  }
  const whole = bare(sent)
  const label = Math.max(...[...':=#'].map((mark) => sent.lastIndexOf(mark)))
  const afterLabel = label === -1 ? '' : bare(sent.slice(label))
  const words = [...(sent.match(word) ?? [])].sort((a, b) => b.length - a.length)
  const likely = [afterLabel, ...(sent.match(groups) ?? []), ...words.slice(0, 3 * most)]
  return { whole: isNew(whole) ? whole : undefined, parts: likely.filter(isNew).slice(0, most) }
}

/**
 * What a search that found nothing is tried with: parts of the text that look like a key, with a digit or a dash, or
 * in capitals.
 */
export function keysToSearch(text: string): string[] {
  const { whole, parts } = keysIn(text)
  const looksLikeKey = (part: string) => /[\d\p{Dash}_]/u.test(part) || part === part.toUpperCase()
  return [...(whole === undefined ? [] : [whole]), ...parts.filter(looksLikeKey).slice(0, 3)]
}
