/** Repetitions of a race test: few by default, many with TEST_FULL=1. */
export const rounds = (enough: number, full: number): number =>
  process.env.TEST_FULL === '1' ? full : enough
