import { setImmediate } from 'node:timers/promises'

/** A row of a list by `seq`, and whether it is one of those that are looked for. */
export interface Seen {
  seq: number
  hit: 0 | 1
}

const windowSize = 500
/** How many rows are read and written at once; between two slices others are answered. */
const sliceSize = 100

/** The `seq` of all rows that are looked for, newest first, in slices; each window ends before the `seq` it is given. */
export async function* walkDown(
  window: (before: number, count: number) => Promise<Seen[]>,
): AsyncGenerator<number[]> {
  let before = Number.MAX_SAFE_INTEGER
  for (;;) {
    const seen = await window(before, windowSize)
    yield* inSlices(seen.filter((row) => row.hit === 1).map((row) => row.seq))
    const last = seen.at(-1)
    if (!last || seen.length < windowSize) return
    before = last.seq
    await setImmediate()
  }
}

/** The same for rows that are known already. */
export async function* inSlices(seqs: readonly number[]): AsyncGenerator<number[]> {
  const sorted = seqs.toSorted((a, b) => b - a)
  for (let at = 0; at < sorted.length; at += sliceSize) {
    if (at > 0) await setImmediate()
    yield sorted.slice(at, at + sliceSize)
  }
}
