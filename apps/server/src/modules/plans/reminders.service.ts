import { system } from '../../core/actor.ts'
import { day } from '../../core/clock.ts'
import type { Ctx } from '../../service/ctx.ts'
import { queueMail } from '../mail/mail.queue.ts'
import * as repo from './reminders.repo.ts'
import { toReminder } from './reminders.text.ts'

const mailsPerRun = 200
const keptMs = 60 * day

type Needed = Pick<Ctx, 'config' | 'clock' | 'db'>

/** Queues mails to owners seven days and one day before premium ends; each reminder once, across all nodes. */
export async function queueReminders(
  ctx: Needed & Pick<Ctx, 'seal' | 'tx'>,
  signal?: AbortSignal,
): Promise<void> {
  if (ctx.config.defaultPlan === 'premium') return
  for (const due of await listDue(ctx)) {
    if (signal?.aborted) return
    const { id: ownerId, account_id: accountId, premium_until: premiumUntil, name, email, days } = due
    await ctx.tx(system, async (write) => {
      if (!(await repo.mark(write.tx, { ownerId, premiumUntil, days }, write.now))) return
      const { publicUrl } = ctx.config
      const mail = toReminder({ name, email, premiumUntil, isLastDay: days === 1, publicUrl })
      await queueMail(ctx, write, { ...mail, ownerId, accountId, expiresAt: premiumUntil })
    })
  }
}

type Due = repo.Ending & { days: 1 | 7 }

/** Sorted by end date; on the last day, a missed earlier reminder is not sent. */
async function listDue({ clock, db }: Needed): Promise<Due[]> {
  const now = clock.now()
  const ownersEnding = async (days: 1 | 7, from: number, count: number) => {
    const found = await repo.listEnding(db, { from, to: now + days * day, days, count })
    return found.map((owner) => ({ ...owner, days }))
  }
  const lastDay = await ownersEnding(1, now, mailsPerRun)
  return [...lastDay, ...(await ownersEnding(7, now + day, mailsPerRun - lastDay.length))]
}

/** Deletes reminders of end dates long past. */
export const tidyReminders = ({ clock, db }: Pick<Ctx, 'clock' | 'db'>): Promise<void> =>
  repo.deleteEndedBefore(db, clock.now() - keptMs)
