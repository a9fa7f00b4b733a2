/** How often a test repeats what goes wrong by chance: enough to notice it, or many more times with TEST_FULL=1. */
export const rounds = (enough: number, full: number): number =>
  process.env.TEST_FULL === '1' ? full : enough
