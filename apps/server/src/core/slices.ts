import { setTimeout as pause } from 'node:timers/promises'

/** How long a slice may take: on SQLite a transaction holds the server's own thread, and everybody waits. */
const aimMs = 15
/** In the pause a check that came meanwhile is answered, which takes several turns. */
const pauseMs = 3
const [fewest, most, atFirst] = [20, 1000, 100]

/**
 * Does long work in slices, each as large as its predecessors' time suggests. `work` gets the size of a slice and
 * tells how much it found to do; fewer than the size means that it was the last.
 */
export async function inSlices(work: (size: number) => Promise<number>): Promise<void> {
  let size = atFirst
  for (;;) {
    const begun = performance.now()
    const found = await work(size)
    if (found < size) return
    const tookMs = Math.max(performance.now() - begun, 1)
    size = Math.min(most, Math.max(fewest, Math.round((size * aimMs) / tookMs)))
    await pause(pauseMs)
  }
}
