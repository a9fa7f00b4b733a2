import { limits } from '@keyward/contract'
import { sha256 } from './crypto.ts'

/** Shorter parts are stored as they are: a count and a digest would not be shorter. */
const shortBytes = 64

/**
 * The detail of a record as the audit log stores it: JSON of at most `limits.recordDetailBytes` bytes. Where it would be
 * longer, long lists and texts become a count and a digest, then whole objects do, the deepest ones first.
 */
export function toStoredDetail(detail: unknown): string {
  let text = JSON.stringify(detail)
  for (let depth = 3; depth >= 0 && !isAtMost(text, limits.recordDetailBytes); depth -= 1) {
    text = JSON.stringify(shorten(detail, depth))
  }
  return text
}

/** Keeps objects down to a depth, and of everything else only what is short. */
function shorten(value: unknown, depth: number): unknown {
  if (depth > 0 && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    return Object.fromEntries(members.map(([name, member]) => [name, shorten(member, depth - 1)]))
  }
  const text = JSON.stringify(value)
  return isAtMost(text, shortBytes) ? value : { count: sizeOf(value), digest: sha256(text).slice(0, 32) }
}

/** The number of a list's entries, an object's members or a text's characters. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return [...value].length
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 1
}

const isAtMost = (text: string, bytes: number): boolean =>
  text.length <= bytes && (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes)
