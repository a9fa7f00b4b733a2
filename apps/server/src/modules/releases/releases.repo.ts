import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { type Db, inScope, type Tx } from '../../db/index.ts'
import type { ReleaseRow } from '../../db/tables.ts'

/** Newest first. The caller has checked the app's owner. */
export const listReleases = (db: Db, appId: string): Promise<ReleaseRow[]> =>
  db
    .selectFrom('releases')
    .selectAll()
    .where('app_id', '=', appId)
    .orderBy('released_at', 'desc')
    .orderBy('seq', 'desc')
    .execute()

/** When an app released a version; undefined for a version that it does not list. */
export async function findReleasedAt(db: Db, appId: string, version: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('releases')
    .select('released_at')
    .where('app_id', '=', appId)
    .where('version', '=', version)
    .executeTakeFirst()
  return row?.released_at
}

/** The version that an app released last until a time. */
export async function findLastVersion(db: Db, appId: string, until: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('releases')
    .select('version')
    .where('app_id', '=', appId)
    .where('released_at', '<=', until)
    .orderBy('released_at', 'desc')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.version
}

/** Inserts a release unless the app, which the transaction has locked, lists `max` already. */
export async function insertRelease(tx: Tx, release: Omit<ReleaseRow, 'seq'>, max: number): Promise<boolean> {
  const { rows } =
    await sql`insert into releases (id, owner_id, app_id, version, released_at, link, created_at)
    select ${release.id}, ${release.owner_id}, ${release.app_id}, ${release.version},
      cast(${release.released_at} as bigint), ${release.link}, cast(${release.created_at} as bigint)
    where (select count(*) from releases where app_id = ${release.app_id}) < cast(${max} as integer)
    returning id`.execute(tx)
  return rows.length > 0
}

export const deleteRelease = (tx: Tx, scope: OwnerScope, id: string): Promise<ReleaseRow | undefined> =>
  tx.deleteFrom('releases').where('id', '=', id).where(inScope(scope)).returningAll().executeTakeFirst()

export async function findLink(db: Db, appId: string, version: string): Promise<string | null> {
  const row = await db
    .selectFrom('releases')
    .select('link')
    .where('app_id', '=', appId)
    .where('version', '=', version)
    .executeTakeFirst()
  return row?.link ?? null
}
