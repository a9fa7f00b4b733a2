// What a license gives: its time, its updates, and what it allows.
import { type Duration, limits, type OwnRights, unlimited } from '@keyward/contract'
import { addDuration, day, lastInstant, toIsoOrNull } from '../../core/clock.ts'
import { accessEnd, displayedEnd, never, toAccessEnd } from '../../db/stored-end.ts'
import type { ClientRow, GrantRow, LicenseRow } from '../../db/tables.ts'

type Ending = Pick<LicenseRow, 'expires_at' | 'grace_days'> & { left_ms?: number | null }
export type TermColumns = Pick<LicenseRow, 'term' | 'duration_value' | 'duration_unit' | 'started_at'>

export const toDuration = (row: Pick<LicenseRow, 'duration_value' | 'duration_unit'>): Duration | null =>
  row.duration_value === null || row.duration_unit === null
    ? null
    : { value: row.duration_value, unit: row.duration_unit }

/** The columns that the first use of a license sets; none if its clock has started or it has none. */
export function atFirstUse(
  license: TermColumns & Ending,
  now: number,
): Partial<Pick<LicenseRow, 'started_at' | 'expires_at'>> {
  const duration = toDuration(license)
  if (license.term !== 'first_use' || license.started_at !== null || duration === null) return {}
  return { started_at: now, expires_at: toAccessEnd(addDuration(now, duration), license.grace_days) }
}

/** The response's fields for an end. */
export function endFields(row: Ending, now: number) {
  const end = displayedEnd(row, now)
  const inGrace = end !== null && end <= now && accessEnd(row, now) > now
  return { expiresAt: toIsoOrNull(end), graceDays: row.grace_days, inGrace }
}

/** The response's fields for a license's term. */
export const toTerms = (license: TermColumns) => ({
  term: license.term,
  duration: license.term === 'first_use' ? toDuration(license) : null,
  startedAt: toIsoOrNull(license.started_at),
})

/** How much time a license adds to an end user who upgrades with it now; null for all time. */
export function timeLeft(license: TermColumns & Ending, now: number): number | null {
  const expiresAt = displayedEnd({ ...license, ...atFirstUse(license, now) }, now)
  return expiresAt === null ? null : Math.max(0, expiresAt - now)
}

/** The term of an end user: that of the first license, or by the end alone without one. */
export const termOf = (license: { term: LicenseRow['term'] } | null | undefined, expiresAt: number) =>
  license?.term ?? (expiresAt === never ? 'forever' : 'date')

/** The end of the updates that a license covers; null for all, and before the first use starts the clock. */
export function updatesUntil(
  license:
    | Pick<LicenseRow, 'term' | 'started_at' | 'created_at' | 'updates_for_days' | 'updates_until'>
    | null
    | undefined,
): number | null {
  if (license?.updates_until != null) return license.updates_until
  if (!license || license.updates_for_days === null) return null
  const start = license.term === 'first_use' ? license.started_at : license.created_at
  return start === null ? null : Math.min(lastInstant, start + license.updates_for_days * day)
}

/** The end of the updates, null for all. */
export interface Updates {
  until: number | null
  /** The one that further time moves. */
  own: number | null
  /** What is covered beside it. */
  beside: number
}

/**
 * The end of updates by the grants that stand: a single payment moves it, and what else covers later ones counts as it is.
 */
export function updatesOf(
  own: number | null,
  standing: readonly Pick<GrantRow, 'kind' | 'at' | 'until' | 'updates_ms' | 'updates_until'>[],
): Updates {
  const untils = (kinds: readonly GrantRow['kind'][], some = standing) =>
    some.flatMap(({ kind, updates_ms, updates_until }) =>
      updates_ms === null && kinds.includes(kind) ? (updates_until ?? []) : [],
    )
  // A subscription that has ended covers the versions of its paid time.
  const ended = untils(['end', 'term'])
  const stays = standing.flatMap(({ kind, until, updates_until }) =>
    kind === 'period' && until === null ? (updates_until ?? []) : [],
  )
  const paid = own === null && ended.length === 0 ? stays : ended
  if (own === null && paid.length === 0) return { until: null, own: null, beside: 0 }
  const first = Math.max(own ?? 0, ...paid)
  const besideIn = (some: typeof standing) => Math.max(0, ...untils(['time', 'period'], some))
  const base = standing.reduce((end, { at, updates_ms, updates_until }, place) => {
    if (updates_ms === null) return end
    // What it waited for may have been taken back.
    const begin = Math.min(updates_until ?? 0, Math.max(at, besideIn(standing.slice(0, place))))
    return Math.max(end, begin) + updates_ms
  }, first)
  const beside = besideIn(standing)
  return { until: Math.min(lastInstant, Math.max(base, beside)), own: base, beside }
}

/** What a key allows besides its time: features, and a number of devices or of seats. */
export type Rights = Pick<LicenseRow, 'devices' | 'seats' | 'seat_timeout_seconds' | 'features'>

/** What a key that `upgrade` added allows, until when. */
export interface AddedRights extends Rights {
  /** The key. */
  license: string
  /** The grant that gives it. */
  grant: string
  /** The end that people see, in milliseconds since 1970; null for as long as the end user has access. */
  until: number | null
  /** For how long the rights go on after that. */
  graceDays: number
}

