import type { FastifyBaseLogger } from 'fastify'
import { system } from '../../core/actor.ts'
import { day, hour, minute, second, toIso } from '../../core/clock.ts'
import { schedule } from '../../core/queues/schedule.ts'
import { deleteEmptyCounts, deleteExpired } from '../../db/deletions.ts'
import { inSlices, type Tx } from '../../db/index.ts'
import { putMeta, readMeta } from '../../db/meta.ts'
import { tablesOf } from '../../db/owned-tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { Description, TidyCtx } from '../description.ts'

interface Parts {
  modules: readonly Description[]
  ctx: Ctx
  log: Pick<FastifyBaseLogger, 'warn'>
  onError: (error: unknown) => void
  options: { remindersAfterMs?: number | undefined }
}

/**
 * Deletes rows that have expired, counts of zero, and what the modules find old. Computes missing statistics.
 */
export async function tidy(ctx: Omit<TidyCtx, 'modules'>, modules: readonly Description[]): Promise<void> {
  const now = ctx.clock.now()
  const some = (remove: (tx: Tx, count: number) => Promise<number>) =>
    inSlices(ctx, system, async ({ tx }, size) => ({ found: await remove(tx, size) }))
  for (const table of tablesOf(modules)) {
    if (table.expires) await some((tx, count) => deleteExpired(tx, table, now, count))
    if (table.isCount) await some((tx, count) => deleteEmptyCounts(tx, table, count))
  }
  for (const module of modules) await module.tidy?.({ ...ctx, modules })
  await ctx.database.engine.updateStatistics()
}

const clockName = 'clock'

/** Tidies unless the clock is in doubt; remembers what it shows for the next start. */
function guardedTidy({ ctx, log, modules }: Parts): () => Promise<void> {
  const guard = new ClockGuard()
  let warnedAt = Number.NEGATIVE_INFINITY
  return async () => {
    const now = ctx.clock.now()
    const stored = await readMeta(ctx.db, clockName)
    const monotonic = performance.now()
    const expected = guard.findDoubt({ now, monotonic }, stored === undefined ? undefined : Number(stored))
    if (expected === undefined) {
      await ctx.tx(system, ({ tx }) => putMeta(tx, clockName, String(now)))
      return tidy(ctx, modules)
    }
    if (monotonic - warnedAt < hour) return
    warnedAt = monotonic
    log.warn(
      `The clock shows ${toIso(now)}, and about ${toIso(expected)} is expected: nothing that has expired is deleted for now. Check the clock; it is believed after a day, or two hours after a start`,
    )
  }
}

/** Deletes expired rows every ten minutes until the returned function is called. */
export function startHousekeeping(parts: Parts): () => Promise<void> {
  const { ctx, onError, options } = parts
  const analyzed = ctx.database.engine.updateStatistics().catch(onError)
  const end = schedule(guardedTidy(parts), {
    ...{ everyMs: 10 * minute, firstMs: options.remindersAfterMs ?? 30 * second, onError },
  })
  return async () => {
    await end()
    await analyzed
  }
}

/** A jump in a running process is no stop of the server: it is believed after this time. */
const believedAfterMs = { running: day, started: 2 * hour }

/** Milliseconds: of the clock since 1970, and of the monotonic clock of this process. */
interface Reading {
  now: number
  monotonic: number
}

/**
 * Doubts a clock that differs by more than a day from what it should show: a wrong year must not delete what has not
 * expired. At a start it cannot be told from a stop of days, and is believed sooner.
 */
export class ClockGuard {
  #last: Reading | undefined
  #doubtedSince: number | undefined

  /** Returns what the clock should show, if that is in doubt; `stored` is what an earlier process has seen last. */
  findDoubt(reading: Reading, stored: number | undefined): number | undefined {
    const { now, monotonic } = reading
    const expected = this.#last ? this.#last.now + (monotonic - this.#last.monotonic) : stored
    if (expected === undefined || Math.abs(now - expected) <= day) return this.#believe(reading)
    this.#doubtedSince ??= monotonic
    const patience = this.#last ? believedAfterMs.running : believedAfterMs.started
    return monotonic - this.#doubtedSince >= patience ? this.#believe(reading) : expected
  }

  #believe(reading: Reading): undefined {
    this.#last = reading
    this.#doubtedSince = undefined
  }
}
