import { system } from '../../core/actor.ts'
import { hour, minute, second } from '../../core/clock.ts'
import { oneAtATime } from '../../core/one-at-a-time.ts'
import type { OrderRow } from '../../db/tables.ts'
import { type Payments, requireProvider } from './payments.ctx.ts'
import { lookAtAll } from './payments.look.ts'
import * as repo from './payments.repo.ts'
import { nextCheck } from './payments.rules.ts'
import { giveBack } from './payments.service.ts'
import { settle } from './payments.settle.ts'

/** How often orders are looked for whose time has come. */
const intervalMs = minute
/** What was under way when the server ended is not left waiting. */
const afterStartMs = 2 * second
/** A node that looks at an order has so long to do it before another one does. */
const claimMs = 5 * minute
const atOnce = 20

/**
 * Asks the provider about orders of which news may have been lost: payments that nobody told of, refunds that are due
 * or were made elsewhere. What fails is tried again later.
 */
export async function reconcile(payments: Payments, signal?: AbortSignal): Promise<void> {
  const provider = requireProvider(payments)
  const { ctx, onError } = payments
  for (;;) {
    const now = ctx.clock.now()
    const due = await ctx.tx(system, ({ tx }) =>
      repo.claimDueOrders(tx, provider.name, { now, until: now + claimMs, count: atOnce }),
    )
    for (const order of due) {
      if (signal?.aborted) return
      try {
        await settle(payments, order.id, lookAtAll(provider))
        await giveBack(payments, provider, order.id)
      } catch (error) {
        onError(error)
        await postpone(payments, order)
      }
    }
    if (due.length < atOnce) return
  }
}

/** An order that the provider does not know, of other keys maybe, is not asked about for ever. */
async function postpone({ ctx }: Payments, order: OrderRow): Promise<void> {
  const now = ctx.clock.now()
  const next = nextCheck(order, await repo.summarize(ctx.db, order.id), now)
  await repo.postponeOrder(ctx.db, order, next && Math.min(next, now + hour))
}

/** Reconciles soon after the start, and now and then until the returned function is called. */
export function startReconciler(payments: Payments): () => Promise<void> {
  if (!payments.provider) return async () => {}
  const stopping = new AbortController()
  const reconciling = oneAtATime(() => reconcile(payments, stopping.signal).catch(payments.onError))
  const first = setTimeout(reconciling.start, afterStartMs)
  const timer = setInterval(reconciling.start, intervalMs)
  first.unref()
  timer.unref()
  return async () => {
    clearTimeout(first)
    clearInterval(timer)
    stopping.abort()
    await reconciling.ended()
  }
}
