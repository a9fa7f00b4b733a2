import type { FastifyBaseLogger } from 'fastify'
import { system } from '../../core/actor.ts'
import { hour, minute, second, toIso } from '../../core/clock.ts'
import { schedule } from '../../core/one-at-a-time.ts'
import { countTables, deleteEmptyCounts, deleteExpired, expiringTables } from '../../db/deletions.ts'
import { inSlices, type Tx } from '../../db/index.ts'
import { putMeta, readMeta } from '../../db/meta.ts'
import type { Ctx } from '../../service/ctx.ts'
import { tidyActivity } from '../activity/activity.service.ts'
import { tidyAudit } from '../audit/audit.retention.ts'
import { freeAllEnded } from '../devices/leased-places.access.ts'
import { tidyImports } from '../imports/imports.runner.ts'
import { expireMails } from '../mail/mail.outbox.ts'
import { tidyReminders } from '../plans/reminders.service.ts'
import { eraseShopEvents, noteMailEnd } from '../shops/shops.access.ts'
import { tidyWebhooks } from '../webhooks/webhooks.access.ts'
import { ClockGuard } from './clock-guard.ts'
import { thinRecords } from './record-thinning.ts'

interface Parts {
  ctx: Ctx
  log: Pick<FastifyBaseLogger, 'warn'>
  onError: (error: unknown) => void
  options: { remindersAfterMs?: number | undefined }
}

/**
 * Deletes expired rows: sessions, reset links, answers for repeats, rate limit windows, counts of zero, repeated records. Computes
 * missing statistics.
 */
export async function tidy(
  ctx: Pick<Ctx, 'clock' | 'config' | 'database' | 'db' | 'seal' | 'tx'>,
): Promise<void> {
  const now = ctx.clock.now()
  const some = (remove: (tx: Tx, count: number) => Promise<number>) =>
    inSlices(ctx, system, async ({ tx }, size) => ({ found: await remove(tx, size) }))
  for (const table of expiringTables) await some((tx, count) => deleteExpired(tx, table, now, count))
  await some((tx, count) => freeAllEnded(tx, now, count))
  for (const table of countTables) await some((tx, count) => deleteEmptyCounts(tx, table, count))
  await tidyActivity(ctx)
  await some((tx, count) => eraseShopEvents(tx, now, count))
  await tidyWebhooks(ctx)
  await thinRecords(ctx)
  await tidyReminders(ctx)
  await some(async (tx, count) => {
    const ids = await expireMails(tx, now, count)
    for (const id of ids) await noteMailEnd(tx, id, false)
    return ids.length
  })
  await tidyImports(ctx)
  await tidyAudit(ctx)
  await ctx.database.engine.updateStatistics()
}

const clockName = 'clock'

/** Tidies unless the clock is in doubt; remembers what it shows for the next start. */
function guardedTidy(ctx: Ctx, warn: (text: string) => void): () => Promise<void> {
  const guard = new ClockGuard()
  let warnedAt = Number.NEGATIVE_INFINITY
  return async () => {
    const now = ctx.clock.now()
    const stored = await readMeta(ctx.db, clockName)
    const monotonic = performance.now()
    const expected = guard.findDoubt({ now, monotonic }, stored === undefined ? undefined : Number(stored))
    if (expected === undefined) {
      await ctx.tx(system, ({ tx }) => putMeta(tx, clockName, String(now)))
      return tidy(ctx)
    }
    if (monotonic - warnedAt < hour) return
    warnedAt = monotonic
    warn(
      `The clock shows ${toIso(now)}, and about ${toIso(expected)} is expected: nothing that has expired is deleted for now. Check the clock; it is believed after a day, or two hours after a start`,
    )
  }
}

/** Deletes expired rows every ten minutes until the returned function is called. */
export function startHousekeeping(parts: Parts): () => Promise<void> {
  const { ctx, log, onError, options } = parts
  const analyzed = ctx.database.engine.updateStatistics().catch(onError)
  const end = schedule(
    guardedTidy(ctx, (text) => log.warn(text)),
    {
      ...{ everyMs: 10 * minute, firstMs: options.remindersAfterMs ?? 30 * second, onError },
    },
  )
  return async () => {
    await end()
    await analyzed
  }
}
