import { limits, type PauseReason } from '@keyward/contract'
import type { SystemActor } from '../../core/actor.ts'
import type { Tx } from '../../db/index.ts'
import type { WebhookRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import * as deliveries from './deliveries.repo.ts'
import { mailPause } from './webhooks.mails.ts'
import { findMaker } from './webhooks.makers.ts'
import { lockWebhook, updateWebhook } from './webhooks.repo.ts'
import { giveUpAll } from './webhooks.service.ts'

export interface PauseParts {
  ctx: Ctx
  consoleUrl: () => string
}

/** Pauses a webhook, and records and tells it once; unless the reason has gone meanwhile. */
export async function pauseWebhook(
  parts: PauseParts,
  { id, owner_id }: Pick<WebhookRow, 'id' | 'owner_id'>,
  reason: PauseReason,
): Promise<void> {
  const server: SystemActor = { kind: 'system', ownerId: owner_id }
  await parts.ctx.tx(server, async (write) => {
    const hook = await lockWebhook(write.tx, { ownerId: owner_id }, id)
    if (!hook || hook.active === 0 || !(await hasReason[reason](write.tx, hook, write.now))) return
    await updateWebhook(write.tx, id, { active: 0, pause_reason: reason })
    write.record('webhook.paused', id, { reason })
    await mailPause(parts, write, hook, reason)
  })
  await giveUpAll(parts.ctx, id)
}

type Check = (tx: Tx, hook: WebhookRow, now: number) => boolean | Promise<boolean>

const hasReason: Record<PauseReason, Check> = {
  failing: (_tx, hook) => hook.failing_since !== null,
  maker_gone: async (tx, hook, now) => !(await findMaker(tx, hook, now)),
  full: (tx, { id }) => deliveries.isFull(tx, id, limits.webhookWaitingMax),
}

const hooksAtOnce = 100

/** Pauses the webhooks for which too many events wait: a receiver that is slow or down would fill the disk. */
export async function pauseFullWebhooks(parts: PauseParts): Promise<void> {
  let after: string | undefined = ''
  while (after !== undefined) {
    const page: Awaited<ReturnType<typeof deliveries.listFull>> = await deliveries.listFull(parts.ctx.db, {
      ...{ after, count: hooksAtOnce, most: limits.webhookWaitingMax },
    })
    for (const hook of page.rows) await pauseWebhook(parts, hook, 'full')
    after = page.next
  }
}
