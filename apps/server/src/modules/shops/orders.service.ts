import { type endpoints, limits, type QueryOf, type ShopOrder } from '@keyward/contract'
import { allApps, type OwnerScope, type VendorActor } from '../../core/actor.ts'
import { toIso } from '../../core/clock.ts'
import { normalizeEmail } from '../../core/ids.ts'
import { type Page, toPagination } from '../../core/paging.ts'
import { problem } from '../../core/problem.ts'
import type { Ctx } from '../../service/ctx.ts'
import { findAppId } from '../apps/apps.access.ts'
import { linkedCustomer } from '../customers/customers.access.ts'
import { findNamedCustomer } from '../customers/faces.access.ts'
import { lockHolders } from '../entitlements/grants.ts'
import { updateLicenses } from '../entitlements/license-rows.ts'
import { readTypesByName } from '../license-types/license-types.access.ts'
import { daysOf } from '../sales/sales.days.ts'
import * as unitRepo from './order-units.repo.ts'
import { type Choice, choicesOf, type Need } from './orders.choices.ts'
import {
  findOrder,
  listUnitsOf,
  type OrderFilter,
  type OrderView,
  pageOrders,
  sumOrders,
} from './orders.list.ts'
import * as repo from './orders.repo.ts'
import { settleOrder } from './orders.settle.ts'
import { endEventsOf, wakeEventsOf } from './shop-events.repo.ts'
import { holdShop, listProductsOf, productsOf } from './shops.repo.ts'

export type OrdersQuery = Page &
  Partial<Pick<ListQuery, 'app' | 'shop' | 'state' | 'license' | 'customer' | 'search'>>

type ListQuery = QueryOf<typeof endpoints.orders.list>

export async function listOrders(ctx: Ctx, actor: OwnerScope, query: ListQuery) {
  const { customer: named, sale: kind, from, to, timeZone, currency, product, ...others } = query
  // The id of none finds none.
  const customer = named && ((await findNamedCustomer(ctx.db, actor, named)) ?? '')
  const sales = {
    ...{ kind, currency, product },
    from: from === undefined ? from : daysOf(from, from, timeZone).starts[0],
    until: to === undefined ? to : daysOf(to, to, timeZone).starts[1],
  }
  const isAny = Object.values(sales).every((value) => value === undefined)
  const wanted = { ...others, customer, ...(!isAny && { sales: { ...sales, now: ctx.clock.now() } }) }
  const page = await listOrdersFor(ctx, actor, wanted)
  return { ...page, totals: page.pagination.capped ? null : await totalsOf(ctx, actor, wanted) }
}

/** What the orders of a filter took and gave back. */
async function totalsOf(ctx: Ctx, actor: OwnerScope, { app, ...query }: Wanted) {
  const filter = { ...query, appId: await findAppId(ctx.db, actor, app) }
  const sums = await sumOrders(ctx.database.lists, actor, filter)
  return [...Map.groupBy(sums, ({ currency }) => currency)].map(([currency, own]) => {
    const [renewed, refunded] = [
      own.find(({ kind }) => kind === 'renewed'),
      own.find(({ kind }) => kind === 'refunded'),
    ]
    const sold = own.find(({ kind }) => kind === 'new')
    return {
      currency: currency || null,
      orders: sold?.orders ?? 0,
      revenue: (sold?.amount ?? 0) + (renewed?.amount ?? 0),
      ...{ refunds: refunded?.n ?? 0, refunded: refunded?.amount ?? 0 },
    }
  })
}

/** The orders of a customer for this customer: without keys that somebody else has by now. */
export const listOwnOrders = (
  ctx: Ctx,
  actor: OwnerScope,
  { customer, ...query }: Pick<OrdersQuery, 'app' | keyof Page> & { customer: string },
) => listOrdersFor(ctx, actor, { ...query, customer }, ({ customer_id: holder }) => holder === customer)

type SeesKey = (license: { customer_id: string | null }) => boolean

type Wanted = OrdersQuery & Pick<OrderFilter, 'sales'>

async function listOrdersFor(ctx: Ctx, actor: OwnerScope, { app, ...query }: Wanted, seesKey?: SeesKey) {
  const filter = { ...query, appId: await findAppId(ctx.db, actor, app) }
  const { rows, total } = await pageOrders(ctx.database.lists, actor, filter, query, limits.searchCountMax)
  return { orders: await toOrders(ctx, rows, seesKey), pagination: toPagination(query, total, true) }
}

