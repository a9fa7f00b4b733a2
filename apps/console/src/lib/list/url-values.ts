import { limits } from '@keyward/contract'

// Values in a URL may be cut off or made up. A list ignores those that the server would reject.

const idMax = 64
const pageMax = 1_000_000_000
const nul = '\u0000'

export const toPage = (text: string | undefined): number =>
  Math.min(Math.max(1, Number.parseInt(text ?? '1', 10) || 1), pageMax)

export const toSearch = (text: string | undefined): string | undefined =>
  text?.replaceAll(nul, '').trim().slice(0, limits.searchMax) || undefined

export const toId = (text: string | undefined): string | undefined =>
  text !== undefined && text.length <= idMax && !text.includes(nul) ? text : undefined

/** A day of the calendar as 'yyyy-mm-dd'. */
export function toDay(text: string | undefined): string | undefined {
  if (text === undefined || !/^\d{4}-\d\d-\d\d$/.test(text)) return undefined
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text) ? text : undefined
}
