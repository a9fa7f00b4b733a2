import type { CoveredReleases } from '../facts/facts.ts'

/** Whether the program's version is older than the app's; an unreadable version counts as older. */
export function isOlder(program: string, app: string): boolean {
  const [mine, newest] = [parse(program), parse(app)]
  if (!mine || !newest) return program !== app
  const difference = newest.map((part, at) => part - (mine[at] ?? 0)).find((part) => part !== 0)
  return (difference ?? 0) > 0
}

/** Whether the license covers a newer version than the program's. A version that the app does not list is covered. */
export function hasUpdate(
  program: string | null,
  app: string,
  { until, newestAt, last }: CoveredReleases & { until: number | null },
): boolean {
  if (program === null) return false
  const isCovered = until === null || newestAt === null || newestAt <= until
  if (isCovered && isOlder(program, app)) return true
  return until !== null && last !== null && isOlder(program, last)
}

const parse = (version: string): number[] | undefined =>
  /^\d{1,9}\.\d{1,9}\.\d{1,9}$/.test(version) ? version.split('.').map(Number) : undefined

/** Whether an app accepts a build: an empty list accepts all, otherwise version and hash must be on it. */
export function isAllowedBuild(
  allowed: readonly { version: string; hash: string }[],
  build: { version: string; hash?: string | undefined },
): boolean {
  if (allowed.length === 0) return true
  const hash = build.hash?.trim().toLowerCase()
  return allowed.some((one) => one.version === build.version.trim() && one.hash.toLowerCase() === hash)
}

/**
 * The times of a lease in seconds since 1970, as JWS claims. `end` is when the end user's access ends, grace days
 * included, or its seat, in milliseconds. A program renews from `refreshAfter` on, works until `exp`, and warns until `graceUntil`.
 */
export function toLeaseTimes(hours: { leaseHours: number; graceHours: number }, end: number, now: number) {
  const iat = Math.floor(now / 1000)
  const last = Math.floor(end / 1000)
  const exp = Math.min(iat + hours.leaseHours * 3600, last)
  return {
    iat,
    exp,
    refreshAfter: iat + Math.floor((exp - iat) / 2),
    graceUntil: Math.min(exp + hours.graceHours * 3600, last),
  }
}
