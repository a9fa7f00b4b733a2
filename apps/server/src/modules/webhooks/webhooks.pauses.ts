import { limits, type PauseReason } from '@keyward/contract'
import type { SystemActor } from '../../core/actor.ts'
import type { Tx, WriteTransaction } from '../../db/index.ts'
import type { WebhookRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { queueMail } from '../mail/mail.queue.ts'
import type { Mail } from '../mail/mail.service.ts'
import { composeMail } from '../mail/mail.text.ts'
import { recipientOf } from '../notifications/notifications.access.ts'
import { quoted } from '../notifications/notifications.text.ts'
import * as deliveries from './deliveries.repo.ts'
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

/** Mails who saved the webhook last, or the owner where that is an API key or somebody without access, unless they turned it off. */
async function mailPause(
  { ctx, consoleUrl }: { ctx: Pick<Ctx, 'seal'>; consoleUrl: () => string },
  write: WriteTransaction,
  hook: WebhookRow,
  reason: PauseReason,
): Promise<void> {
  const owner = await write.tx
    .selectFrom('owners')
    .select('account_id')
    .where('id', '=', hook.owner_id)
    .executeTakeFirst()
  const isPerson = hook.maker_kind === 'person' && reason !== 'maker_gone'
  const accountId = isPerson ? hook.maker_id : owner?.account_id
  if (accountId === undefined) return
  const account = await recipientOf(write.tx, { ownerId: hook.owner_id, accountId }, 'webhookFailing')
  if (!account) return
  await queueMail(ctx, write, {
    ...toPausedMail({
      ...{ to: account.email, origin: hook.origin, reason, link: `${consoleUrl()}/settings/integrations` },
      offLink: `${consoleUrl()}/settings/notifications`,
    }),
    ownerId: hook.owner_id,
    accountId,
  })
}

const causes: Record<PauseReason, string> = {
  failing: `The server at this address has failed for ${limits.webhookRetryDays} days.`,
  maker_gone: 'The person or API key that saved the webhook last has no access any more.',
  full: `More than ${limits.webhookWaitingMax.toLocaleString('en-US')} events waited for it.`,
}

/** It names the origin alone: the path can hold a token. */
const toPausedMail = (paused: {
  to: string
  origin: string
  reason: PauseReason
  link: string
  /** Where the reader turns such mails off. */
  offLink: string
}): Mail =>
  composeMail({
    to: paused.to,
    subject: 'A webhook is paused',
    paragraphs: [
      'Hello,',
      `Keyward no longer sends events to ${quoted(paused.origin)}.`,
      `${causes[paused.reason]} Events that waited were given up.`,
      { before: 'Check the webhook and resume it at', link: paused.link },
      'You get this message because “Failing webhooks” is on for you in Keyward.',
      { before: 'Turn it off at', link: paused.offLink },
    ],
  })
