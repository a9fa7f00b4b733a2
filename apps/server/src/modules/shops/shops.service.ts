import { randomUUID } from 'node:crypto'
import type { BodyOf, endpoints, Shop, ShopKind, ShopProduct } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { toIso, toIsoOrNull } from '../../core/clock.ts'
import type { Seal } from '../../core/crypto.ts'
import { newId } from '../../core/ids.ts'
import { invalid, problem } from '../../core/problem.ts'
import { inSlices, type Tx } from '../../db/index.ts'
import type { ShopRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { findApp, lockApp } from '../apps/apps.access.ts'
import { readTypesByName } from '../license-types/license-types.access.ts'
import { storeEvent } from './hooks.service.ts'
import type { OrderFact } from './orders.facts.ts'
import { setDueOfShop } from './shop-events.repo.ts'
import { adapters } from './shops.adapters.ts'
import * as repo from './shops.repo.ts'

type ShownRow = Omit<repo.ShopView, 'seq' | 'secret_sealed' | 'api_key_sealed' | 'deleted_at'>

/** The path that a shop sends its events to. With a secret in it, only those see it who may read secrets. */
function hookOf(seal: Seal, { permissions }: VendorActor, { id, kind }: Pick<ShownRow, 'id' | 'kind'>) {
  const path = `/api/hooks/${id}`
  if (!adapters[kind].hasSecretHook) return path
  return permissions.has('secrets:read') ? `${path}.${repo.hookSecretOf(seal, id)}` : null
}

const toShop = (seal: Seal, reader: VendorActor, row: ShownRow): Shop => ({
  _id: row.id,
  app: { _id: row.app_id, name: row.app_name, appId: row.app_public_id },
  kind: row.kind,
  name: row.name,
  products: JSON.parse(row.products),
  hook: hookOf(seal, reader, row),
  active: row.active === 1,
  lastEventAt: toIsoOrNull(row.last_event_at),
  waiting: Number(row.waiting),
  createdAt: toIso(row.created_at),
})

export async function listShops(ctx: Ctx, actor: VendorActor, app: string): Promise<Shop[]> {
  const found = await findApp(ctx.db, actor, app)
  if (!found) throw problem('not_found')
  return (await repo.listShops(ctx.db, actor, found.id)).map((row) => toShop(ctx.seal, actor, row))
}

export async function getShop(ctx: Ctx, actor: VendorActor, id: string): Promise<Shop> {
  const row = await repo.findShopView(ctx.db, actor, id)
  if (!row) throw problem('not_found')
  return toShop(ctx.seal, actor, row)
}

export type NewShop = BodyOf<typeof endpoints.shops.create>

export async function createShop(ctx: Ctx, actor: VendorActor, app: string, wanted: NewShop): Promise<Shop> {
  const { kind, name, secret, apiKey, products } = wanted
  if (adapters[kind].needsApiKey && apiKey === undefined) throw invalid('apiKey', 'API key is required')
  checkSecret(kind, secret)
  const id = newId('shp')
  const row = await ctx.tx(actor, async (write) => {
    const { tx } = write
    const found = await findApp(tx, actor, app)
    if (!found || !(await lockApp(tx, actor, found.id))) throw problem('not_found')
    await checkProducts(tx, found.id, products)
    const row = {
      id,
      owner_id: actor.ownerId,
      app_id: found.id,
      kind,
      name,
      secret_sealed: repo.sealSecret(ctx.seal, id, secret),
      api_key_sealed: apiKey === undefined ? null : repo.sealApiKey(ctx.seal, id, apiKey),
      products: repo.toStoredProducts(products),
      created_at: write.now,
    }
    if (!(await repo.insertShop(tx, row))) throw problem('shops_full')
    write.record('shop.created', id, { name, kind }, found.id)
    const { owner_id, app_id, created_at } = row
    const shown = { id, owner_id, app_id, kind, name, products: row.products, created_at }
    return { ...shown, app_name: found.name, app_public_id: found.app_id }
  })
  return toShop(ctx.seal, actor, { ...row, active: 1, last_event_at: null, waiting: 0 })
}

export type ShopChange = BodyOf<typeof endpoints.shops.update>

export async function updateShop(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  wanted: ShopChange,
): Promise<Shop> {
  const { name, secret, apiKey, products } = wanted
  const isActive = await ctx.tx(actor, async (write) => {
    const { tx } = write
    const before = await getLocked(tx, actor, id)
    if (secret !== undefined) checkSecret(before.kind, secret)
    if (products) await checkProducts(tx, before.app_id, products)
    const active = wanted.active === undefined ? before.active : wanted.active ? 1 : 0
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(secret === undefined ? {} : { secret_sealed: repo.sealSecret(ctx.seal, id, secret) }),
      ...(apiKey === undefined ? {} : { api_key_sealed: repo.sealApiKey(ctx.seal, id, apiKey) }),
      ...(products ? { products: repo.toStoredProducts(products) } : {}),
      active,
    } as const
    await repo.updateShop(tx, id, change)
    const after = { ...before, ...change }
    write.record('shop.updated', id, { before: toRecorded(before), after: toRecorded(after) }, before.app_id)
    return active === 1
  })
  if (products || apiKey !== undefined || wanted.active !== undefined) await setDue(ctx, actor, id, isActive)
  return getShop(ctx, actor, id)
}

