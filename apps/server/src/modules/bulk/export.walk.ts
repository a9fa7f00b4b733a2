import { setImmediate } from 'node:timers/promises'
import { readPatiently } from '../../db/index.ts'

/** A row of a list by `seq`, and whether it matches the status. */
export interface WindowRow {
  seq: number
  hit: 0 | 1
}

const windowSize = 500
/** How many rows are read and written at once; other requests run between slices. */
const sliceSize = 100

/** Yields the `seq` of all matching rows, newest first, in slices. `window` reads rows before a `seq`. */
export async function* walkDown(
  window: (before: number, count: number) => Promise<WindowRow[]>,
): AsyncGenerator<number[]> {
  let before = Number.MAX_SAFE_INTEGER
  for (;;) {
    const seen = await readPatiently(() => window(before, windowSize))
    yield* toSlices(seen.filter((row) => row.hit === 1).map((row) => row.seq))
    const last = seen.at(-1)
    if (!last || seen.length < windowSize) return
    before = last.seq
    await setImmediate()
  }
}

/** Splits known rows into slices, newest first. */
export async function* toSlices(seqs: readonly number[]): AsyncGenerator<number[]> {
  const sorted = seqs.toSorted((a, b) => b - a)
  for (let at = 0; at < sorted.length; at += sliceSize) {
    if (at > 0) await setImmediate()
    yield sorted.slice(at, at + sliceSize)
  }
}
