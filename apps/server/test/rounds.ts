/** Repetitions of a race test: few by default, many with TEST_FULL=1. */
export const rounds = (enough: number, full: number): number =>
  process.env.TEST_FULL === '1' ? full : enough

/** Starts this many calls at once. */
export const times = <T>(count: number, make: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => make(at)))
