import type { Notes } from './entities.ts'
import { refuse } from './errors.ts'

/** At most fifteen pairs of at most 256 characters: https://razorpay.com/docs/api/orders/create */
export function toNotes(value: unknown): Notes {
  if (value === undefined || value === null) return []
  if (typeof value !== 'object') throw refuse('The notes must be an array.', { field: 'notes' })
  const pairs = Object.entries(value).map(([key, text]) => [key, String(text)] as const)
  if (pairs.length > 15) throw refuse('The notes may not have more than 15 items.', { field: 'notes' })
  for (const [key, text] of pairs)
    if (text.length > 256)
      throw refuse(`The notes.${key} may not be greater than 256 characters.`, { field: 'notes' })
  return pairs.length === 0 ? [] : Object.fromEntries(pairs)
}
