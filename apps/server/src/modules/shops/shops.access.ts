import { system } from '../../core/actor.ts'
import { inSlices } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { expireMails } from '../mail/mail.outbox.ts'
import { isMailCurrent, noteMailEnd } from './orders.mail.ts'
import { eraseBodies } from './shop-events.repo.ts'

export { isMailCurrent, noteMailEnd }

/** Erases old bodies of events, and mails that have expired unsent, of which the orders take note. */
export async function tidyShops(ctx: Pick<Ctx, 'clock' | 'db' | 'tx'>): Promise<void> {
  const now = ctx.clock.now()
  await inSlices(ctx, system, async ({ tx }, size) => ({ found: await eraseBodies(tx, now, size) }))
  await inSlices(ctx, system, async ({ tx }, size) => {
    const ids = await expireMails(tx, now, size)
    for (const id of ids) await noteMailEnd(tx, id, false)
    return { found: ids.length }
  })
}
