import type { Duration, LicenseTerm } from '@keyward/contract'
import { addDuration, day, lastInstant } from '../../core/clock.ts'
import { held, never } from '../../db/stored-end.ts'
import type { ClientRow, GrantRow, LicenseRow } from '../../db/tables.ts'
import {
  type AddedRights,
  allowsAll,
  type Rights,
  rightsEnd,
  toDuration,
  type Updates,
  updatesOf,
} from './terms.rules.ts'
import { beginOf, periodEnd, rightsUntil } from './waits.rules.ts'

// What was granted to a license or an end user, folded to what may be used. Ends are those that people see, in
// milliseconds since 1970, without the grace days, which are columns of the license; `never` is no end.

/** What a payment gives besides time, as JSON in `terms` of its grant, and the license that it was paid for. */
export type PaidRights = Rights & Pick<AddedRights, 'license'>

/** A grant, with what the key that it names allows now. */
export type Grant = Omit<GrantRow, 'seq' | 'owner_id' | 'app_id' | 'license_id' | 'client_id'> & {
  /** Null unless it is the time of an added key that still exists. */
  key: (Rights & Pick<LicenseRow, 'grace_days' | 'banned'>) | null
}

export interface Terms {
  term: LicenseTerm
  duration_value: number | null
  duration_unit: Duration['unit'] | null
}

/** What a license has before its first change, which its columns say. */
export interface Own {
  end: number
  /** Null for an end user without a license. */
  terms: Terms | null
  /** When the clock of a duration has started. */
  startedAt: number | null
  graceDays: number
  /** The end of the updates that it covers; null for all. */
  updates: number | null
}

/** What may be used, as of the last change; with the columns that checks, lists and counts read. */
export interface Access extends Pick<ClientRow, 'expires_at' | 'grace_days' | 'paused_at' | 'left_ms'> {
  /** The end without keys that never end, and without periods. */
  end: number
  /** Whether an added key without end hides it. */
  isEndless: boolean
  /** The milliseconds that added keys and payments give to the end. */
  addedMs: number
  updates: Updates
  /** Periods that stand, by their ids: until when they are paid. */
  periods: { id: string; until: number }[]
  /** The ends of the updates that periods cover, by the ids of these. */
  covered: ReadonlyMap<string, number>
  terms: Terms | null
  /** What added keys and payments allow, each until its end. */
  rights: AddedRights[]
}

const isStanding = (grant: Grant): boolean => grant.withdrawn_at === null

/** Whether it is the time of a key that was added to an end user. */
export const isOfKey = ({ kind, source_kind }: Grant): boolean => kind === 'time' && source_kind === 'key'

/** Whether it is what an order gave to a license that there was: time, or a period beside what was granted. */
export const isOfPayment = ({ kind, source_kind }: Grant): boolean =>
  source_kind === 'order' && (kind === 'time' || kind === 'period')

/** What a grant moves an end by, which begins no earlier than `until`. A withdrawn key keeps what was used of it. */
function movedBy({ gap_ms, moved_ms, kept_ms, until, withdrawn_at }: Grant, end: number): number {
  if (withdrawn_at !== null && kept_ms === null) return 0
  const ms = withdrawn_at === null ? (moved_ms ?? kept_ms ?? 0) : (kept_ms ?? 0)
  return Math.max(gap_ms, ms > 0 && until !== null ? until - end : 0) + ms
}

