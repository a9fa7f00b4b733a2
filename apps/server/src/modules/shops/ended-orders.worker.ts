import { system } from '../../core/actor.ts'
import { minute } from '../../core/clock.ts'
import { schedule } from '../../core/queues/schedule.ts'
import { inSlices } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { actorOf } from './hooks.service.ts'
import * as repo from './orders.repo.ts'
import { settleOrder } from './orders.settle.ts'
import { holdShop } from './shops.repo.ts'

interface Options {
  onError: (error: unknown) => void
  pollMs?: number | undefined
}

const ordersAtOnce = 100

/** Looks at orders when what they paid ends: a license may stay for ever then, which no event tells. */
export const watchEnds = (ctx: Ctx, { onError, pollMs = minute }: Options): (() => Promise<void>) =>
  schedule((signal) => lookAtEnded(ctx, { onError, signal }), { everyMs: pollMs, onError })

async function lookAtEnded(
  ctx: Ctx,
  { onError, signal }: { onError: Options['onError']; signal: AbortSignal },
): Promise<void> {
  const now = ctx.clock.now()
  if (!(await repo.hasEnded(ctx.db, now))) return
  await inSlices(ctx, system, async ({ tx }, size) => ({
    found: signal.aborted ? 0 : await repo.passEnds(tx, now, size),
  }))
  for (let after = 0; !signal.aborted; ) {
    const found = await repo.listEnded(ctx.db, { now, after, count: ordersAtOnce })
    for (const order of found) {
      if (signal.aborted) return
      await settleAgain(ctx, order).catch(onError)
      after = Number(order.seq)
    }
    if (found.length < ordersAtOnce) return
  }
}

async function settleAgain(ctx: Ctx, { id, shop_id, owner_id }: repo.EndedOrder): Promise<void> {
  await ctx.tx(actorOf({ id: shop_id, owner_id }), async (write) => {
    const shop = await holdShop(write.tx, shop_id)
    const order = shop && (await repo.findLocked(write.tx, id))
    if (order && order.ends_at !== null && order.ends_at <= write.now)
      await settleOrder(write, shop, order, { ctx })
  })
}
