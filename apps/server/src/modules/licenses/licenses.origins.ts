import { meets, type VendorActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import { type Db, inScope } from '../../db/index.ts'
import type { ListFilter, ListQuery } from '../../db/lists/list-filters.ts'
import { findAppId } from '../apps/apps.access.ts'

type Filters<Status extends string> = Pick<ListQuery<Status>, 'app' | 'status' | 'type' | 'reseller'>

/** The filter that a query means. An app, type or reseller outside of the scope is not found. */
export async function toListFilter<Status extends string>(
  db: Db,
  actor: VendorActor,
  { app, status, type, reseller }: Filters<Status>,
  now: number,
): Promise<ListFilter<Status>> {
  if (reseller !== undefined && !meets(actor, 'resellers:read')) throw problem('permission_missing')
  const appId = await findAppId(db, actor, app)
  if (type === undefined && reseller === undefined) return { scope: actor, appId, status, now }
  const ofType = type === undefined ? undefined : await appOf(db, actor, 'license_types', type)
  const ofReseller = reseller === undefined ? undefined : await appOf(db, actor, 'resellers', reseller)
  const [only, ...others] = new Set([appId, ofType, ofReseller].filter((one) => one !== undefined))
  // A type and a reseller belong to one app each: with two apps, nothing matches.
  const origin = others.length > 0 ? ofNoType : { typeId: type, resellerId: reseller }
  return { scope: actor, appId: only, status, origin, now }
}

const ofNoType = { typeId: '', resellerId: undefined }

const missing = { license_types: 'License type not found', resellers: 'Reseller not found' }

async function appOf(
  db: Db,
  actor: VendorActor,
  table: 'license_types' | 'resellers',
  id: string,
): Promise<string> {
  const row = await db
    .selectFrom(table)
    .select('app_id')
    .where('id', '=', id)
    .where(inScope(actor))
    .executeTakeFirst()
  if (!row) throw problem('not_found', { message: missing[table] })
  return row.app_id
}
