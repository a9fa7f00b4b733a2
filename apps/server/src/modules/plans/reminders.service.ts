import { day, hour, minute } from '../../core/clock.ts'
import type { Ctx } from '../../service/ctx.ts'
import { MailError } from '../mail/mail.error.ts'
import type { Mailer } from '../mail/mail.service.ts'
import * as repo from './reminders.repo.ts'
import { toReminder } from './reminders.text.ts'

const mailsPerRun = 200
/** An older claim without a sent message belongs to a process that died. */
const claimMs = 15 * minute
/** A rejected address is retried after this time, when the operator may have fixed the cause. */
const rejectedWaitMs = 6 * hour
/** After this many consecutive failures the mail server counts as down until the next run. */
const failuresMax = 3
const keptMs = 60 * day

type Needed = Pick<Ctx, 'config' | 'clock' | 'db'>

interface Options {
  onError?: (error: unknown) => void
  /** Ends the run after the current message. */
  signal?: AbortSignal
}

/** Mails owners seven days and one day before premium ends; each reminder once, across all nodes. */
export async function sendReminders(
  ctx: Needed,
  mailer: Mailer,
  { onError = () => {}, signal }: Options = {},
): Promise<void> {
  if (ctx.config.defaultPlan === 'premium') return
  let failures = 0
  for (const reminder of await listDue(ctx)) {
    if (signal?.aborted) return
    try {
      await remind(ctx, mailer, reminder)
      failures = 0
    } catch (error) {
      onError(error)
      failures = error instanceof MailError && error.isAboutMessage ? 0 : failures + 1
      if (failures === failuresMax) return
    }
  }
}

type Due = repo.Ending & { days: 1 | 7 }

/** Sorted by end date; on the last day, a missed earlier reminder is not sent. */
async function listDue({ clock, db }: Needed): Promise<Due[]> {
  const now = clock.now()
  const stale = now - claimMs
  const ownersEnding = async (days: 1 | 7, from: number, count: number) => {
    const found = await repo.listEnding(db, { from, to: now + days * day, days, stale, count })
    return found.map((owner) => ({ ...owner, days }))
  }
  const lastDay = await ownersEnding(1, now, mailsPerRun)
  return [...lastDay, ...(await ownersEnding(7, now + day, mailsPerRun - lastDay.length))]
}

async function remind({ config, clock, db }: Needed, mailer: Mailer, due: Due): Promise<void> {
  const claimedAt = clock.now()
  const claim = { ownerId: due.id, premiumUntil: due.premium_until, days: due.days, claimedAt }
  if (!(await repo.claim(db, claim, claimedAt - claimMs))) return
  try {
    await mailer.send(
      toReminder({
        name: due.name,
        email: due.email,
        premiumUntil: due.premium_until,
        isLastDay: due.days === 1,
        publicUrl: config.publicUrl,
      }),
    )
  } catch (error) {
    const retryLater = error instanceof MailError && error.isPermanent
    await repo.release(db, claim, claimedAt - claimMs + (retryLater ? rejectedWaitMs : 0))
    throw error
  }
  await repo.markSent(db, claim, clock.now())
}

/** Deletes reminders of end dates long past. */
export const tidyReminders = ({ clock, db }: Needed): Promise<void> =>
  repo.deleteEndedBefore(db, clock.now() - keptMs)
