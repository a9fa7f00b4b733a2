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
