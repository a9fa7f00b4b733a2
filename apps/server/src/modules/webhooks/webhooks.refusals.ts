import { sql } from 'kysely'
import { minute } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import { isIn, type Tx, wants } from '../../db/index.ts'
import type { ActivityRow } from '../../db/tables.ts'
import { insertDelivery, keptMs } from './deliveries.repo.ts'

/** A refusal as the activity log stores it. */
export type Refusal = Omit<ActivityRow, 'seq'>

const event = 'program.refused'

/**
 * Queues refusals for the webhooks that want them, at most once a minute per end user and code, also if several nodes note
 * them: the minute is a part of the event's id. Callers who name no end user of the app cause no event.
 */
export async function queueRefusals(tx: Tx, rows: readonly Refusal[]): Promise<void> {
  const refusals = rows.filter(({ kind, client_id }) => kind === 'refused' && client_id !== null)
  if (refusals.length === 0) return
  const hooks = await tx
    .selectFrom('webhooks as w')
    .select(['w.id', 'w.owner_id', 'w.apps'])
    .where(isIn(tx, 'w.owner_id', [...new Set(refusals.map(({ owner_id }) => owner_id))]))
    .where('w.deleted_at', 'is', null)
    .where('w.active', '=', 1)
    .where(wants(sql`${event}`))
    .execute()
  for (const hook of hooks) {
    for (const refusal of refusals) {
      const isWanted = hook.apps === null || (JSON.parse(hook.apps) as string[]).includes(refusal.app_id)
      if (refusal.owner_id === hook.owner_id && isWanted) await queueRefusal(tx, hook.id, refusal)
    }
  }
}

async function queueRefusal(tx: Tx, webhookId: string, refusal: Refusal): Promise<void> {
  const { client_id: client, code, call, app_id, reference, created_at: at } = refusal
  const ofMinute = (which: number) => `evt_${sha256(JSON.stringify([client, code, which])).slice(0, 32)}`
  const which = Math.floor(at / minute)
  const before = await tx
    .selectFrom('webhook_deliveries')
    .select('seq')
    .where('webhook_id', '=', webhookId)
    .where('event_id', '=', ofMinute(which - 1))
    .where('happened_at', '>', at - minute)
    .executeTakeFirst()
  if (before) return
  await insertDelivery(tx, {
    webhook_id: webhookId,
    owner_id: refusal.owner_id,
    event_id: ofMinute(which),
    event,
    subject: client ?? app_id,
    target_id: client,
    app_id,
    actor_kind: 'program',
    actor_id: app_id,
    detail: JSON.stringify({ code, call, reference }),
    happened_at: at,
    due_at: at,
    expires_at: at + keptMs,
  })
}
