import { type DeliveredName, type Delivery, type DeliveryState, limits, testEvent } from '@keyward/contract'
import { sees, toAuditColumns, type VendorActor } from '../../core/actor.ts'
import { toIso, toIsoOrNull } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { type Page, toPagination } from '../../core/paging.ts'
import { problem } from '../../core/problem.ts'
import type { DeliveryRow, WebhookRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import * as repo from './deliveries.repo.ts'
import { mayReadEvent } from './webhooks.makers.ts'
import { lockWebhook } from './webhooks.repo.ts'
import { getWebhook } from './webhooks.service.ts'

/** The log of a webhook. Callers with some apps see the events of these apps, and tests. */
export async function listDeliveries(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  query: Page & { state?: DeliveryState | undefined },
) {
  await getWebhook(ctx.db, actor, id)
  const { rows, total } = await repo.pageDeliveries(
    ctx.database,
    { webhookId: id, apps: actor.apps },
    query,
    limits.searchCountMax,
  )
  return { deliveries: rows.map(toDelivery), pagination: toPagination(query, total, true) }
}

/** A delivery with its last exchange, which only callers see who may read the event. */
export async function getDelivery(ctx: Ctx, actor: VendorActor, id: string, deliveryId: string) {
  await getWebhook(ctx.db, actor, id)
  const row = await repo.findDelivery(ctx.db, id, deliveryId)
  if (!row || !isShown(actor, row)) throw problem('not_found')
  const event = { event: row.event as DeliveredName, appId: row.app_id }
  const { request, response } = mayReadEvent(actor, event) ? row : { request: null, response: null }
  return { ...toDelivery(row), error: row.error, request, response }
}

/** Sends an event that says nothing, to try a receiver. */
export async function testWebhook(ctx: Ctx, actor: VendorActor, id: string): Promise<Delivery> {
  return ctx.tx(actor, async (write) => {
    refusePaused(await getWebhook(write.tx, actor, id, lockWebhook))
    const { actor_kind, actor_id } = toAuditColumns(actor)
    const event_id = newId('evt')
    const row = {
      webhook_id: id,
      owner_id: actor.ownerId,
      event_id,
      event: testEvent,
      // It waits for no other event.
      subject: event_id,
      target_id: id,
      app_id: null,
      actor_kind,
      actor_id,
      detail: null,
      happened_at: write.now,
      due_at: write.now,
      expires_at: write.now + repo.keptMs,
    }
    await repo.insertDelivery(write.tx, row)
    write.record('webhook.tested', id, { delivery: row.event_id })
    write.queues.add('webhooks')
    return toDelivery({ ...row, state: 'waiting', attempts: 0, status: null, duration_ms: null })
  })
}

/** Sends a delivery again, also one that has arrived. */
export async function retryDelivery(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  deliveryId: string,
): Promise<Delivery> {
  return ctx.tx(actor, async (write) => {
    refusePaused(await getWebhook(write.tx, actor, id, lockWebhook))
    const found = await repo.findDelivery(write.tx, id, deliveryId)
    if (!found || !isShown(actor, found)) throw problem('not_found')
    const row = await repo.retryDelivery(write.tx, id, deliveryId, write.now)
    if (!row) throw problem('not_found')
    write.record('webhook.delivery_retried', id, { delivery: deliveryId })
    write.queues.add('webhooks')
    return toDelivery(row)
  })
}

function refusePaused({ active }: Pick<WebhookRow, 'active'>): void {
  if (active === 0) throw problem('webhook_paused')
}

const isShown = (actor: VendorActor, { event, app_id }: DeliveryRow): boolean =>
  event === testEvent || sees(actor, app_id)

type ShownRow = Pick<
  DeliveryRow,
  'event_id' | 'event' | 'state' | 'attempts' | 'status' | 'duration_ms' | 'due_at' | 'happened_at'
>

const toDelivery = (row: ShownRow): Delivery => ({
  _id: row.event_id,
  event: row.event,
  state: row.state,
  attempts: row.attempts,
  status: row.status,
  durationMs: row.duration_ms,
  nextAt: toIsoOrNull(row.due_at),
  at: toIso(row.happened_at),
})
