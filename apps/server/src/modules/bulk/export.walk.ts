import { setImmediate } from 'node:timers/promises'

/** A row of a list by `seq`, and whether it is one of those that are looked for. */
export interface Seen {
  seq: number
  hit: 0 | 1
}

const windowSize = 500

/** The `seq` of all rows that are looked for, newest first, in slices; each window ends before the `seq` it is given. */
export async function* walkDown(
  window: (before: number, count: number) => Promise<Seen[]>,
): AsyncGenerator<number[]> {
  let before = Number.MAX_SAFE_INTEGER
  for (;;) {
    const seen = await window(before, windowSize)
    const hits = seen.filter((row) => row.hit === 1).map((row) => row.seq)
    if (hits.length > 0) yield hits
    const last = seen.at(-1)
    if (!last || seen.length < windowSize) return
    before = last.seq
    // Others get their turn: reads of an embedded database do not leave this thread.
    await setImmediate()
  }
}

/** The same for rows that are known already. */
export async function* inSlices(seqs: readonly number[]): AsyncGenerator<number[]> {
  const sorted = seqs.toSorted((a, b) => b - a)
  for (let at = 0; at < sorted.length; at += windowSize) {
    yield sorted.slice(at, at + windowSize)
    await setImmediate()
  }
}
