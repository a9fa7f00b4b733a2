import { minute, second } from '../../core/clock.ts'
import type { Ctx } from '../../core/ctx.ts'
import { oneAtATime } from '../../core/one-at-a-time.ts'
import { inSlices } from '../../core/slices.ts'
import type { Mailer } from '../mail/mail.service.ts'
import { sendReminders, tidyReminders } from '../plans/plans.reminders.ts'
import { deleteEnded } from '../program/program.repo.ts'

const intervalMs = 10 * minute
const firstRemindersMs = 30 * second
/** At the end of the server a message under way gets this long to be taken. */
const graceMs = 5 * second
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
  await tidyReminders(ctx)
}

interface Options {
  mailer: Mailer
  onError: (error: unknown) => void
  /** How long after the start the first reminders are sent. */
  remindersAfterMs?: number | undefined
}

/** Tidies and sends reminders now and then until the returned function is called. */
export function startHousekeeping(ctx: Ctx, options: Options): () => Promise<void> {
  const { mailer, onError, remindersAfterMs = firstRemindersMs } = options
  const stopping = new AbortController()
  const tidying = oneAtATime(() => tidy(ctx).catch(onError))
  // By themselves, so that a slow mail server holds up nothing else.
  const reminding = oneAtATime(() =>
    sendReminders(ctx, mailer, { onError, signal: stopping.signal }).catch(onError),
  )
  const timer = setInterval(() => {
    tidying.start()
    reminding.start()
  }, intervalMs)
  const first = setTimeout(reminding.start, remindersAfterMs)
  timer.unref()
  first.unref()
  return async () => {
    clearInterval(timer)
    clearTimeout(first)
    stopping.abort()
    const grace = setTimeout(() => mailer.close(), graceMs)
    await Promise.all([tidying.ended(), reminding.ended()])
    clearTimeout(grace)
  }
}
