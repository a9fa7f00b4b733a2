import { setTimeout as pause } from 'node:timers/promises'

/** Target duration of a slice: on SQLite a transaction blocks the server's thread, on PostgreSQL only writes to its rows. */
const aims = { sqlite: 15, postgres: 40 }
/** Lets other requests run; answering one takes several turns of the event loop. */
const pauseMs = 3
const [fewest, most, atFirst] = [20, 1000, 100]

/**
 * Runs long work in slices that adapt their size to `aimMs`. `work` receives a size and returns how many rows it
 * found; fewer than the size ends the loop.
 */
export async function inSlices(
  work: (size: number) => Promise<number>,
  dialect: keyof typeof aims = 'sqlite',
): Promise<void> {
  const aimMs = aims[dialect]
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
