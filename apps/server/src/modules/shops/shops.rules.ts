import type { Shop, ShopProduct } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { toIso, toIsoOrNull } from '../../core/clock.ts'
import type { Seal } from '../../core/crypto.ts'
import { adapters } from './shops.adapters.ts'
import type { ShopView } from './shops.repo.ts'
import { hookSecretOf } from './shops.secrets.ts'

type Product = Required<ShopProduct>

/** What a shop maps its products to, by their names. */
export const productsOf = ({ products }: { products: string }): ReadonlyMap<string, Product> =>
  new Map((JSON.parse(products) as Product[]).map((one) => [one.product, one]))

export const toStoredProducts = (products: readonly ShopProduct[]): string =>
  JSON.stringify(products.map(({ product, type, quantity = 1 }) => ({ product, type, quantity })))

type ShownRow = Omit<ShopView, 'seq' | 'secret_sealed' | 'api_key_sealed' | 'deleted_at'>

/** Who sees a shop. */
type Reader = Pick<VendorActor, 'permissions'>

/** The path that a shop sends its events to. With a secret in it, only those see it who may read secrets. */
function hookOf(seal: Seal, { permissions }: Reader, { id, kind }: Pick<ShownRow, 'id' | 'kind'>) {
  const path = `/api/hooks/${id}`
  if (!adapters[kind].hasSecretHook) return path
  return permissions.has('secrets:read') ? `${path}.${hookSecretOf(seal, id)}` : null
}

export const toShop = (seal: Seal, reader: Reader, row: ShownRow): Shop => ({
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
