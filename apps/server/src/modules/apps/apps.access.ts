import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import type { OwnerScope } from '../../core/ctx.ts'
import type { Db, Tx } from '../../db/open.ts'
import type { AppRow } from '../../db/tables.ts'

/** Apps are named by `_id` or by their 8-character `appId`. */
const nameColumn = (idOrAppId: string): 'id' | 'app_id' => (idOrAppId.startsWith('app_') ? 'id' : 'app_id')

export const findApp = (db: Db, scope: OwnerScope, idOrAppId: string): Promise<AppRow | undefined> =>
  db
    .selectFrom('apps')
    .selectAll()
    .where('owner_id', '=', scope.ownerId)
    .where(nameColumn(idOrAppId), '=', idOrAppId)
    .executeTakeFirst()

/** The newest apps. */
export const listAppRefs = (db: Db, scope: OwnerScope) =>
  db
    .selectFrom('apps')
    .select(['id as _id', 'name', 'app_id as appId'])
    .where('owner_id', '=', scope.ownerId)
    .orderBy('seq', 'desc')
    .limit(limits.pageSizeMax)
    .execute()

/**
 * Locks the app's count and returns whether `count` more licenses fit below `max`. End users with remaining time
 * and no stored license count as licenses, or a limited plan would not be one.
 */
export async function reserveLicenses(
  tx: Tx,
  scope: OwnerScope,
  appId: string,
  count: number,
  max: number,
  now: number,
): Promise<boolean> {
  const lock = tx
    .updateTable('apps')
    .set({ license_count: sql`license_count` })
    .where('id', '=', appId)
    .where('owner_id', '=', scope.ownerId)
    .returning('id')
  if (max < 0) return (await lock.executeTakeFirst()) !== undefined
  const guarded = lock
    .where('license_count', '<=', max - count)
    .where(sql<boolean>`license_count + ${unlicensed(appId, max, now)} <= ${max - count}`)
  // Locked by a statement of its own: PostgreSQL counts what was there when a statement began to wait for the lock.
  return (await lock.executeTakeFirst()) !== undefined && (await guarded.executeTakeFirst()) !== undefined
}

/** End users with remaining time and no stored license, counted no further than just past `max`. */
const unlicensed = (appId: string, max: number, now: number) => sql<number>`(
  select count(*) from (
    select 1 from clients c where c.app_id = ${appId} and c.license_id is null and c.expires_at > ${now}
      and not exists (select 1 from licenses l where l.client_id = c.id)
    limit ${sql.lit(max + 1)}
  ) found)`

/** How many licenses, or end users without one, still fit into an app of a limited plan. */
export async function readFreePlaces(
  db: Db,
  app: Pick<AppRow, 'id' | 'license_count'>,
  max: number,
  now: number,
): Promise<number> {
  const { rows } = await sql<{ n: number }>`select ${unlicensed(app.id, max, now)} as n`.execute(db)
  return max - app.license_count - Number(rows[0]?.n)
}
