import { addDuration, day, lastInstant } from '../../core/clock.ts'
import { displayedEnd, never } from '../../db/stored-end.ts'
import type { GrantRow, LicenseRow, LicenseTypeRow } from '../../db/tables.ts'
import { earliestBegin, type PaidRights, rightsFrom } from '../entitlements/access.rules.ts'
import { ifReturned } from '../entitlements/grants.changes.ts'
import type { Holder } from '../entitlements/grants.ts'
import { allowsAll, type Rights, toDuration } from '../entitlements/terms.rules.ts'

// What an order gives to the license that it names. It is a grant beside all others: withdrawn, it was never written.

export type Paid = Pick<
  GrantRow,
  'kind' | 'until' | 'moved_ms' | 'gap_ms' | 'rights_until' | 'terms' | 'updates_ms' | 'updates_until'
>

/** A type that was bought for a license, and who has what the license gives: an added key's end user, else itself. */
export interface Bought {
  type: LicenseTypeRow
  license: LicenseRow
  holder: Pick<Holder, 'license' | 'client' | 'grants' | 'access'>
  now: number
}

interface Line {
  product: string
  type: LicenseTypeRow
}

/** The first line of the license's own type, else of one that its type can become; a trial becomes any type. */
export function lineFor<T extends Line>(
  lines: readonly T[],
  { type_id, trial }: Pick<LicenseRow, 'type_id' | 'trial'>,
  upgrades: readonly string[],
): T | undefined {
  const own = lines.find(({ type }) => type.id === type_id)
  return own ?? lines.find(({ type }) => trial === 1 || upgrades.includes(type.id))
}

const isAdded = ({ license, holder }: Bought): boolean => holder.license?.id !== license.id
const isOwn = (bought: Bought): boolean => !isAdded(bought) && bought.type.id === bought.license.type_id

export const nothing: Paid = {
  ...{ kind: 'time', until: null, moved_ms: 0, gap_ms: 0, rights_until: null, terms: null },
  ...{ updates_ms: null, updates_until: null },
}

const rightsIn = ({ type, license }: Bought): string => {
  const { devices, seats, seat_timeout_seconds, features } = type
  const rights: PaidRights = { license: license.id, devices, seats, seat_timeout_seconds, features }
  return JSON.stringify(rights)
}

/** What a single payment gives; undefined if there is nothing to give. */
function paidOnce(bought: Bought): Paid | undefined {
  const { type, holder, now } = bought
  const { access } = holder
  const duration = toDuration(type)
  const shown = displayedEnd(access, now)
  const from = Math.max(shown ?? now, now)
  const returned = ifReturned(holder)
  const until = earliestBegin(returned, now)
  const time = duration && { moved_ms: addDuration(from, duration) - from, until }
  if (isOwn(bought)) {
    // What hides an end, such as another order without one, may be taken back.
    const end = access.end === never ? {} : (time ?? { kind: 'period' as const })
    const last = displayedEnd(returned, now)
    const updatesEnd = last === null || !time ? null : Math.max(last, now) + time.moved_ms
    const updates = updatesOf(bought, returned.updates.beside, updatesEnd)
    const paid = { ...nothing, ...end, ...updates }
    return isNothing(shown === null ? { ...nothing, ...updates } : paid) ? undefined : paid
  }
  const begin = rightsFrom(isAdded(bought) ? returned : access, type, now)
  const rights_until = duration && addDuration(begin, duration)
  const terms = rightsIn(bought)
  if (isAdded(bought)) {
    if (shown === null && hasAll(bought)) return undefined
    if (!time) return { ...nothing, kind: 'period', terms }
    return { ...nothing, ...(access.end === never ? { until: begin } : time), terms, rights_until }
  }
  const covered =
    type.updates_for_days === null ? (rights_until ?? lastInstant) : begin + type.updates_for_days * day
  const updates_until = access.updates.own === null ? null : Math.min(lastInstant, covered)
  const paid = rights_until && { until: rights_until, moved_ms: rights_until - begin, gap_ms: begin - now }
  return { ...nothing, kind: 'period', ...paid, terms, updates_until }
}

/** The end of updates moves as the end does: from now, or from where it is. */
function updatesOf(
  { type, holder: { access }, now }: Bought,
  beside: number,
  end: number | null,
): Partial<Paid> {
  const { until, own } = access.updates
  if (until === null || own === null) return {}
  if (type.updates_for_days === null) return { updates_until: end ?? lastInstant }
  return { updates_ms: type.updates_for_days * day, updates_until: Math.max(now, beside) }
}

const isNothing = ({ kind, moved_ms, updates_ms, updates_until }: Paid): boolean =>
  kind === 'time' && moved_ms === 0 && updates_ms === null && updates_until === null

const hasAll = ({ type, holder: { license, access } }: Bought): boolean => {
  const unending: Rights[] = access.rights.filter(({ until }) => until === null)
  return [...unending, ...(license ? [license] : [])].some((one) => allowsAll(one, type))
}

/** What a license gets of a type, by a single payment or as long as it is paid. */
export interface Gift {
  type: string
  /** What a single payment gives; null if that is nothing. */
  once: Paid | null
  terms: string | null
  /** Whether a subscription covers the versions of its paid time. */
  coversUpdates: boolean
}

export const giftOf = (bought: Bought): Gift => ({
  type: bought.type.id,
  once: paidOnce(bought) ?? null,
  terms: isOwn(bought) ? null : rightsIn(bought),
  coversUpdates: !isAdded(bought) && bought.holder.access.updates.own !== null,
})

/** What a subscription gives until the end that is paid. */
export const paidUntil = ({ terms, coversUpdates }: Gift, end: number): Paid => ({
  ...{ ...nothing, kind: 'period', until: end, terms },
  updates_until: coversUpdates ? end : null,
})

/** What stays of a subscription. A license that had all updates until an end of its own has them until then. */
export const paidForEver = (gift: Gift, updatesUntil: number, ownEnd: number | null): Paid => {
  const paid = paidUntil(gift, updatesUntil)
  const updates_until = ownEnd === null ? paid.updates_until : Math.max(updatesUntil, ownEnd)
  return { ...paid, until: null, updates_until }
}

/** Whether a subscription would give nothing. */
export function hasEverything(bought: Bought): boolean {
  const { access } = bought.holder
  const isEndless = displayedEnd(access, bought.now) === null
  return isEndless && (isAdded(bought) || access.updates.own === null) && (isOwn(bought) || hasAll(bought))
}
