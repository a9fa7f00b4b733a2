import { day, hour, minute } from '../../core/clock.ts'
import type { Ctx } from '../../core/ctx.ts'
import { MailError } from '../mail/mail.error.ts'
import type { Mailer } from '../mail/mail.service.ts'
import * as repo from './reminders.repo.ts'
import { toReminder } from './reminders.text.ts'

const mailsPerRun = 200
/** A claim without a message sent belongs to a process that has ended. */
const claimMs = 15 * minute
/** Whom the mail server refuses is not asked for at every run; the operator may mend it meanwhile. */
const refusedRestMs = 6 * hour
/** So many failures of the server in a row: it is down, the next run tries again. */
const failuresMax = 3
const keptMs = 60 * day

type Needed = Pick<Ctx, 'config' | 'clock' | 'db'>

interface Options {
  onError?: (error: unknown) => void
  /** Ends the run after the message under way. */
  signal?: AbortSignal
}

/** Mails owners whose premium ends within seven days, and again within one; each once, however many nodes do so. */
export async function sendReminders(
  ctx: Needed,
  mailer: Mailer,
  { onError = () => {}, signal }: Options = {},
): Promise<void> {
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

/** In the order of their ends; on the last day the earlier reminder is not made up for. */
async function listDue({ clock, db }: Needed): Promise<Due[]> {
  const now = clock.now()
  const stale = now - claimMs
  const within = async (days: 1 | 7, from: number, count: number) => {
    const found = await repo.listEnding(db, { from, to: now + days * day, days, stale, count })
    return found.map((owner) => ({ ...owner, days }))
  }
  const lastDay = await within(1, now, mailsPerRun)
  return [...lastDay, ...(await within(7, now + day, mailsPerRun - lastDay.length))]
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
    const rests = error instanceof MailError && error.isPermanent
    await repo.release(db, claim, claimedAt - claimMs + (rests ? refusedRestMs : 0))
    throw error
  }
  await repo.markSent(db, claim, clock.now())
}

/** Removes reminders of ends that are long past. */
export const tidyReminders = ({ clock, db }: Needed): Promise<void> =>
  repo.deleteEndedBefore(db, clock.now() - keptMs)
