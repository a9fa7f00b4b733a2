import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import { type OwnerScope, sees } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import { appInScope, type Database, type Db, inScope, lock, prepared, type Tx } from '../../db/index.ts'
import type { AppRow, SigningKeyRow } from '../../db/tables.ts'

/** An app is identified by its `_id` or its 8-character `appId`. */
const nameColumn = (idOrAppId: string): 'id' | 'app_id' => (idOrAppId.startsWith('app_') ? 'id' : 'app_id')

export const findApp = (db: Db, scope: OwnerScope, idOrAppId: string): Promise<AppRow | undefined> =>
  db
    .selectFrom('apps')
    .selectAll()
    .where(appInScope(scope))
    .where(nameColumn(idOrAppId), '=', idOrAppId)
    .executeTakeFirst()

/** Finds an app of this owner by `_id` or `appId`; 404 if there is none. */
export async function getApp(db: Db, scope: OwnerScope, idOrAppId: string): Promise<AppRow> {
  const app = await findApp(db, scope, idOrAppId)
  if (!app) throw problem('not_found')
  return app
}

/** Resolves the app of a filter to its id; undefined without a filter, 404 if there is no such app. */
export const findAppId = async (
  db: Db,
  scope: OwnerScope,
  idOrAppId: string | undefined,
): Promise<string | undefined> =>
  idOrAppId === undefined ? undefined : (await getApp(db, scope, idOrAppId)).id

/** The ids of apps by `_id` or `appId`; undefined if one is missing. */
export async function findAppIds(
  db: Db,
  scope: OwnerScope,
  names: readonly string[],
): Promise<string[] | undefined> {
  const rows = await db
    .selectFrom('apps')
    .select(['id', 'app_id'])
    .where(appInScope(scope))
    .where((eb) => eb.or([eb('id', 'in', names), eb('app_id', 'in', names)]))
    .execute()
  const known = new Map(rows.flatMap(({ id, app_id }) => [[id, id] as const, [app_id, id] as const]))
  const ids = names.map((name) => known.get(name))
  return ids.every((id) => id !== undefined) ? [...new Set(ids)] : undefined
}

/** What issuing licenses needs of an app. */
export type IssuingApp = Pick<AppRow, 'id' | 'app_id' | 'name' | 'allow_custom_keys'>

export const findIssuingApp = async (
  db: Db,
  scope: OwnerScope,
  idOrAppId: string,
): Promise<IssuingApp | undefined> => {
  const app = await issuingBy[nameColumn(idOrAppId)].first(db, { ownerId: scope.ownerId, idOrAppId })
  return app && sees(scope, app.id) ? app : undefined
}

const issuing = (column: 'id' | 'app_id') =>
  prepared((db, values: { ownerId: string; idOrAppId: string }) =>
    db
      .selectFrom('apps')
      .select(['id', 'app_id', 'name', 'allow_custom_keys'])
      .where('owner_id', '=', values.ownerId)
      .where(column, '=', values.idOrAppId),
  )
const issuingBy = { id: issuing('id'), app_id: issuing('app_id') }

const appOf = (tx: Tx, scope: OwnerScope, id: string) =>
  tx.selectFrom('apps').select('id').where('id', '=', id).where(appInScope(scope))

/** Locks an app until the transaction ends; false if it is not the owner's. */
export async function lockApp(tx: Tx, scope: OwnerScope, id: string): Promise<boolean> {
  return (await lock(tx, appOf(tx, scope, id)).executeTakeFirst()) !== undefined
}

/** Locks apps, named by `_id` or `appId`, and returns their ids; undefined if one of them is not the owner's. */
export async function lockApps(
  tx: Tx,
  scope: OwnerScope,
  idsOrAppIds: readonly string[],
): Promise<string[] | undefined> {
  const ids: string[] = []
  for (const column of ['id', 'app_id'] as const) {
    const names = idsOrAppIds.filter((name) => nameColumn(name) === column)
    if (names.length === 0) continue
    const named = tx.selectFrom('apps').select('id').where(appInScope(scope))
    ids.push(...(await named.where(column, 'in', names).execute()).map(({ id }) => id))
  }
  if (ids.length < idsOrAppIds.length) return undefined
  const locked = await lock.all(tx, tx.selectFrom('apps').select('id').where('id', 'in', ids)).execute()
  return locked.length < new Set(ids).size ? undefined : locked.map(({ id }) => id).toSorted()
}

