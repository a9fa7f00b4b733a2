import { minute, second } from '../../core/clock.ts'
import { createSchedule } from '../../core/schedule.ts'
import type { Ctx } from '../../service/ctx.ts'
import { findMails } from './customer-mails.finder.ts'
import { releaseMails } from './customer-mails.release.ts'

interface Options {
  onError: (error: unknown) => void
  /** How often apps are looked at, and mails that wait. */
  pollMs?: number | undefined
}

/** While more wait than the mail server has taken. */
const soonMs = 2 * second

export type CustomerMails = ReturnType<typeof createCustomerMails>

/** Finds the mails that customers are to get, and queues them when their turn comes, on any node. */
export const createCustomerMails = (
  parts: { ctx: Ctx; consoleUrl: () => string },
  { onError, pollMs = minute }: Options,
) =>
  createSchedule(
    async (signal) => {
      await findMails(parts.ctx, { onError, everyMs: pollMs, signal })
      return (await releaseMails({ ...parts, signal })) ? Math.min(soonMs, pollMs) : undefined
    },
    { everyMs: pollMs, onError },
  )
