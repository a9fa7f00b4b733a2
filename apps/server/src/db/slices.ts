import { setTimeout as pause } from 'node:timers/promises'
import type { Actor } from '../core/actor.ts'
import { syntaxOf } from './engine.ts'
import type { Transactions, WriteTransaction } from './record.ts'
import { connectionOf } from './statements.ts'

/** After another write waited for a slice, slices have one part for so long. */
const sharedMs = 1000
const [fewest, most] = [20, 1000]

export interface Slice {
  /** Rows; fewer than the size end the work. */
  found: number
  /** How many of them changed; `found` by default. */
  changed?: number
  /** Handed to the next part. */
  mark?: number
}

type Work = (write: WriteTransaction, size: number, mark: number | undefined) => Promise<Slice>
/** Records how many rows a transaction changed, if any. */
type Record = (write: WriteTransaction, changed: number) => void

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
  const { partsMost, pauseMs, unsyncedMost } = syntaxOf(ctx.db).pace
  const before: Promise<unknown>[] = []
  let changed = 0
  let next: Next = { size: fewest, mark: undefined, parts: 1 }
  let isLong = false
  let waitedAt = Number.NEGATIVE_INFINITY
  for (;;) {
    if (isLong && unsyncedMost > 0 && isPatient(actor)) await (await connectionOf(ctx.db)).untilReady()
    const running = run(ctx, actor, { work, record, isLong, ...next })
    // A long transaction is not tried again, so the next one may begin while the disk stores this one.
    const done = await (isLong && unsyncedMost > 0 ? running.ran : running.committed)
    if (before.length >= unsyncedMost) await before.shift()
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
    next = { size, mark, parts: now - waitedAt >= sharedMs ? partsMost : 1 }
    if (pauseMs > 0) await pause(pauseMs)
  }
}

export const nextSize = (size: number, tookMs: number, aimMs: number): number =>
  Math.min(most, Math.max(fewest, Math.round((size * aimMs) / Math.max(tookMs, 1))))

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
  const work = async (write: WriteTransaction): Promise<Run> => {
    const result = await runParts(write, job)
    ran.resolve(result)
    return result
  }
  const options = { rows: isLong ? most : 1, isPatient: isPatient(actor) }
  const committed = ctx.tx(actor, work, options)
  committed.catch(ran.reject)
  ran.promise.catch(() => {})
  return { ran: ran.promise, committed }
}

/** Ends before all parts are done when another write waits, or when there would be too many rows. */
async function runParts(
  write: WriteTransaction,
  { work, record, parts, ...next }: Omit<Job, 'isLong'>,
): Promise<Run> {
  const { partMs } = syntaxOf(write.tx).pace
  const connection = await connectionOf(write.tx)
  let [{ size, mark }, rows, changed] = [next, 0, 0]
  for (let part = 1; ; part += 1) {
    const begun = performance.now()
    const slice = await work(write, size, mark)
    const tookMs = performance.now() - begun
    const isLast = slice.found < size
    rows += slice.found
    changed += slice.changed ?? slice.found
    mark = slice.mark
    size = nextSize(size, tookMs, partMs)
    const isAwaited = connection.othersWait
    if (isLast || isAwaited || part >= parts || rows + size > most) {
      if (changed > 0) record(write, changed)
      return { changed, size, mark, isLast, othersWait: isAwaited }
    }
  }
}
