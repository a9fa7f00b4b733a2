import type { Duration } from '@keyward/contract'
import { formatDate } from './dates.ts'
import { amountOf } from './words.ts'

/** More time, or one end, as the calls for many rows take it. */
export type Extension =
  | { duration: Duration; timeZone: string }
  | { expiresAt: string | null; shorten: boolean }

interface ChosenTime {
  added: Duration | undefined
  end: Date | null
  shorten: boolean
}

/** Months count as in the reader's own time zone, where the preview counts them. */
export const toExtension = ({ added, end, shorten }: ChosenTime): Extension =>
  added
    ? { duration: added, timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone }
    : { expiresAt: end?.toISOString() ?? null, shorten }

/** '1 more month' */
export const moreText = ({ value, unit }: Duration): string =>
  amountOf(value, `more ${unit.slice(0, -1)}`, `more ${unit}`)

/** '3 licenses got 1 more month.' */
export function extendedText(count: number, noun: string, extension: Extension): string {
  const amount = amountOf(count, noun)
  if ('duration' in extension) return `${amount} got ${moreText(extension.duration)}.`
  const verb = count === 1 ? 'expires' : 'expire'
  return extension.expiresAt === null
    ? `${amount} never ${verb}.`
    : `${amount} ${verb} on ${formatDate(extension.expiresAt)}.`
}
