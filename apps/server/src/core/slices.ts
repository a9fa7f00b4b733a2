import { setTimeout as pause } from 'node:timers/promises'
import { needsLocks } from '../db/open.ts'
import type { Actor } from './actor.ts'
import type { Ctx } from './ctx.ts'
import type { Write } from './record.ts'

/** Target duration of a slice's statements: other writes wait for it, on PostgreSQL only those to its rows. */
const aims = { sqlite: 15, postgres: 40 }
/** Lets other requests run; answering one takes several turns of the event loop. */
const pauseMs = 3
const [fewest, most] = [20, 1000]

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
  let before: Promise<unknown> | undefined
  for (;;) {
    // Few rows are not worth another thread.
    const isLong = before !== undefined
    const running = run(ctx, actor, (write) => work(write, size, mark), isLong)
    // A long transaction is not tried again, so the next one may begin while SQLite stores this one.
    const { slice, tookMs } = await (isLong && dialect === 'sqlite' ? running.ran : running.committed)
    await before
    changed += slice.changed ?? slice.found
    if (slice.found < size) {
      await running.committed
      return changed
    }
    mark = slice.mark
    before = running.committed
    size = nextSize(size, tookMs, dialect)
    if (dialect === 'postgres') await pause(pauseMs)
  }
}

export const nextSize = (size: number, tookMs: number, dialect: keyof typeof aims): number =>
  Math.min(most, Math.max(fewest, Math.round((size * aims[dialect]) / Math.max(tookMs, 1))))

interface Run {
  slice: Slice
  /** Of the statements, without the waits before and after them. */
  tookMs: number
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
    const result = { slice, tookMs: performance.now() - begun }
    ran.resolve(result)
    return result
  }
  // Housekeeping runs again anyway, and must not delay a shutdown.
  const committed = ctx.tx(actor, measured, { isLong, isPatient: actor.kind !== 'system' })
  committed.catch(ran.reject)
  ran.promise.catch(() => {})
  return { ran: ran.promise, committed }
}
