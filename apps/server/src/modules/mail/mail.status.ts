import { day } from '../../core/clock.ts'
import type { Db } from '../../db/index.ts'
import type { QueueState } from '../../service/queue-state.ts'
import { keptMs } from './mail.outbox.ts'
import * as repo from './mail.queue.ts'

/** Mails of all vendors, as the operator sees them. */
export async function readMailQueue(db: Db, now: number): Promise<QueueState> {
  const { waiting, oldest, failing, failed, expired } = await repo.countMails(db, {
    now,
    since: now + keptMs - day,
  })
  return { queue: 'mails', waiting, waitingSince: oldest, failing, failedLastDay: failed + expired }
}
