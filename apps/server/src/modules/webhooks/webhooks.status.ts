import { day } from '../../core/clock.ts'
import type { Db } from '../../db/index.ts'
import type { QueueState } from '../../service/queue-state.ts'
import { countDeliveries } from './deliveries.repo.ts'

/** Deliveries of all vendors' webhooks, as the operator sees them. */
export async function readWebhookQueue(db: Db, now: number): Promise<QueueState> {
  const { waiting, oldest, failing, givenUp } = await countDeliveries(db, now - day)
  return { queue: 'webhooks', waiting, waitingSince: oldest, failing, failedLastDay: givenUp }
}