export async function getOrder(ctx: Ctx, scope: OwnerScope, id: string): Promise<ShopOrder> {
  const row = await findOrder(ctx.db, scope, id)
  if (!row) throw problem('not_found')
  const [order] = await toOrders(ctx, [row])
  return order as ShopOrder
}

/** What an app's shops sell their products as, deleted shops too: the name of a license type, by shop and product. */
export async function listTypesSold(
  db: Ctx['db'],
  scope: OwnerScope,
  appId: string,
): Promise<(shop: string, product: string) => string | null> {
  const shops = await listProductsOf(db, scope, appId)
  const types = [...(await readTypesByName(db, appId)).values()]
  const names = new Map(types.map(({ id, name }) => [id, name]))
  const sold = new Map(shops.map((shop) => [shop.id, productsOf(shop)]))
  return (shop, product) => names.get(sold.get(shop)?.get(product)?.type ?? '') ?? null
}

/** Tries a waiting order again, at once. Partial refunds and a missing address then count as seen, and the licenses stay. */
export async function retryOrder(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  { choice, licenses }: Choice,
): Promise<ShopOrder> {
  await ctx.tx(actor, async (write) => {
    const { tx, now } = write
    const found = await findOrder(tx, actor, id)
    const shop = found && (await holdShop(tx, found.shop_id))
    if (!shop) throw problem('not_found')
    const order = await repo.lockOrder(tx, id)
    if (order.state !== 'waiting') throw problem('order_not_waiting')
    const isOffered = choice === undefined || choicesOf(order).includes(choice)
    if (!isOffered || (choice === 'end') !== (licenses !== undefined)) throw problem('order_choice_invalid')
    write.record('shop_order.retried', id, { order: order.number, choice, ids: licenses }, order.app_id)
    if (licenses) {
      const surplus = (await settleOrder(write, shop, order, { ctx }))?.surplus
      if (!surplus || !endsAll(surplus, licenses)) throw problem('order_choice_invalid')
    }
    const decided = { ctx, choice: { choice, licenses } }
    const need = await settleOrder(write, shop, await repo.lockOrder(tx, id), decided)
    if (!need) await endEventsOf(tx, id, now)
    await wakeEventsOf(tx, id, now)
    write.queues.add('shop events')
  })
  return getOrder(ctx, actor, id)
}

/** Whether these are as many licenses of each product as were given up. */
function endsAll(surplus: NonNullable<Need['surplus']>, licenses: readonly string[]): boolean {
  const isComplete = surplus.every(
    ({ ids, count }) => ids.filter((id) => licenses.includes(id)).length === count,
  )
  return isComplete && licenses.length === surplus.reduce((sum, { count }) => sum + count, 0)
}

async function toOrders(
  ctx: Ctx,
  rows: readonly OrderView[],
  seesKey: SeesKey = () => true,
): Promise<ShopOrder[]> {
  const units = await listUnitsOf(
    ctx.db,
    rows.map(({ id }) => id),
  )
  const byOrder = Map.groupBy(units, ({ order_id }) => order_id)
  return rows.map((row) => ({
    _id: row.id,
    app: { _id: row.app_id, name: row.app_name, appId: row.app_public_id },
    shop: { _id: row.shop_id, name: row.shop_name, kind: row.shop_kind },
    order: row.number,
    email: row.email,
    name: row.name,
    customer: row.customer,
    amount: row.amount,
    currency: row.currency,
    test: row.test === 1,
    lines: JSON.parse(row.lines),
    state: row.state,
    reason: row.reason,
    reasonCode: row.reason_code,
    choices: choicesOf(row),
    ...licensesOf(byOrder.get(row.id) ?? [], seesKey),
    mail: row.mail,
    mailWaitsFor: row.mail === 'waiting' ? row.mail_waits_for : null,
    createdAt: toIso(row.created_at),
  }))
}

function licensesOf(units: Awaited<ReturnType<typeof listUnitsOf>>, seesKey: SeesKey) {
  const seen = units.flatMap(({ id, key, customer_id, renewed_id }) =>
    id !== null && key !== null && seesKey({ customer_id })
      ? { isRenewed: renewed_id !== null, license: { _id: id, key } }
      : [],
  )
  return {
    licenses: seen.flatMap(({ isRenewed, license }) => (isRenewed ? [] : license)),
    renewed: seen.findLast(({ isRenewed }) => isRenewed)?.license ?? null,
    deletedLicenses: units.filter(({ id }) => id === null).length,
  }
}

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
