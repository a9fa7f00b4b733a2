/** Repetitions of a race test: few by default, many with TEST_FULL=1. */
export const rounds = (enough: number, full: number): number =>
  process.env.TEST_FULL === '1' ? full : enough

/** Every fourth of many cases of one kind, and all with TEST_FULL=1. */
export const someOf = <T>(cases: readonly T[]): T[] => cases.filter((_, at) => at % rounds(4, 1) === 0)

/** Starts this many calls at once. */
export const times = <T>(count: number, make: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => make(at)))
