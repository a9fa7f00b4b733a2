import { minute } from '../../core/clock.ts'
import type { Ctx } from '../../core/ctx.ts'
import { inSlices } from '../../core/slices.ts'
import { deleteEnded } from '../program/program.repo.ts'

const intervalMs = 10 * minute
const sessionTables = ['client_sessions', 'owner_sessions', 'reseller_sessions'] as const

const countTables = ['license_counts', 'license_blocks', 'client_counts', 'client_blocks'] as const

/** Removes what nobody can see any more: ended sessions, windows that are over, counts of nothing. */
export async function tidy(ctx: Ctx): Promise<void> {
  const now = ctx.clock.now()
  for (const table of sessionTables) {
    await inSlices((size) => ctx.tx((tx) => deleteEnded(tx, table, now, size)))
  }
  await ctx.db.deleteFrom('attempts').where('window_ends', '<=', now).execute()
  for (const table of countTables) await ctx.db.deleteFrom(table).where('n', '=', 0).execute()
}

/** Tidies now and then until the returned function is called. */
export function startHousekeeping(ctx: Ctx, onError: (error: unknown) => void): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    running = tidy(ctx).catch(onError)
  }, intervalMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}
