import { minute } from '../../core/clock.ts'
import { createSchedule } from '../../core/queues/schedule.ts'
import type { Ctx } from '../../service/ctx.ts'
import { findWaitingOwner } from '../app-mails/buyer-mails.ts'
import { releaseKeyMails } from '../licenses/licenses.mail.ts'
import { readMailTerms } from '../owners/owners.service.ts'
import { actorOf } from './hooks.service.ts'
import { queueOrderMail } from './orders.mail.ts'
import * as repo from './orders.repo.ts'

interface Options {
  onError: (error: unknown) => void
  pollMs?: number | undefined
}

/** How many orders of one vendor are looked at before the next vendor's. */
const ordersAtOnce = 50

export type WaitingMails = ReturnType<typeof createWaitingMails>

/** Queues the mails whose wait is over: of paid orders first, in the order of their arrival, then of others and of licenses. */
export const createWaitingMails = (ctx: Ctx, { onError, pollMs = minute }: Options) =>
  createSchedule((signal) => look(ctx, signal), { everyMs: pollMs, onError })

async function look(ctx: Ctx, signal: AbortSignal): Promise<undefined> {
  for (let after = ''; !signal.aborted; ) {
    const [ownerId] = [
      await findWaitingOwner(ctx.db, 'shop_orders', after),
      await findWaitingOwner(ctx.db, 'license_mails', after),
    ]
      .filter((id) => id !== undefined)
      .toSorted()
    if (ownerId === undefined) return
    await releaseMails(ctx, ownerId)
    await releaseKeyMails(ctx, ownerId)
    after = ownerId
  }
}

async function releaseMails(ctx: Ctx, ownerId: string): Promise<void> {
  if (!(await readMailTerms(ctx, ctx.db, { ownerId })).isConfirmed) return
  for (const isFree of [false, true]) {
    const full = new Set<string>()
    for (;;) {
      const found = await repo.listWaitingMails(ctx.db, ownerId, {
        isFree,
        without: [...full],
        count: ordersAtOnce,
      })
      for (const { id, shop_id } of found) {
        if (full.has(shop_id)) continue
        const waitsFor = await releaseMail(ctx, ownerId, { id, shop_id })
        if (waitsFor === 'free_orders') full.add(shop_id)
        else if (waitsFor !== null) return
      }
      if (found.length < ordersAtOnce) break
    }
  }
}

async function releaseMail(ctx: Ctx, ownerId: string, { id, shop_id }: { id: string; shop_id: string }) {
  return ctx.tx(actorOf({ id: shop_id, owner_id: ownerId }), async (write) => {
    const order = await repo.findLocked(write.tx, id)
    if (order?.mail !== 'waiting') return null
    const change = await queueOrderMail(ctx, write, order)
    if (change.mail !== 'waiting' || change.mail_waits_for !== order.mail_waits_for)
      await repo.updateOrder(write.tx, id, change)
    return change.mail_waits_for
  })
}
