import { system } from '../../core/actor.ts'
import { inSlices, type WriteTransaction } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { customerMailEnds } from '../customer-mails/customer-mails.ends.ts'
import { expireMails, type MailEnd, type Written } from '../mail/mail.outbox.ts'
import { isMailCurrent, noteMailEnd, queueDropped } from './orders.mail.ts'
import { eraseBodies } from './shop-events.repo.ts'

/** What the modules that queue mails about something know of them. */
export const mailEnds = {
  isCurrent: async (ctx: Pick<Ctx, 'db' | 'seal'>, mailId: string): Promise<boolean> =>
    (await isMailCurrent(ctx, mailId)) && (await customerMailEnds.isCurrent(ctx, mailId)),
  onDropped: async (write: WriteTransaction, mailId: string): Promise<void> => {
    await queueDropped(write, mailId)
    await customerMailEnds.onEnded(write, mailId, 'dropped')
  },
  onEnded: async (write: Written, mailId: string, end: MailEnd): Promise<void> => {
    await noteMailEnd(write.tx, mailId, end)
    await customerMailEnds.onEnded(write, mailId, end)
  },
}

/** Erases old bodies of events, and mails that have expired unsent, of which the orders take note. */
export async function tidyShops(ctx: Pick<Ctx, 'clock' | 'db' | 'tx'>): Promise<void> {
  const now = ctx.clock.now()
  await inSlices(ctx, system, async ({ tx }, size) => ({ found: await eraseBodies(tx, now, size) }))
  await inSlices(ctx, system, async (write, size) => {
    const ids = await expireMails(write.tx, now, size)
    for (const id of ids) await mailEnds.onEnded(write, id, 'expired')
    return { found: ids.length }
  })
}