/** Folds grants, oldest first, to what may be used. Nothing else computes an end. */
export function accessOf(own: Own, grants: readonly Grant[]): Access {
  const grace = own.graceDays * day
  let { end, terms } = own
  let pausedAt: number | null = null
  let counted: Grant[] = []
  let rights: AddedRights[] = []
  let periods: Access['periods'] = []
  const covered = new Map<string, number>()

  const addedMs = () => counted.reduce((sum, { moved_ms }) => sum + (moved_ms ?? 0), 0)
  const endless = () => counted.some(({ moved_ms }) => moved_ms === null)
  const later = (ms: number) => {
    if (end !== never) end = Math.min(end + ms, Math.max(end, lastInstant))
  }
  /** Moves the rights that have not ended at a time, from where they end or from then on. */
  const moveRights = (ms: number, at: number, from = 0) => {
    rights = rights.map((one) =>
      one.until !== null && rightsEnd(one) > at ? { ...one, until: Math.max(one.until, from) + ms } : one,
    )
  }
  /** Time that passes in a pause moves what it holds. */
  const pass = (to: number) => {
    if (pausedAt === null || to <= pausedAt) return
    if (!endless() && lasts(end)) later(to - pausedAt)
    for (const period of periods) if (lasts(period.until)) period.until += to - pausedAt
    moveRights(to - pausedAt, pausedAt)
    pausedAt = to
  }
  const lasts = (until: number) => pausedAt !== null && until !== never && until + grace > pausedAt
  const displayedEnd = () => Math.max(end, ...periods.map(({ until }) => until))

  for (const { at, grant, isResumed } of eventsOf(grants)) {
    pass(at)
    if (grant.kind === 'pause') pausedAt = isResumed ? null : at
    else if (grant.kind === 'time') addTime(grant)
    else if (grant.kind === 'period') addPeriod(grant)
    else if (isStanding(grant)) setEnd(grant)
  }
  const shown = displayedEnd()
  const isEndless = endless()
  const left_ms = pausedAt !== null && !isEndless && lasts(shown) ? shown + grace - pausedAt : null
  const isUnlimited = isEndless || periods.some(({ until }) => until === never)
  if (isUnlimited && terms) terms = withEnd(terms, never)
  const stored = isEndless || shown === never ? never : shown + grace
  const standing = grants.filter(isStanding).map((grant) => {
    return { ...grant, updates_until: covered.get(grant.id) ?? grant.updates_until }
  })
  const updates = updatesOf(own.updates, standing)
  return {
    ...{ end, isEndless, addedMs: addedMs(), updates, periods, covered, terms, rights, left_ms },
    ...{ paused_at: pausedAt, expires_at: left_ms === null ? stored : held, grace_days: own.graceDays },
  }

  function setEnd(grant: Grant): void {
    if (grant.kind === 'end') {
      // What another order gave stays when an order names an end; a person means it.
      const isOfOrder = grant.source_kind === 'order'
      counted = isOfOrder ? counted.filter(isOfPayment) : []
      if (!isOfOrder) periods = []
    }
    end = grant.until ?? never
    terms = grant.terms === null ? terms && withEnd(terms, end) : (JSON.parse(grant.terms) as Terms)
    if (terms && grant.until === null) end = firstUseEnd(terms, own.startedAt)
    later(addedMs())
  }

  function addTime(grant: Grant): void {
    const shown = displayedEnd()
    later(movedBy({ ...grant, until: beginOf(grant, grants, periods) }, end))
    if (!isStanding(grant)) return
    // Orders move the end, and may be taken back: rights move by the time alone.
    if (!isOfKey(grant) && !isOfPayment(grant))
      moveRights(Math.max(0, grant.moved_ms ?? 0), grant.at, grant.at)
    else {
      counted.push(grant)
      addRights(grant, rightsUntil(grant, grants, rights))
      // Updates that last as long as the time end earlier with it. Joined time has no begin.
      const { until, updates_ms, updates_until } = grant
      const last = until === null || shown === never || endless() ? never : end
      if (updates_until !== null && updates_ms === null) covered.set(grant.id, Math.min(updates_until, last))
    }
  }

  function addPeriod(grant: Grant): void {
    if (!isStanding(grant)) return
    const until = periodEnd(grant, grants, rights)
    const earlierMs = (grant.until ?? 0) - (until ?? 0)
    if (grant.updates_until !== null) covered.set(grant.id, grant.updates_until - earlierMs)
    periods.push({ id: grant.id, until: until ?? never })
    addRights(grant, grant.rights_until ?? until)
  }

  /** What an order gives, or a key that is not banned. */
  function addRights({ id, source_id, key, terms: paid }: Grant, until: number | null): void {
    const { grace_days: graceDays = own.graceDays, banned = 0, ...ofKey } = key ?? {}
    const allowed: PaidRights = key
      ? { license: source_id ?? '', ...(ofKey as Rights) }
      : JSON.parse(paid ?? 'null')
    if (allowed && banned === 0) rights.push({ ...allowed, grant: id, until, graceDays })
  }

  /** A date ends `forever`, and a clock that was not started. */
  function withEnd(before: Terms, next: number): Terms {
    if (next === never) return { ...before, term: 'forever' }
    if (own.startedAt !== null && before.duration_value !== null) return { ...before, term: 'first_use' }
    return { term: 'date', duration_value: null, duration_unit: null }
  }
}

/** The end that time moves, as of now: without keys that never end, and without periods. Null for never. */
export function ownEnd({ end, grace_days, isEndless, paused_at }: Access, now: number): number | null {
  if (end === never) return null
  const isHeld = paused_at !== null && !isEndless && end + grace_days * day > paused_at
  return isHeld ? end + now - paused_at : end
}

