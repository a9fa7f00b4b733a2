import type { Advisory, SecurityFix } from '@keyward/contract'
import { outBefore } from './releases.rules.ts'

/** A release, as the checks of programs look at it. */
export interface ListedRelease {
  readonly id: string
  readonly version: string
  readonly releasedAt: number
  readonly channel: string
  readonly link: string | null
  /** The oldest version that may update to it; null for all. */
  readonly updatesFrom: string | null
  readonly security: SecurityFix | null
  readonly isWithdrawn: boolean
  readonly hasArtifacts: boolean
}

type Numbered = ListedRelease & { readonly numbers: VersionNumbers }

/** Versions from `from` on, and before `before`. */
interface Range {
  readonly from: VersionNumbers
  readonly before: VersionNumbers
}

type Fix = ListedRelease & { readonly security: SecurityFix; readonly ranges: readonly Range[] }

/** The releases of an app. */
export interface Catalog {
  /** By their versions, also without leading zeros. */
  readonly named: ReadonlyMap<string, ListedRelease>
  /** The newest version first; without those whose numbers are too long to be compared. */
  readonly newest: readonly Numbered[]
  /** The security fixes, the last one first. */
  readonly fixes: readonly Fix[]
  /** Versions of security fixes that were removed from the list, also without leading zeros. */
  readonly removedFixes: ReadonlySet<string>
  readonly hasArtifacts: boolean
}

/** `releases` begin with the one that was released last. */
export function toCatalog(releases: readonly ListedRelease[], removedFixes: readonly string[] = []): Catalog {
  const newest = releases.flatMap((release) => {
    const numbers = parseVersion(release.version)
    return numbers ? [{ ...release, numbers }] : []
  })
  return {
    named: new Map([
      ...releases.map((release) => [withoutZeros(release.version), release] as const),
      ...releases.map((release) => [release.version, release] as const),
    ]),
    newest: newest.sort((one, other) => compareVersions(other.numbers, one.numbers)),
    fixes: releases.flatMap((release) => {
      const { security } = release
      return security ? [{ ...release, security, ranges: security.affects.map(toRange) }] : []
    }),
    removedFixes: new Set([...removedFixes].flatMap((version) => [version, withoutZeros(version)])),
    hasArtifacts: releases.some((release) => release.hasArtifacts),
  }
}

export const noReleases = toCatalog([])

/** The listed release of a version, `1.2.0` for `1.02.0` too; undefined if the app lists none. */
const releaseOf = ({ named }: Catalog, version: string): ListedRelease | undefined =>
  named.size === 0 ? undefined : (named.get(version) ?? named.get(withoutZeros(version)))

/** Whether the updates of a license, which end at `until`, include a release. Everybody gets a security fix. */
export const covers = (
  { releasedAt, security }: Pick<ListedRelease, 'releasedAt' | 'security'>,
  until: number | null,
): boolean => until === null || security !== null || releasedAt <= until

/** Whether a release is out and not withdrawn. */
export const isOffered = ({ isWithdrawn, releasedAt }: ListedRelease, now: number): boolean =>
  !isWithdrawn && releasedAt < outBefore(now)

/** The newest release that a license may use; of all channels if none is named. */
export const newestCovered = (
  { newest }: Catalog,
  until: number | null,
  now: number,
  channel?: string,
): ListedRelease | undefined =>
  newest.find(
    (release) =>
      (channel === undefined || release.channel === channel) &&
      isOffered(release, now) &&
      covers(release, until),
  )

/** A program's version, null if it names none, and the end of the updates of its license, null without one. */
interface Versioned {
  version: string | null
  until: number | null
}

/** Whether a license covers a program's version. One that the app does not list is covered. */
export function coversVersion(catalog: Catalog, { version, until }: Versioned): boolean {
  const release = version === null || until === null ? undefined : releaseOf(catalog, version)
  return !release || covers(release, until)
}

/** Whether a program is older than the oldest version that may run, and not the newest one for its license. */
export function isTooOld(
  { releases, minimumVersion }: { releases: Catalog; minimumVersion: string | null },
  { version, until }: Versioned,
  now: number,
): boolean {
  if (version === null || minimumVersion === null) return false
  const [mine, oldest] = [parseVersion(version), parseVersion(minimumVersion)]
  if (!mine || !oldest || compareVersions(mine, oldest) >= 0) return false
  if (hasFix(releases, version)) return false
  const listed = releaseOf(releases, version)
  return (
    !listed ||
    [undefined, 'stable'].every((channel) => newestCovered(releases, until, now, channel)?.id !== listed.id)
  )
}

/** Whether a version has a security fix, also one that is no longer listed. */
export const hasFix = (catalog: Catalog, version: string): boolean =>
  Boolean(releaseOf(catalog, version)?.security) ||
  catalog.removedFixes.has(version) ||
  catalog.removedFixes.has(withoutZeros(version))

/**
 * For licenses whose updates end from `from` on and before `before` (null: or never), a version is the newest one;
 * undefined if it is for none.
 */
