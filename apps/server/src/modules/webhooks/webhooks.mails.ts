import type { PauseReason } from '@keyward/contract'
import type { WriteTransaction } from '../../db/index.ts'
import type { WebhookRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { queueMail } from '../mail/mail.queue.ts'
import { recipientOf } from '../notifications/notifications.access.ts'
import { toPausedMail } from './webhooks.text.ts'

/** Mails who saved the webhook last, or the owner where that is an API key or somebody without access, unless they turned it off. */
export async function mailPause(
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