/** The last of these ends, which a pause moves with the clock; now if they have passed. */
const lastOf = ({ paused_at }: Access, ends: readonly number[], now: number): number =>
  Math.max(now, ...ends.map((end) => end + now - (paused_at ?? now)))

/** Where time that is given now begins at the earliest, whatever happens to the end: after what lasts beside it. */
export function earliestBegin(access: Access, now: number): number {
  const ends = access.periods.flatMap(({ until }) => (until === never ? [] : until))
  return lastOf(access, ends, now)
}

/** Where rights that are given now begin: after those that allow the same. */
export const rightsFrom = (access: Access, added: Rights, now: number): number =>
  lastOf(
    access,
    access.rights.flatMap((one) => (allowsAll(one, added) ? (one.until ?? []) : [])),
    now,
  )

/** The end of a term that was granted before its clock has started. */
export function firstUseEnd(terms: Terms, startedAt: number | null): number {
  const duration = terms.term === 'first_use' ? toDuration(terms) : null
  return startedAt === null || duration === null ? never : addDuration(startedAt, duration)
}

/** The grants by time, and between them the ends of pauses, before what begins at the same time. */
function eventsOf(grants: readonly Grant[]) {
  const lasting = grants.filter(({ kind, at, until }) => kind !== 'pause' || until !== at)
  const resumed = lasting.flatMap((grant) =>
    grant.kind === 'pause' && grant.until !== null ? { at: grant.until, grant, isResumed: true } : [],
  )
  const begun = lasting.map((grant) => ({ at: grant.at, grant, isResumed: false }))
  return [...resumed, ...begun].sort((one, other) => one.at - other.at)
}

/**
 * Joins the oldest grants to one term, so that at least the newest `kept` ones stay. Added keys and payments stay too: they can be
 * withdrawn. So do the last ends, which replace all before, and the last period of a person, which is the longest. Null for nothing.
 */
export function joined(own: Own, grants: readonly Grant[], kept: number): Grant[] | null {
  let cut = grants.length - kept
  const lastAt = (count: number) => {
    const some = grants.slice(0, count)
    return Math.max(...some.map(({ kind, at, until }) => (kind === 'pause' ? (until ?? never) : at)))
  }
  // What comes later must begin after all that is joined.
  while (cut > 0 && lastAt(cut) >= (grants[cut]?.at ?? never)) cut -= 1
  const [old, others] = [grants.slice(0, cut), grants.slice(cut)]
  const isEnd = (grant: Grant) => grant.kind === 'end' && isStanding(grant)
  const isSet = (grant: Grant) => isEnd(grant) && grant.source_kind !== 'order'
  const isLeast = (grant: Grant) => grant.kind === 'period' && !isOfPayment(grant) && isStanding(grant)
  const ends = [isEnd, isSet, isLeast].map((is) => old.findLast(is))
  const stays = (grant: Grant) => isOfKey(grant) || isOfPayment(grant) || ends.includes(grant)
  const gone = old.filter((grant) => !stays(grant))
  const [first] = gone
  if (!first || gone.length < 2) return null
  const { end, addedMs, terms, rights, periods, covered } = accessOf(own, old)
  const until = end === never ? null : end - addedMs
  const updates = gone.flatMap((grant) => (isStanding(grant) ? (grant.updates_until ?? []) : []))
  const term: Grant = {
    ...{ ...first, kind: 'term', at: lastAt(cut) + 1, until, moved_ms: null, gap_ms: 0, kept_ms: null },
    ...{ terms: terms && JSON.stringify(terms), withdrawn_at: null },
    updates_until: updates.length > 0 ? Math.max(...updates) : null,
  }
  /** What stays, with the ends that it has by now. */
  const staying = old.filter(stays).map((grant): Grant => {
    const right = rights.find((one) => one.grant === grant.id)
    const moved = right ? { ...grant, rights_until: right.until } : grant
    if (grant.kind === 'end' || !isStanding(grant)) return moved
    const updates_until = covered.get(grant.id) ?? null
    if (grant.kind === 'time')
      return { ...moved, until: null, updates_until: updates_until ?? grant.updates_until }
    const { until = never } = periods.find(({ id }) => id === grant.id) ?? {}
    return { ...moved, until: until === never ? grant.until : until, moved_ms: 0, gap_ms: 0, updates_until }
  })
  return [...staying, term, ...others]
}

/** The columns of a license's term. */
export const termColumns = ({ term, duration_value, duration_unit }: Terms): Terms => ({
  term,
  duration_value,
  duration_unit,
})
