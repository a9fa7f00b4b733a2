import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import type { OfOwner, OwnerScope } from '../../core/actor.ts'
import { day } from '../../core/clock.ts'
import { type Db, inScope } from '../../db/index.ts'

const most = limits.attentionMax

export async function countWaitingOrders(db: Db, scope: OwnerScope): Promise<number> {
  const orders = db.selectFrom('shop_orders as o').select('o.seq').where(inScope(scope, 'o'))
  return (await orders.where('o.state', '=', 'waiting').limit(most).execute()).length
}

/** Webhooks that the server paused. */
export const listPausedWebhooks = (db: Db, { ownerId }: OfOwner) =>
  db
    .selectFrom('webhooks')
    .select(['id', 'origin'])
    .where('owner_id', '=', ownerId)
    .where('active', '=', 0)
    .where('pause_reason', 'is not', null)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .limit(most)
    .execute()

/** Active resellers who have used 90 % of what they may generate. */
export const listFullResellers = (db: Db, scope: OwnerScope) =>
  db
    .selectFrom('resellers as r')
    .select(['r.id', 'r.email', 'r.license_count', 'r.allowed_license_keys'])
    .where(inScope(scope, 'r'))
    .where('r.active', '=', 1)
    .where('r.allowed_license_keys', '>', 0)
    .where(sql<boolean>`r.license_count * 10 >= r.allowed_license_keys * 9`)
    .orderBy('r.seq')
    .limit(most)
    .execute()

/** API keys that end soon, or have ended lately. */
export const listEndingKeys = (db: Db, { ownerId }: OfOwner, now: number) =>
  db
    .selectFrom('api_keys')
    .select(['id', 'name', 'expires_at'])
    .where('owner_id', '=', ownerId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now - 7 * day)
    .where('expires_at', '<=', now + 14 * day)
    .orderBy('expires_at')
    .limit(most)
    .execute()

/** Refusals of each app by day, since a day. */
export const listRefusals = (db: Db, scope: OwnerScope, firstDay: number) =>
  db
    .selectFrom('daily_counts as d')
    .innerJoin('apps as a', 'a.id', 'd.app_id')
    .select(['a.id', 'a.name', 'a.app_id', 'd.day', 'd.n'])
    .where(inScope(scope, 'd'))
    .where('d.metric', '=', 'refusals')
    .where('d.day', '>=', firstDay)
    .orderBy('a.seq')
    .execute()

export async function isOnlyVendor(db: Db): Promise<boolean> {
  return (await db.selectFrom('owners').select('id').limit(2).execute()).length === 1
}
