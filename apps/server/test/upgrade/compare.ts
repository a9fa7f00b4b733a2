/** A value of before that is not there any more. */
export interface Difference {
  /** Where it is, such as `licenses/lic_1/note`. */
  at: string
  before: unknown
  after: unknown
}

/** Values that an upgrade changes on purpose. */
export interface Expected {
  at: RegExp
  why: string
  /** Only in states that have not run this migration; without one, in all of them. */
  before?: string
}

/** Every value of `before` that `after` does not have at the same place. Fields may be added; elements of a list may not. */
export function differences(before: unknown, after: unknown, at = ''): Difference[] {
  if (Object.is(before, after)) return []
  if (!isTree(before) || !isTree(after) || Array.isArray(before) !== Array.isArray(after))
    return [{ at, before, after }]
  const found = Object.keys(before).flatMap((name) =>
    differences(before[name], after[name], at === '' ? name : `${at}/${name}`),
  )
  return Array.isArray(before) && before.length !== after.length
    ? [{ at: `${at}/length`, before: before.length, after: after.length }, ...found]
    : found
}

const isTree = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** How many values a tree has. */
export const countValues = (tree: unknown): number =>
  isTree(tree) ? Object.values(tree).reduce<number>((sum, each) => sum + countValues(each), 0) : 1

/** Which differences nobody expects, and how often each expectation was met. */
export function judge(found: readonly Difference[], expected: readonly Expected[]) {
  const unexpected: Difference[] = []
  const met = new Map<string, number>()
  for (const difference of found) {
    const why = expected.find(({ at }) => at.test(difference.at))?.why
    if (why === undefined) unexpected.push(difference)
    else met.set(why, (met.get(why) ?? 0) + 1)
  }
  return { unexpected, met }
}

export const toLine = ({ at, before, after }: Difference): string =>
  `${at}: ${shown(before)} became ${shown(after)}`

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}
