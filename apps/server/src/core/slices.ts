import { setTimeout as pause } from 'node:timers/promises'
import { needsLocks, othersWait, untilLogIsShort } from '../db/open.ts'
import type { Actor } from './actor.ts'
import type { Ctx } from './ctx.ts'
import type { Write } from './record.ts'

/** Target durations of a slice's statements: other writes wait for it, on PostgreSQL only those to its rows. */
const aims = { sqlite: 15, postgres: 40, shared: 5 }
/** After another write waited for a slice of SQLite, slices stay short for so long. */
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
  /** Handed to the next slice. */
  mark?: number
}

type Work = (write: Write, size: number, mark: number | undefined) => Promise<Slice>

/**
 * Runs long work in slices, each in its own transaction, that adapt their size to its duration. Returns how many rows
 * changed, once everything is committed.
 */
export async function inSlices(ctx: Pick<Ctx, 'db' | 'tx'>, actor: Actor, work: Work): Promise<number> {
  const dialect = needsLocks(ctx.db) ? 'postgres' : 'sqlite'
  let [size, changed] = [fewest, 0]
  let mark: number | undefined
  const before: Promise<unknown>[] = []
  let isLong = false
  let waitedAt = Number.NEGATIVE_INFINITY
  for (;;) {
    if (isLong && isPatient(actor)) await untilLogIsShort(ctx.db)
    const running = run(ctx, actor, (write) => work(write, size, mark), isLong)
    // A long transaction is not tried again, so the next one may begin while SQLite stores this one.
    const { slice, tookMs, hasOthers } = await (isLong && dialect === 'sqlite'
      ? running.ran
      : running.committed)
    if (before.length >= aheadMost) await before.shift()
    changed += slice.changed ?? slice.found
    before.push(running.committed)
    if (slice.found < size) {
      await Promise.all(before)
      return changed
    }
    mark = slice.mark
    // Few rows, as in most runs, are not worth another thread.
    isLong = true
    const now = performance.now()
    if (hasOthers) waitedAt = now
    size = nextSize(size, tookMs, now - waitedAt < sharedMs ? 'shared' : dialect)
    if (dialect === 'postgres') await pause(pauseMs)
  }
}

export const nextSize = (size: number, tookMs: number, aim: keyof typeof aims): number =>
  Math.min(most, Math.max(fewest, Math.round((size * aims[aim]) / Math.max(tookMs, 1))))

/** Housekeeping runs again anyway, and must not delay a shutdown. */
const isPatient = (actor: Actor): boolean => actor.kind !== 'system'

interface Run {
  slice: Slice
  /** Of the statements, without the waits before and after them. */
  tookMs: number
  /** Another write waits for this one. */
  hasOthers: boolean
}

function run(
  ctx: Pick<Ctx, 'tx'>,
  actor: Actor,
  work: (write: Write) => Promise<Slice>,
  isLong: boolean,
): { ran: Promise<Run>; committed: Promise<Run> } {
  const ran = Promise.withResolvers<Run>()
  const measured = async (write: Write): Promise<Run> => {
    const begun = performance.now()
    const slice = await work(write)
    const result = { slice, tookMs: performance.now() - begun, hasOthers: await othersWait(write.tx) }
    ran.resolve(result)
    return result
  }
  const committed = ctx.tx(actor, measured, { isLong, isPatient: isPatient(actor) })
  committed.catch(ran.reject)
  ran.promise.catch(() => {})
  return { ran: ran.promise, committed }
}
