import { setTimeout as pause } from 'node:timers/promises'
import type { Actor } from '../core/actor.ts'
import { needsLocks, othersWait, untilLogIsShort } from './open.ts'
import type { Transactions, Write } from './record.ts'

/** Target durations of a part's statements: other writes wait for it, on PostgreSQL only those to its rows. */
const aims = { sqlite: 5, postgres: 40 }
/** On SQLite, so many parts share a transaction, because a short one writes more pages for each row; see ADR 34. */
const partsMost = 3
/** After another write waited for a slice of SQLite, slices have one part for so long. */
const sharedMs = 1000
/** Lets other requests run; answering one takes several turns of the event loop. */
const pauseMs = 3
const [fewest, most] = [20, 1000]
/** On SQLite, so many committed slices may wait for the disk: more would let it fall behind, fewer would let it rest. */
const aheadMost = 4

export interface Slice {
  /** Rows; fewer than the size end the work. */
  found: number
  /** How many of them changed; `found` by default. */
  changed?: number
  /** Handed to the next part. */
  mark?: number
}

type Work = (write: Write, size: number, mark: number | undefined) => Promise<Slice>
/** Records how many rows a transaction changed, if any. */
type Record = (write: Write, changed: number) => void

/**
 * Runs long work in slices, each in its own transaction, that adapt their size to its duration. Returns how many rows
 * changed, once everything is committed.
 */
export async function inSlices(
  ctx: Transactions,
  actor: Actor,
  work: Work,
  record: Record = () => {},
): Promise<number> {
  const isSqlite = !needsLocks(ctx.db)
  const before: Promise<unknown>[] = []
  let [next, changed]: [Next, number] = [{ size: fewest, mark: undefined, parts: 1 }, 0]
  let isLong = false
  let waitedAt = Number.NEGATIVE_INFINITY
  for (;;) {
    if (isLong && isPatient(actor)) await untilLogIsShort(ctx.db)
    const running = run(ctx, actor, { work, record, isLong, ...next })
    // A long transaction is not tried again, so the next one may begin while SQLite stores this one.
    const done = await (isLong && isSqlite ? running.ran : running.committed)
    if (before.length >= aheadMost) await before.shift()
    changed += done.changed
    before.push(running.committed)
    if (done.isLast) {
      await Promise.all(before)
      return changed
    }
    // Few rows, as in most runs, are not worth another thread.
    isLong = true
    const now = performance.now()
    if (done.othersWait) waitedAt = now
    const { size, mark } = done
    next = { size, mark, parts: isSqlite && now - waitedAt >= sharedMs ? partsMost : 1 }
    if (!isSqlite) await pause(pauseMs)
  }
}

export const nextSize = (size: number, tookMs: number, aim: keyof typeof aims): number =>
  Math.min(most, Math.max(fewest, Math.round((size * aims[aim]) / Math.max(tookMs, 1))))

/** Housekeeping runs again anyway, and must not delay a shutdown. */
const isPatient = (actor: Actor): boolean => actor.kind !== 'system'

interface Next {
  size: number
  mark: number | undefined
  parts: number
}

interface Job extends Next {
  work: Work
  record: Record
  isLong: boolean
}

interface Run {
  changed: number
  /** How many rows the next slice has. */
  size: number
  mark: number | undefined
  /** Whether nothing is left to do. */
  isLast: boolean
  /** Whether another write waits for this one. */
  othersWait: boolean
}

function run(
  ctx: Transactions,
  actor: Actor,
  { isLong, ...job }: Job,
): { ran: Promise<Run>; committed: Promise<Run> } {
  const ran = Promise.withResolvers<Run>()
  const work = async (write: Write): Promise<Run> => {
    const result = await runParts(write, job)
    ran.resolve(result)
    return result
  }
  const committed = ctx.tx(actor, work, { isLong, isPatient: isPatient(actor) })
  committed.catch(ran.reject)
  ran.promise.catch(() => {})
  return { ran: ran.promise, committed }
}

/** Ends before all parts are done when another write waits, or when there would be too many rows. */
async function runParts(write: Write, { work, record, parts, ...next }: Omit<Job, 'isLong'>): Promise<Run> {
  let [{ size, mark }, rows, changed] = [next, 0, 0]
  for (let part = 1; ; part += 1) {
    const begun = performance.now()
    const slice = await work(write, size, mark)
    const tookMs = performance.now() - begun
    const isLast = slice.found < size
    rows += slice.found
    changed += slice.changed ?? slice.found
    mark = slice.mark
    size = nextSize(size, tookMs, needsLocks(write.tx) ? 'postgres' : 'sqlite')
    const isAwaited = await othersWait(write.tx)
    if (isLast || isAwaited || part >= parts || rows + size > most) {
      if (changed > 0) record(write, changed)
      return { changed, size, mark, isLast, othersWait: isAwaited }
    }
  }
}