/** Its orders keep its name; what was not used yet is not used any more. */
export async function deleteShop(ctx: Ctx, actor: VendorActor, id: string): Promise<void> {
  await ctx.tx(actor, async (write) => {
    const { name, app_id } = await getLocked(write.tx, actor, id)
    const erased = { secret_sealed: null, api_key_sealed: null }
    await repo.updateShop(write.tx, id, { ...erased, active: 0, deleted_at: write.now })
    write.record('shop.deleted', id, { name }, app_id)
  })
  await setDue(ctx, actor, id, false)
}

/** Returns the number of the order that arrives. */
export async function testShop(ctx: Ctx, actor: VendorActor, id: string): Promise<string> {
  return ctx.tx(actor, async (write) => {
    const shop = await getLocked(write.tx, actor, id)
    if (shop.active === 0) throw problem('shop_paused')
    const [product = 'test product'] = repo.productsOf(shop).keys()
    const order = `test-${randomUUID()}`
    const fact: OrderFact = {
      order,
      at: write.now,
      kind: 'paid',
      email: 'test@example.com',
      name: 'Test buyer',
      amount: null,
      currency: null,
      test: true,
      lines: [{ product, quantity: 1 }],
    }
    await storeEvent(write, shop, { id: order, at: write.now, body: null, fact: JSON.stringify(fact) })
    write.record('shop.tested', id, { order }, shop.app_id)
    return order
  })
}

async function getLocked(tx: Tx, actor: VendorActor, id: string): Promise<ShopRow> {
  const shop = await repo.lockShop(tx, actor, id)
  if (!shop) throw problem('not_found')
  return shop
}

/** Lets the waiting events of a shop be used now, or no more. */
async function setDue(ctx: Ctx, actor: VendorActor, id: string, isActive: boolean): Promise<void> {
  await inSlices(ctx, actor, async (write, size) => {
    const dueAt = isActive ? write.now : null
    const found = await setDueOfShop(write.tx, id, { dueAt, count: size })
    write.queues.add('shop events')
    return { found }
  })
}

function checkSecret(kind: ShopKind, secret: string): void {
  const fault = adapters[kind].findFault(secret)
  if (fault !== undefined) throw invalid('secret', fault)
}

/** The types are those of the app, which the caller has found within the scope of its actor. */
async function checkProducts(tx: Tx, appId: string, products: readonly ShopProduct[]): Promise<void> {
  const types = new Set([...(await readTypesByName(tx, appId)).values()].map(({ id }) => id))
  const at = products.findIndex(({ type }) => type !== null && !types.has(type))
  if (at >= 0) throw invalid(`products.${at}.type`, 'The app has no such license type')
}

const toRecorded = (row: Pick<ShopRow, 'name' | 'products' | 'active'>) => ({
  name: row.name,
  products: (JSON.parse(row.products) as unknown[]).length,
  active: row.active === 1,
})