export function newestWithin(
  catalog: Catalog,
  version: string,
  now: number,
): { from: number; before: number | null } | undefined {
  const { newest } = catalog
  const id = releaseOf(catalog, version)?.id
  const mine = newest.find((one) => one.id === id && isOffered(one, now))
  if (!mine) return undefined
  const newer = newest.filter(
    (one) =>
      compareVersions(one.numbers, mine.numbers) > 0 &&
      isOffered(one, now) &&
      (mine.channel !== 'stable' || one.channel === 'stable'),
  )
  if (newer.length === 0) return { from: mine.releasedAt, before: null }
  const before = Math.min(...newer.map((one) => (one.security ? 0 : one.releasedAt)))
  return before > mine.releasedAt ? { from: mine.releasedAt, before } : undefined
}

/**
 * The releases of a channel that a program may update to, the newest version first. An unknown version, or one that is
 * not three numbers, may go to all of them.
 */
export function updatesOf(
  { newest }: Catalog,
  { channel, version }: { channel: string; version: string | null },
  now: number,
): ListedRelease[] {
  const mine = version === null ? undefined : parseVersion(version)
  return newest.filter((release) => {
    if (release.channel !== channel || !isOffered(release, now)) return false
    if (!mine) return true
    const oldest = release.updatesFrom === null ? undefined : parseVersion(release.updatesFrom)
    return compareVersions(mine, release.numbers) < 0 && (!oldest || compareVersions(oldest, mine) <= 0)
  })
}

/** Whether a license covers a newer version than the program's. A version that the app does not list is covered. */
export function hasUpdate(
  catalog: Catalog,
  { program, app, until }: { program: string | null; app: string; until: number | null },
  now: number,
): boolean {
  if (program === null) return false
  if (catalog.hasArtifacts) {
    return updatesOf(catalog, { channel: 'stable', version: program }, now).some((one) => covers(one, until))
  }
  const current = releaseOf(catalog, app)
  const isCurrent = !current || (!current.isWithdrawn && covers(current, until))
  if (isCurrent && isOlder(program, app)) return true
  if (until === null) return false
  // One that will be out before the updates end, too.
  const newest = catalog.newest.find(
    (one) => one.channel === 'stable' && !one.isWithdrawn && covers(one, until),
  )
  return newest !== undefined && isOlder(program, newest.version)
}

/** What a program on an affected version is told. */
export interface Advice {
  /** The id of the release whose fix it is about. */
  fix: string
  advisory: Advisory
}

const severities: readonly SecurityFix['severity'][] = ['critical', 'high', 'medium', 'low']

/** By the most severe of the fixes for a program's version, and of several the last one; undefined if none affects it. */
export function adviseOn(catalog: Catalog, version: string | null, now: number): Advice | undefined {
  const mine = version === null || catalog.fixes.length === 0 ? undefined : parseVersion(version)
  if (version === null || !mine) return undefined
  const found = catalog.fixes.filter(
    ({ ranges, releasedAt }) => releasedAt < outBefore(now) && isIn(ranges, mine),
  )
  const fix = severities
    .map((severity) => found.find(({ security }) => security.severity === severity))
    .find((one) => one !== undefined)
  if (!fix) return undefined
  const { severity, summary, advisory } = fix.security
  const channels = ['stable', releaseOf(catalog, version)?.channel]
  const repaired = catalog.newest.filter(
    (one) => channels.includes(one.channel) && isOffered(one, now) && !isIn(fix.ranges, one.numbers),
  )
  const next = repaired.find(({ numbers }) => numbers[0] === mine[0]) ?? repaired[0]
  const url = advisory ?? next?.link ?? null
  return { fix: fix.id, advisory: { version: next?.version ?? null, severity, summary, url } }
}

/** Whether a version is in one of the ranges that a fix names. */
const isIn = (ranges: readonly Range[], version: VersionNumbers): boolean =>
  ranges.some(
    ({ from, before }) => compareVersions(from, version) <= 0 && compareVersions(version, before) < 0,
  )

const endless: VersionNumbers = [Number.POSITIVE_INFINITY, 0, 0]

/** Nothing is from a version whose numbers are too long to be compared on, and everything before it. */
const toRange = ({ from, before }: SecurityFix['affects'][number]): Range => ({
  from: from === null ? [0, 0, 0] : (parseVersion(from) ?? endless),
  before: before === null ? endless : (parseVersion(before) ?? endless),
})

/** The three numbers of a version. */
type VersionNumbers = readonly [number, number, number]

/** Whether the program's version is older than the app's; an unreadable version counts as older. */
export function isOlder(program: string, app: string): boolean {
  if (program === app) return false
  const [mine, newest] = [parseVersion(program), parseVersion(app)]
  return !mine || !newest || compareVersions(mine, newest) < 0
}

export const newestOf = (versions: readonly string[]): string | undefined =>
  versions.toSorted((a, b) => Number(isOlder(a, b)) - Number(isOlder(b, a)))[0]

/** Negative if the first one is older. */
const compareVersions = (one: VersionNumbers, other: VersionNumbers): number =>
  one[0] - other[0] || one[1] - other[1] || one[2] - other[2]

/** Undefined unless the text is three numbers. */
const parseVersion = (version: string): VersionNumbers | undefined =>
  /^\d{1,9}\.\d{1,9}\.\d{1,9}$/.test(version)
    ? (version.split('.').map(Number) as unknown as VersionNumbers)
    : undefined

/** A version without leading zeros, as semantic versions are written. */
export const withoutZeros = (version: string): string => version.replace(/(^|\.)0+(?=\d)/g, '$1')
