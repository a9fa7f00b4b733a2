import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { normalizeEmail } from '../../core/ids.ts'
import { inScope, inSlices, type Tx, type WriteTransaction } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { withdrawMails } from '../mail/mail.queue.ts'
import type { OrderFact } from './orders.facts.ts'
import { withoutBuyer, withPlainTexts } from './orders.rules.ts'
import { listUnread, replaceBody } from './shop-events.repo.ts'
import { adapters } from './shops.adapters.ts'

interface Buyer {
  /** The id of the customer. */
  id: string
  /** Normalized; orders of the customer may have an earlier one. */
  email: string
}

/** Removes the buyer from up to `count` orders, and from their events; returns how many. */
export async function forgetBuyer(
  write: WriteTransaction,
  scope: OwnerScope,
  { id: customerId, email }: Buyer,
  count: number,
): Promise<number> {
  const { tx } = write
  const orders = await tx
    .selectFrom('shop_orders')
    .select('id')
    .where(inScope(scope))
    .where((eb) => eb.or([eb('email_normalized', '=', email), eb('customer_id', '=', customerId)]))
    .limit(count)
    .execute()
  const buyer = { email: null, email_normalized: null, name: null, locale: null, customer_id: null }
  for (const { id } of orders) {
    await withdrawMails(write, id)
    await tx
      .updateTable('shop_orders')
      .set({ ...buyer, mail: 'none' })
      .where('id', '=', id)
      .where(inScope(scope))
      .execute()
    await forgetInEvents(tx, scope, id)
  }
  return orders.length
}

/** What an event told is read again when the next one arrives. */
async function forgetInEvents(tx: Tx, scope: OwnerScope, orderId: string): Promise<void> {
  const events = await tx
    .selectFrom('shop_events')
    .select(['seq', 'fact'])
    .where('order_id', '=', orderId)
    .where('fact', 'is not', null)
    .execute()
  for (const { seq, fact } of events) {
    const told = withoutBuyer(JSON.parse(fact ?? '{}') as OrderFact)
    await tx
      .updateTable('shop_events')
      .set({ fact: JSON.stringify(told), body: null })
      .where('seq', '=', seq)
      .where(inScope(scope))
      .execute()
  }
}

/** Removes a buyer from events that no order has used yet. What is read back from its shop later names the buyer again. */
export async function forgetWaiting(ctx: Ctx, actor: VendorActor, email: string): Promise<void> {
  const shops = await ctx.db
    .selectFrom('shops')
    .select(['id', 'kind'])
    .where('owner_id', '=', actor.ownerId)
    .execute()
  for (const { id, kind } of shops) {
    await inSlices(ctx, actor, async ({ tx }, count, after = 0) => {
      const events = await listUnread(tx, id, { after, count })
      let changed = 0
      for (const { seq, body, sent_at } of events) {
        const told = adapters[kind].read(body ?? '', sent_at)
        if (!told || 'ask' in told) continue
        const fact = withPlainTexts(told)
        if (fact.kind !== 'paid' || normalizeEmail(fact.email ?? '') !== email) continue
        await replaceBody(tx, seq, JSON.stringify(withoutBuyer(fact)))
        changed += 1
      }
      return { found: events.length, changed, mark: events.at(-1)?.seq ?? after }
    })
  }
}