/** The newest apps of an owner. */
export const listAppRefs = (db: Db, scope: OwnerScope) =>
  db
    .selectFrom('apps')
    .select(['id as _id', 'name', 'app_id as appId'])
    .where(appInScope(scope))
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
  await lock.ahead(tx, () => lock(tx, appOf(tx, scope, appId)))
  return (await fitting.executeTakeFirst()) !== undefined
}

/** Counts licenses that do not exist yet, so that their places stay free for them; a negative `count` releases them. */
export async function holdPlaces(tx: Tx, scope: OwnerScope, appId: string, count: number): Promise<void> {
  await tx
    .updateTable('apps')
    .set({ license_count: sql`license_count + ${count}` })
    .where('id', '=', appId)
    .where(appInScope(scope))
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
    .where(appInScope(scope))
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  return deleted !== undefined
}

export async function countResellers({ lists }: Database, scope: OwnerScope, appId: string): Promise<number> {
  const { n } = await lists
    .selectFrom('resellers')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where(inScope(scope))
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
    .where(appInScope(scope))
    .execute()
}

/** Makes every node read the app's releases again. */
export const bumpReleasesVersion = (tx: Tx, scope: OwnerScope, appId: string) =>
  tx
    .updateTable('apps')
    .set({ releases_version: sql`releases_version + 1` })
    .where('id', '=', appId)
    .where(appInScope(scope))
    .execute()

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

/** Remembers an SDK that programs of an app name, unless it is known or the app has `max` already. */
export async function insertSdk(
  tx: Tx,
  row: { app_id: string; sdk: string; first_seen_at: number },
  max: number,
): Promise<void> {
  const hasRoom = async () => {
    const rows = await tx.selectFrom('app_sdks').select('sdk').where('app_id', '=', row.app_id).execute()
    return rows.length < max && rows.every(({ sdk }) => sdk !== row.sdk)
  }
  if (!(await hasRoom())) return
  // Locks the app, so that the count holds until the commit.
  const app = await lock(
    tx,
    tx.selectFrom('apps').select('id').where('id', '=', row.app_id),
  ).executeTakeFirst()
  if (app && (await hasRoom())) await tx.insertInto('app_sdks').values(row).execute()
}

export async function noteInitWithoutSdk(tx: Tx, appId: string, now: number): Promise<void> {
  await tx
    .updateTable('apps')
    .set({ sdkless_init_at: now })
    .where('id', '=', appId)
    .where((eb) => eb.or([eb('sdkless_init_at', 'is', null), eb('sdkless_init_at', '<', now)]))
    .execute()
}

/** Locks the app until the transaction ends and announces a change of its keys; undefined if there is no such app. */
export const lockKeys = (tx: Tx, scope: OwnerScope, appId: string): Promise<AppRow | undefined> =>
  tx
    .updateTable('apps')
    .set({ signing_version: sql`signing_version + 1` })
    .where(appInScope(scope))
    .where('id', '=', appId)
    .returningAll()
    .executeTakeFirst()

/** Sets the key that signs for programs that name none. */
export const setUsualKey = (tx: Tx, scope: OwnerScope, appId: string, key: SigningKeyRow) =>
  tx
    .updateTable('apps')
    .set({ signing_kid: key.kid, signing_public: key.public_key, signing_sealed: key.sealed })
    .where(appInScope(scope))
    .where('id', '=', appId)
    .execute()

/** Locks the app from here on and names the revision; false if it is not the owner's. */
export async function setVariablesRevisionOfApp(
  tx: Tx,
  scope: OwnerScope,
  appId: string,
  revision: string | null,
): Promise<boolean> {
  const app = await tx
    .updateTable('apps')
    .set({ variables_revision: revision })
    .where('id', '=', appId)
    .where(appInScope(scope))
    .returning('id')
    .executeTakeFirst()
  return app !== undefined
}

/** Notes whether a license type of the app, which the caller has locked, has links: only then a sign-in reads them. */
export async function noteTypeLinks(tx: Tx, scope: OwnerScope, id: string, has: boolean): Promise<void> {
  const type_links = has ? 1 : 0
  await tx
    .updateTable('apps')
    .set({ type_links })
    .where('id', '=', id)
    .where(appInScope(scope))
    .where('type_links', '!=', type_links)
    .execute()
}
