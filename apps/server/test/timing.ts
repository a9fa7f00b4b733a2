import { rounds } from './rounds.ts'

/** Calls of each kind: enough for a clear difference, and with TEST_FULL=1 for a small one. */
export const samples = rounds(60, 300)

/**
 * Times calls of two kinds, one at a time and in alternating order; `settle` waits before each until nothing else goes on.
 * Returns how often one call of the first kind takes longer than one of the second, from 0 to 1: what a stranger learns from
 * one answer. Equal times give 0.5.
 */
export async function compareTimes(
  kinds: readonly [first: (at: number) => Promise<unknown>, second: (at: number) => Promise<unknown>],
  settle: () => Promise<unknown> = async () => {},
): Promise<number> {
  const times: [number[], number[]] = [[], []]
  const warmup = 5
  for (let at = -warmup; at < samples; at += 1) {
    // Whatever the first call of a pair leaves behind must not favor a kind.
    for (const kind of at % 4 < 2 ? ([0, 1] as const) : ([1, 0] as const)) {
      await settle()
      const start = performance.now()
      await kinds[kind](at + warmup)
      if (at >= 0) times[kind].push(performance.now() - start)
    }
  }
  const [first, second] = times
  const longer = first.reduce((sum, one) => sum + second.filter((other) => one > other).length, 0)
  return longer / (first.length * second.length)
}

/** Four standard deviations of `compareTimes` for equal times: chance fails one run of ten thousand. */
const margin = 4 * Math.sqrt((2 * samples + 1) / (12 * samples * samples))
export const equalTimes = { least: 0.5 - margin, most: 0.5 + margin }
