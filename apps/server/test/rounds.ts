/** Whether everything runs, at its full size: `npm run test:full`. */
export const isFull = process.env.TEST_FULL === '1'

/** Repetitions of a race test: few by default, many in the full run. */
export const rounds = <T>(enough: T, full: T): T => (isFull ? full : enough)

/** Every fourth, or every so many, of many cases of one kind, and all in the full run. */
export const someOf = <T>(cases: readonly T[], every = 4): T[] =>
  cases.filter((_, at) => at % rounds(every, 1) === 0)

/** Starts this many calls at once. */
export const times = <T>(count: number, make: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => make(at)))
