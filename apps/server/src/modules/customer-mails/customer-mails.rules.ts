import { type CustomerMailSettings, limits, type MailKind } from '@keyward/contract'
import { day, second } from '../../core/clock.ts'
import { displayedEnd, never } from '../../db/stored-end.ts'
import type { CustomerMailRow, LicenseRow } from '../../db/tables.ts'
import { updatesUntil } from '../entitlements/terms.rules.ts'

export type ToldKind = Exclude<MailKind, 'purchase'>

/** How long after its end a license is told to have ended. */
export const endedMs = 7 * day
/** How long a mail that belongs to no day is worth sending. */
export const soonMs = 3 * day
export const securityMs = 30 * day
/** Every mail that nobody needs to get ends with a link that stops them. */
export const canBeStopped = (kind: ToldKind): boolean => kind !== 'renewed' && kind !== 'security'

export interface Settings extends Omit<CustomerMailSettings, 'ended'> {
  /** Licenses that have ended since are told of; null for none. */
  endedSince: number | null
}

/** What a new app sends. */
export const newSettings: Settings = {
  ...{ endsSoonDays: [], endedSince: null },
  ...{ paymentFailed: false, updatesEndSoon: false, renewed: true },
}

/** Whether there are ends to look for. */
export const looksForEnds = ({ endsSoonDays, endedSince, updatesEndSoon }: Settings): boolean =>
  endsSoonDays.length > 0 || endedSince !== null || updatesEndSoon

/** Until when a mail about an end is worth sending: the next one takes its place. */
export function sentUntil(settings: Settings, { kind, until, days }: Told): number {
  if (kind === 'ended') return until + endedMs
  if (kind !== 'endsSoon') return until
  return until - Math.max(0, ...settings.endsSoonDays.filter((other) => other < days)) * day
}

export type Told = Pick<CustomerMailRow, 'kind' | 'until' | 'days'>

/** What a mail is about, as it is when it is sent. */
export interface Subject {
  license: LicenseRow | null
  isUserBanned: boolean
  /** Whether a subscription will charge again. */
  renews: boolean
  wantsMails: boolean
  /** Whether the release with `security` that it is about is listed and not withdrawn. */
  isOffered: boolean
}

/** Whether a mail still says what is so, and is wanted. */
export function isWanted(
  { kind, until, days, customer_id }: Told & Pick<CustomerMailRow, 'customer_id'>,
  { license, isUserBanned, renews, wantsMails, isOffered }: Subject,
  settings: Settings,
): boolean {
  if (kind === 'security') return isOffered
  if (!license || license.customer_id !== customer_id || license.banned === 1 || license.test === 1)
    return false
  if (isUserBanned) return false
  if (kind === 'renewed') return settings.renewed
  if (!wantsMails) return false
  const end = displayedEnd(license, 0) ?? never
  if (kind === 'paymentFailed') return settings.paymentFailed && end <= until
  if (kind === 'updatesEndSoon') return settings.updatesEndSoon && updatesUntil(license) === until
  if (end !== until || renews) return false
  return kind === 'ended' ? settings.endedSince !== null : settings.endsSoonDays.includes(days)
}

/** Looking takes a hundredth of the time at most. */
export const pauseAfter = (tookMs: number, leastMs: number): number =>
  Math.max(leastMs, Math.ceil(100 * tookMs))

const pauseMostMs = 5 * second

/** A look at many licenses works a tenth of the time, as checks wait for what it writes. */
export const pauseInLook = (tookMs: number): number => Math.min(pauseMostMs, Math.ceil(10 * tookMs))

export const updatesSoonMs = limits.updatesEndSoonDays * day