type StoredRights = Omit<AddedRights, 'license' | 'grant'>

/** The columns of an end user that say what its added keys allow. */
export type RightsColumns = Pick<ClientRow, 'added_rights' | 'paused_at'>

const sizeOf = ({ devices, seats }: Rights): number =>
  seats ?? (devices === unlimited ? Number.POSITIVE_INFINITY : devices)

/** The features of both, and the larger number, be it of devices or of seats; never the sum. */
function combine(one: Rights, other: Rights): Rights {
  const larger = sizeOf(other) > sizeOf(one) ? other : one
  if (other.features === '[]' || other.features === one.features) return { ...larger, features: one.features }
  const names = new Set<string>([...JSON.parse(one.features), ...JSON.parse(other.features)])
  return { ...larger, features: JSON.stringify([...names].slice(0, limits.endUserFeaturesMax)) }
}

/** When the rights of a key end, grace days included. */
export const rightsEnd = ({ until, graceDays }: Pick<AddedRights, 'until' | 'graceDays'>): number =>
  until === null ? Number.POSITIVE_INFINITY : until + graceDays * day

/** Whether a key allows at least what another one does. */
export function allowsAll(one: Rights, other: Rights): boolean {
  if ((one.seats === null) !== (other.seats === null) || sizeOf(one) < sizeOf(other)) return false
  const features = new Set<string>(JSON.parse(one.features))
  return (JSON.parse(other.features) as string[]).every((name) => features.has(name))
}

/** The column for what added keys allow from now on; keys that allow the same count as the one that ends last. */
export function toAddedRights(rights: readonly AddedRights[], now: number): string | null {
  const last = new Map<string, StoredRights>()
  for (const { license: _, grant: __, until, ...allowed } of rights) {
    const before = last.get(JSON.stringify(allowed))
    const isLater = !before || (before.until !== null && (until === null || until > before.until))
    if (isLater) last.set(JSON.stringify(allowed), { ...allowed, until })
  }
  const running = [...last.values()].filter((one) => rightsEnd(one) > now)
  return running.length === 0 ? null : JSON.stringify(running)
}

/** What the added keys of an end user allow now. While it is paused, nothing ends. */
function storedRightsOf({ added_rights, paused_at }: RightsColumns, now: number): StoredRights[] {
  const all: StoredRights[] = added_rights === null ? [] : JSON.parse(added_rights)
  return all.filter((one) => rightsEnd(one) > (paused_at ?? now))
}

/** What a key allows, and the end that people see: a pause moves it with the clock. */
export const toOwnRights = (
  { features, devices, seats, until }: StoredRights,
  pausedAt: number | null,
  now: number,
): OwnRights => ({
  features: JSON.parse(features),
  devices,
  seats,
  until: toIsoOrNull(until && until + now - (pausedAt ?? now)),
})

/** What customers see of their added keys. */
export const ownRightsOf = (client: RightsColumns, now: number): OwnRights[] =>
  storedRightsOf(client, now).map((one) => toOwnRights(one, client.paused_at, now))

/**
 * When the features end that only added keys with an end give, grace days included; other features last as long as access.
 * Empty for an end user without such keys.
 */
export function featureEnds(
  first: Pick<Rights, 'features'> | null | undefined,
  client: RightsColumns,
  now: number,
): ReadonlyMap<string, number> {
  const ends = new Map<string, number>()
  if (client.added_rights === null) return ends
  for (const one of storedRightsOf(client, now))
    for (const name of JSON.parse(one.features) as string[])
      ends.set(name, Math.max(ends.get(name) ?? 0, rightsEnd(one)))
  for (const name of JSON.parse(first?.features ?? '[]') as string[]) ends.delete(name)
  for (const [name, end] of ends) if (end === Number.POSITIVE_INFINITY) ends.delete(name)
  return ends
}

/** What an end user may do: the rights of the first license and of the added keys; null without any key. */
export function rightsOf<First extends Rights>(
  first: First | null | undefined,
  client: RightsColumns,
  now: number,
): Rights | null {
  if (client.added_rights === null) return first ?? null
  const [one, ...others] = storedRightsOf(client, now)
  if (!one) return first ?? null
  const added = others.reduce<Rights>(combine, one)
  // Seats are counted on the first license.
  return first ? combine(first, added) : { ...added, seats: null }
}

/**
 * The claims of a statement for what a program may use without the server: the features that hold until `end`, in seconds
 * since 1970, and when others end. Programs that know `features` alone see fewer of them, never more.
 */
export function featuresUntil(
  { features, featureEnds }: { features: string; featureEnds: ReadonlyMap<string, number> },
  end: number | null,
): { features: string[]; featuresUntil?: Record<string, number> } {
  const names: string[] = JSON.parse(features)
  const earlier = names.flatMap((name) => {
    const last = Math.floor((featureEnds.get(name) ?? Number.POSITIVE_INFINITY) / 1000)
    return last < (end ?? Number.POSITIVE_INFINITY) ? [[name, last] as const] : []
  })
  if (earlier.length === 0) return { features: names }
  const ends = Object.fromEntries(earlier)
  return { features: names.filter((name) => !Object.hasOwn(ends, name)), featuresUntil: ends }
}
