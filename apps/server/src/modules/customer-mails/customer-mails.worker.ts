import { minute, second } from '../../core/clock.ts'
import { oneAtATime } from '../../core/one-at-a-time.ts'
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

export type CustomerMails = ReturnType<typeof startCustomerMails>

/** Finds the mails that customers are to get, and queues them when their turn comes, on any node. */
export function startCustomerMails(
  parts: { ctx: Ctx; consoleUrl: () => string },
  { onError, pollMs = minute }: Options,
) {
  const ending = new AbortController()
  const { signal } = ending
  let timer: NodeJS.Timeout | undefined
  let isAsked = false
  const look = async (): Promise<void> => {
    do {
      isAsked = false
      await findMails(parts.ctx, { onError, everyMs: pollMs, signal })
      const hasMore = await releaseMails({ ...parts, signal })
      plan(hasMore ? Math.min(soonMs, pollMs) : pollMs)
    } while (isAsked && !signal.aborted)
  }
  const working = oneAtATime(() => look().catch(onError))
  const plan = (afterMs: number): void => {
    clearTimeout(timer)
    if (!signal.aborted) timer = setTimeout(working.start, afterMs).unref()
  }
  return {
    start: (): void => plan(pollMs),
    /** Looks at once, and again after a look that has begun before. */
    wake: (): void => {
      isAsked = true
      working.start()
    },
    end: async (): Promise<void> => {
      ending.abort()
      clearTimeout(timer)
      await working.ended()
    },
  }
}
