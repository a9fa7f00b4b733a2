import { randomBytes } from 'node:crypto'
import { limits, type ShopProduct } from '@keyward/contract'
import { type Insertable, sql, type Updateable } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import type { Seal } from '../../core/crypto.ts'
import { type Db, inScope, lock, type Tx } from '../../db/index.ts'
import type { ShopRow, Tables } from '../../db/tables.ts'
import type { LostKey, LostKeyReport } from '../description.ts'

/** A shop with its app, when it sent something last, and how many events wait, up to the number that is shown. */
export interface ShopView extends ShopRow {
  app_name: string
  app_public_id: string
  last_event_at: number | null
  waiting: number
}

type Product = Required<ShopProduct>

/** What a shop maps its products to, by their names. */
export const productsOf = ({ products }: { products: string }): ReadonlyMap<string, Product> =>
  new Map((JSON.parse(products) as Product[]).map((one) => [one.product, one]))

export const toStoredProducts = (products: readonly ShopProduct[]): string =>
  JSON.stringify(products.map(({ product, type, quantity = 1 }) => ({ product, type, quantity })))

export const shopSecretContext = (id: string) => `shop secret ${id}`
export const shopKeyContext = (id: string) => `shop api key ${id}`

export const sealSecret = (seal: Seal, id: string, secret: string): string =>
  seal.seal(secret, shopSecretContext(id))

/** What a shop signs with; undefined once it is deleted. */
export const secretOf = (
  seal: Seal,
  { id, secret_sealed }: Pick<ShopRow, 'id' | 'secret_sealed'>,
): string | undefined =>
  secret_sealed === null ? undefined : seal.open(secret_sealed, shopSecretContext(id))

export const sealApiKey = (seal: Seal, id: string, apiKey: string): string =>
  seal.seal(apiKey, shopKeyContext(id))

export const apiKeyOf = (
  seal: Seal,
  { id, api_key_sealed }: Pick<ShopRow, 'id' | 'api_key_sealed'>,
): string | undefined => (api_key_sealed === null ? undefined : seal.open(api_key_sealed, shopKeyContext(id)))

const hookSecretLength = 32

/** What the address of a shop ends with that signs nothing. */
export const hookSecretOf = (seal: Seal, id: string): string =>
  seal.digest(`shop hook ${id}`).slice(0, hookSecretLength)

const views = (db: Db) =>
  db
    .selectFrom('shops as s')
    .innerJoin('apps as a', 'a.id', 's.app_id')
    .selectAll('s')
    .select(['a.name as app_name', 'a.app_id as app_public_id'])
    .select([
      sql<number | null>`(select max(e.received_at) from shop_events e where e.shop_id = s.id)`.as(
        'last_event_at',
      ),
      sql<number>`(select count(*) from (select 1 from shop_events e where e.shop_id = s.id and e.state = 'waiting'
        limit ${sql.lit(limits.shopWaitingShown)}) waiting)`.as('waiting'),
    ])
    .where('s.deleted_at', 'is', null)

/** The shops of an app that the caller has found within its scope. */
export const listShops = (db: Db, scope: OwnerScope, appId: string): Promise<ShopView[]> =>
  views(db)
    .where('s.app_id', '=', appId)
    .where(inScope(scope, 's'))
    .orderBy('s.seq')
    .limit(limits.shopsMax)
    .execute()

export const findShopView = (db: Db, scope: OwnerScope, id: string): Promise<ShopView | undefined> =>
  views(db).where('s.id', '=', id).where(inScope(scope, 's')).executeTakeFirst()

/** What the shops of an app sell, those that were deleted too. */
export const listProductsOf = (
  db: Db,
  scope: OwnerScope,
  appId: string,
): Promise<Pick<ShopRow, 'id' | 'products'>[]> =>
  db
    .selectFrom('shops as s')
    .select(['s.id', 's.products'])
    .where('s.app_id', '=', appId)
    .where(inScope(scope, 's'))
    .orderBy('s.seq', 'desc')
    .limit(limits.customerPartsMax)
    .execute()

/** Locks a shop until the transaction ends. */
export const lockShop = (tx: Tx, scope: OwnerScope, id: string): Promise<ShopRow | undefined> =>
  lock(
    tx,
    tx
      .selectFrom('shops')
      .selectAll()
      .where('id', '=', id)
      .where(inScope(scope))
      .where('deleted_at', 'is', null),
  ).executeTakeFirst()

/** The shop behind an address. Takes no scope: the caller checks the shop's signature. */
export const findShopOfHook = (db: Db, id: string): Promise<ShopRow | undefined> =>
  db.selectFrom('shops').selectAll().where('id', '=', id).where('deleted_at', 'is', null).executeTakeFirst()

/**
 * The shop of an event, with what it maps products to: no edit is saved before the transaction ends. Takes no scope: it
 * belongs to the event.
 */
export const holdShop = (tx: Tx, id: string): Promise<ShopRow | undefined> =>
  lock.shared(tx, tx.selectFrom('shops').selectAll().where('id', '=', id)).executeTakeFirst()

/** False if the app has as many shops as it can have; the caller has locked the app. */
export async function insertShop(tx: Tx, row: Insertable<Tables['shops']>): Promise<boolean> {
  const { n } = await tx
    .selectFrom('shops')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('app_id', '=', row.app_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (Number(n) >= limits.shopsMax) return false
  await tx.insertInto('shops').values(row).execute()
  return true
}

/** The caller has found the shop within the scope of its actor. */
export async function updateShop(tx: Tx, id: string, change: Updateable<Tables['shops']>): Promise<void> {
  await tx.updateTable('shops').set(change).where('id', '=', id).execute()
}

/** Pauses all shops, and removes what a lost secret key sealed, also of mails that waited. */
export async function loseKey({ tx, seal }: LostKey): Promise<Pick<LostKeyReport, 'shops'>> {
  // A random secret until the vendor types the real one; nobody knows it.
  const placeholder = randomBytes(32).toString('hex') + seal.fingerprint
  const rows = await tx
    .selectFrom('shops')
    .select(['id', 'name', 'owner_id'])
    .where('secret_sealed', 'is not', null)
    .execute()
  for (const { id } of rows) {
    await tx
      .updateTable('shops')
      .set({
        secret_sealed: seal.seal(placeholder, shopSecretContext(id)),
        active: 0,
      })
      .where('id', '=', id)
      .execute()
  }
  await tx.updateTable('shops').set({ api_key_sealed: null }).execute()
  // What arrived waits until the shop goes on.
  await tx.updateTable('shop_events').set({ due_at: null }).where('state', '=', 'waiting').execute()
  await tx.updateTable('shop_orders').set({ mail: 'failed' }).where('mail', '=', 'queued').execute()
  return { shops: rows.map(({ owner_id, ...shop }) => ({ ...shop, vendor: owner_id })) }
}
