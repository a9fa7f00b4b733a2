/** The three numbers of a version. */
export type VersionNumbers = readonly [number, number, number]

/** Whether the program's version is older than the app's; an unreadable version counts as older. */
export function isOlder(program: string, app: string): boolean {
  if (program === app) return false
  const [mine, newest] = [parseVersion(program), parseVersion(app)]
  return !mine || !newest || compareVersions(mine, newest) < 0
}

export const newestOf = (versions: readonly string[]): string | undefined =>
  versions.toSorted((a, b) => Number(isOlder(a, b)) - Number(isOlder(b, a)))[0]

/** Negative if the first one is older. */
export const compareVersions = (one: VersionNumbers, other: VersionNumbers): number =>
  one[0] - other[0] || one[1] - other[1] || one[2] - other[2]

/** Undefined unless the text is three numbers. */
export const parseVersion = (version: string): VersionNumbers | undefined =>
  /^\d{1,9}\.\d{1,9}\.\d{1,9}$/.test(version)
    ? (version.split('.').map(Number) as unknown as VersionNumbers)
    : undefined

/** A version without leading zeros, as semantic versions are written. */
export const withoutZeros = (version: string): string => version.replace(/(^|\.)0+(?=\d)/g, '$1')
