import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { fixedQuery } from '../../db/fixed-query.ts'
import { type Database, type Db, locked, needsLocks, readTogether, type Tx } from '../../db/open.ts'
import type { AppRow } from '../../db/tables.ts'

/** An app is identified by its `_id` or its 8-character `appId`. */
const nameColumn = (idOrAppId: string): 'id' | 'app_id' => (idOrAppId.startsWith('app_') ? 'id' : 'app_id')

export const findApp = (db: Db, scope: OwnerScope, idOrAppId: string): Promise<AppRow | undefined> =>
  db
    .selectFrom('apps')
    .selectAll()
    .where('owner_id', '=', scope.ownerId)
    .where(nameColumn(idOrAppId), '=', idOrAppId)
    .executeTakeFirst()

/** What issuing licenses needs of an app. */
export type IssuingApp = Pick<AppRow, 'id' | 'app_id' | 'name' | 'allow_custom_keys'>

export const findIssuingApp = (
  db: Db,
  scope: OwnerScope,
  idOrAppId: string,
): Promise<IssuingApp | undefined> =>
  issuingBy[nameColumn(idOrAppId)].first(db, { ownerId: scope.ownerId, idOrAppId })

const issuing = (column: 'id' | 'app_id') =>
  fixedQuery((db, values: { ownerId: string; idOrAppId: string }) =>
    db
      .selectFrom('apps')
      .select(['id', 'app_id', 'name', 'allow_custom_keys'])
      .where('owner_id', '=', values.ownerId)
      .where(column, '=', values.idOrAppId),
  )
const issuingBy = { id: issuing('id'), app_id: issuing('app_id') }

const appOf = (tx: Tx, scope: OwnerScope, id: string) =>
  tx.selectFrom('apps').select('id').where('id', '=', id).where('owner_id', '=', scope.ownerId)

/** Locks an app until the transaction ends; false if it is not the owner's. */
export async function lockApp(tx: Tx, scope: OwnerScope, id: string): Promise<boolean> {
  return (await locked(tx, appOf(tx, scope, id)).executeTakeFirst()) !== undefined
}

/** The newest apps of an owner. */
export const listAppRefs = (db: Db, scope: OwnerScope) =>
  db
    .selectFrom('apps')
    .select(['id as _id', 'name', 'app_id as appId'])
    .where('owner_id', '=', scope.ownerId)
    .orderBy('seq', 'desc')
    .limit(limits.pageSizeMax)
    .execute()

/**
 * Locks the app's count and returns whether `count` more licenses fit below `max`. End users with remaining time and no
 * stored license count too, and so do activation files without a stored license: they would bypass the limit.
 */
export async function reserveLicenses(
  tx: Tx,
  scope: OwnerScope,
  appId: string,
  count: number,
  max: number,
  now: number,
): Promise<boolean> {
  if (max < 0) return lockApp(tx, scope, appId)
  const fitting = appOf(tx, scope, appId)
    .where('license_count', '<=', max - count)
    .where(sql<boolean>`license_count + ${unlicensed(appId, max, now)} <= ${max - count}`)
  // Lock in a separate statement: a statement that waits for a lock on PostgreSQL counts the rows as of its start.
  const lock = needsLocks(tx) ? [locked(tx, appOf(tx, scope, appId))] : []
  const found = await readTogether(
    tx,
    [...lock, fitting].map((query) => query.compile()),
  )
  return found.at(-1)?.length === 1
}

/** Counts licenses that do not exist yet, so that their places stay free for them; a negative `count` releases them. */
export async function holdPlaces(tx: Tx, scope: OwnerScope, appId: string, count: number): Promise<void> {
  await tx
    .updateTable('apps')
    .set({ license_count: sql`license_count + ${count}` })
    .where('id', '=', appId)
    .where('owner_id', '=', scope.ownerId)
    .execute()
}

const ofNoLicense = sql`not exists (select 1 from licenses l where l.client_id = c.id)`

/**
 * Activation files that run outside of a stored license: of end users without one, of devices that were freed, and of
 * end users that were deleted. Each is counted up to `count`.
 */
