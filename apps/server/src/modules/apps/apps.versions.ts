/** Whether the program's version is older than the app's; an unreadable version counts as older. */
export function isOlder(program: string, app: string): boolean {
  if (program === app) return false
  const [mine, newest] = [parse(program), parse(app)]
  if (!mine || !newest) return true
  const difference = newest.map((part, at) => part - (mine[at] ?? 0)).find((part) => part !== 0)
  return (difference ?? 0) > 0
}

export const newestOf = (versions: readonly string[]): string | undefined =>
  versions.toSorted((a, b) => Number(isOlder(a, b)) - Number(isOlder(b, a)))[0]

const parse = (version: string): number[] | undefined =>
  /^\d{1,9}\.\d{1,9}\.\d{1,9}$/.test(version) ? version.split('.').map(Number) : undefined
