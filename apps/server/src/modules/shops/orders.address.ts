import { allApps, type VendorActor } from '../../core/actor.ts'
import { normalizeEmail } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import type { Ctx } from '../../service/ctx.ts'
import { linkedCustomer } from '../customers/customers.access.ts'
import { lockHolders } from '../entitlements/grants.ts'
import { updateLicenses } from '../entitlements/license-rows.ts'
import * as unitRepo from './order-units.repo.ts'
import { findOrder } from './orders.list.ts'
import * as repo from './orders.repo.ts'
import { settleOrder } from './orders.settle.ts'
import { endEventsOf } from './shop-events.repo.ts'
import { holdShop } from './shops.repo.ts'

/** Gives an order that has no customer the buyer's address: its licenses go to that customer, who gets the keys by mail. */
export async function addressOrder(ctx: Ctx, actor: VendorActor, id: string, email: string): Promise<void> {
  await ctx.tx(actor, async (write) => {
    const { tx, now } = write
    const found = await findOrder(tx, actor, id)
    const shop = found && (await holdShop(tx, found.shop_id))
    if (!shop) throw problem('not_found')
    const order = await repo.lockOrder(tx, id)
    if (order.customer_id !== null) throw problem('order_has_customer')
    if (order.test === 1) throw problem('order_without_mail')
    const customer_id = (await linkedCustomer(write, actor, email, order.app_id)) ?? null
    const buyer = { email, email_normalized: normalizeEmail(email), customer_id, mailless: 0 as const }
    await repo.updateOrder(tx, id, buyer)
    const units = await unitRepo.listUnits(tx, id)
    const licenses = units.flatMap(({ license_id }) => license_id ?? [])
    const holders = await lockHolders(tx, allApps(order.owner_id), { licenses })
    const free = holders.flatMap(({ license }) => (license?.customer_id === null ? license : []))
    const freed = free.map((license) => license.id)
    if (freed.length > 0) await updateLicenses(tx, actor, freed, { customer_id })
    const objects = [...freed, ...(customer_id === null ? [] : [customer_id])]
    write.recordWith(objects, 'shop_order.addressed', id, { order: order.number }, order.app_id)
    // One that did not wait mails its keys too.
    const state = order.state === 'fulfilled' ? 'waiting' : order.state
    const need = await settleOrder(write, shop, { ...order, ...buyer, state }, { ctx })
    if (!need) await endEventsOf(tx, id, now)
  })
}