const looseFiles = (appId: string, count: number, now: number) => sql`
  select 1 from (
    select 1 from clients c where c.app_id = ${appId} and c.license_id is null and c.activation_until > ${now}
      and c.expires_at <= ${now} and ${ofNoLicense}
    limit ${sql.lit(count)}
  ) without_license union all select 1 from (
    select 1 from offline_activations f where f.app_id = ${appId} and f.device_id is null and f.ended_by is null
      and f.until > ${now} and exists (select 1 from licenses l where l.client_id = f.client_id)
    limit ${sql.lit(count)}
  ) of_freed union all select 1 from (
    select 1 from deleted_files d where d.app_id = ${appId} and d.expires_at > ${now} limit ${sql.lit(count)}
  ) of_deleted`

/** End users with remaining time and no stored license, and files outside of one; each is counted up to `max` + 1. */
const unlicensed = (appId: string, max: number, now: number) => sql<number>`(
  select count(*) from (
    select 1 from (
      select 1 from clients c where c.app_id = ${appId} and c.license_id is null and c.expires_at > ${now}
        and ${ofNoLicense}
      limit ${sql.lit(max + 1)}
    ) with_time union all ${looseFiles(appId, max + 1, now)}
  ) found)`

/** Whether an app of a limited plan may make another activation file. */
export async function hasRoomForFile(tx: Tx, appId: string, max: number, now: number): Promise<boolean> {
  if (max < 0) return true
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from (${looseFiles(appId, max, now)}) found`.execute(tx)
  return Number(rows[0]?.n) < max
}

/** How many more licenses, or end users without one, fit into an app of a limited plan. */
export async function readFreePlaces(
  db: Db,
  app: Pick<AppRow, 'id' | 'license_count'>,
  max: number,
  now: number,
): Promise<number> {
  const { rows } = await sql<{ n: number }>`select ${unlicensed(app.id, max, now)} as n`.execute(db)
  return max - app.license_count - Number(rows[0]?.n)
}

export async function deleteApp(tx: Tx, scope: OwnerScope, id: string): Promise<boolean> {
  const deleted = await tx
    .deleteFrom('apps')
    .where('owner_id', '=', scope.ownerId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  return deleted !== undefined
}

export async function countResellers({ lists }: Database, scope: OwnerScope, appId: string): Promise<number> {
  const { n } = await lists
    .selectFrom('resellers')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('owner_id', '=', scope.ownerId)
    .where('app_id', '=', appId)
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** Makes every node read the app's block list again, and locks the app's row. */
export async function bumpBlockVersion(tx: Tx, scope: OwnerScope, appId: string): Promise<void> {
  await tx
    .updateTable('apps')
    .set({ block_version: sql`block_version + 1` })
    .where('id', '=', appId)
    .where('owner_id', '=', scope.ownerId)
    .execute()
}

/** The SDKs that the programs of an app name. The caller has checked the app's owner. */
export async function listSdks(db: Db, appId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('app_sdks')
    .select('sdk')
    .where('app_id', '=', appId)
    .orderBy('sdk')
    .execute()
  return rows.map((row) => row.sdk)
}

const leftovers = {
  client_sessions: 'id',
  resellers: 'id',
  trial_marks: 'app_id, mark',
  deleted_files: 'id',
  blocklist: 'id',
  activity: 'seq',
  license_counts: 'app_id, bucket, used, banned',
  license_blocks: 'app_id, block, used, banned',
  client_counts: 'app_id, bucket, banned',
  client_blocks: 'app_id, block, banned',
  license_places: 'app_id, place, block, used, banned',
  client_places: 'app_id, place, block, banned',
  daily_counts: 'app_id, metric, day',
} as const

/** Tables in which a deleted app leaves many rows; a cascade would delete them all in one statement. */
export const leftoverTables = Object.keys(leftovers) as (keyof typeof leftovers)[]

/**
 * Deletes up to `count` rows of an app that is being deleted and returns how many. The caller has checked that the
 * app is the owner's.
 */
export async function deleteLeftovers(
  tx: Tx,
  appId: string,
  table: keyof typeof leftovers,
  count: number,
): Promise<number> {
  const [name, key] = [sql.raw(table), sql.raw(leftovers[table])]
  const { rows } = await sql`delete from ${name}
    where (${key}) in (select ${key} from ${name} where app_id = ${appId} limit ${count})
    returning app_id`.execute(tx)
  return rows.length
}
