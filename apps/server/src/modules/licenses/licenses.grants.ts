import { type AddedRights, type Grant, limits } from '@keyward/contract'
import type { OwnerScope } from '../../core/actor.ts'
import { toIso, toIsoOrNull } from '../../core/clock.ts'
import { type Db, isIn } from '../../db/index.ts'
import { never } from '../../db/stored-end.ts'
import type { GrantRow } from '../../db/tables.ts'
import { firstUseEnd } from '../entitlements/access.rules.ts'
import { baseOf, type Holder, readHolders } from '../entitlements/grants.ts'
import type { Which } from '../entitlements/license-rows.ts'
import { rightsEnd, toOwnRights } from '../entitlements/terms.rules.ts'
import { hintOf } from './licenses.rules.ts'

/** What was granted, newest first, and what added keys allow until when. Undefined without such a license or end user. */
export async function readGranted(
  db: Db,
  scope: OwnerScope,
  which: Which,
  now: number,
): Promise<{ grants: Grant[]; rights: AddedRights[] } | undefined> {
  const [holder] = await readHolders(db, scope, which)
  if (!holder) return undefined
  const stored = holder.grants.toReversed().slice(0, limits.grantsMax)
  const shown = stored.length === 0 ? [{ ...baseOf(holder), id: holder.id }] : stored
  const names = await namesOf(db, shown)
  const order = await orderOf(db, holder)
  const grants = shown.map((grant): Grant => {
    const { source_kind: kind, source_id: id } = grant
    const isOwn = kind === 'key' && grant.kind === 'term'
    const source = { kind, _id: id, name: names.get(id ?? '') ?? null }
    return {
      _id: grant.id,
      kind: grant.kind,
      amount: grant.kind === 'period' ? 0 : grant.moved_ms,
      from: toIso(grant.at),
      until: toIsoOrNull(untilOf(grant, holder)),
      source: isOwn && order ? { kind: 'order', _id: order.id, name: order.number } : source,
      withdrawnAt: toIsoOrNull(grant.withdrawn_at),
    }
  })
  return { grants, rights: rightsNow(holder, now) }
}

function untilOf(
  { kind, until, rights_until, terms }: Pick<GrantRow, 'kind' | 'until' | 'rights_until' | 'terms'>,
  { license }: Holder,
): number | null {
  if (kind === 'time') return rights_until
  if (kind !== 'term' || until !== null || terms === null) return until
  const end = firstUseEnd(JSON.parse(terms), license?.started_at ?? null)
  return end === never ? null : end
}

const rightsNow = ({ access: { rights, paused_at } }: Holder, now: number): AddedRights[] =>
  rights
    .filter((one) => rightsEnd(one) > (paused_at ?? now))
    .map((one) => ({ license: one.license, ...toOwnRights(one, paused_at, now) }))

/** The names of what grants come from, by its ids. */
async function namesOf(
  db: Db,
  grants: readonly { source_id: string | null }[],
): Promise<Map<string, string>> {
  const ids = [...new Set(grants.flatMap(({ source_id }) => source_id ?? []))]
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('licenses')
    .select(['id', 'key as name'])
    .where(isIn(db, 'id', ids))
    .unionAll(
      db
        .selectFrom('shop_orders')
        .select(['id', 'number as name'])
        .where(isIn(db, 'id', ids)),
    )
    .unionAll(
      db
        .selectFrom('accounts')
        .select(['id', 'name'])
        .where(isIn(db, 'id', ids)),
    )
    .unionAll(
      db
        .selectFrom('api_keys')
        .select(['id', 'name'])
        .where(isIn(db, 'id', ids)),
    )
    .execute()
  return new Map(rows.map(({ id, name }) => [id, id.startsWith('lic_') ? hintOf(name) : name]))
}

/** The order that made the license of a holder. */
const orderOf = (db: Db, { license }: Holder) =>
  db
    .selectFrom('shop_order_units as u')
    .innerJoin('shop_orders as o', 'o.id', 'u.order_id')
    .select(['o.id', 'o.number'])
    .where('u.license_id', '=', license?.id ?? '')
    .limit(1)
    .executeTakeFirst()
