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

export const findRelease = (db: Db, scope: OwnerScope, id: string): Promise<ReleaseRow | undefined> =>
  db.selectFrom('releases').selectAll().where('id', '=', id).where(inScope(scope)).executeTakeFirst()

export type NewRelease = Omit<ReleaseRow, 'seq'>

export const insertRelease = (tx: Tx, release: NewRelease): Promise<unknown> =>
  tx.insertInto('releases').values(release).execute()

export type ReleaseChange = Partial<Omit<ReleaseRow, 'seq' | 'id' | 'owner_id' | 'app_id' | 'created_at'>>

export const updateRelease = (
  tx: Tx,
  scope: OwnerScope,
  id: string,
  change: ReleaseChange,
): Promise<unknown> =>
  tx.updateTable('releases').set(change).where('id', '=', id).where(inScope(scope)).execute()

/** The stable versions that are not withdrawn and were released before a time. */
export async function listStable(tx: Tx, appId: string, before: number): Promise<string[]> {
  const rows = await tx
    .selectFrom('releases')
    .select('version')
    .where('app_id', '=', appId)
    .where('channel', '=', 'stable')
    .where('withdrawn_at', 'is', null)
    .where('released_at', '<', before)
    .execute()
  return rows.map(({ version }) => version)
}

/** How many releases an app lists, with removed fixes, and what they take. It is exact while the app is locked. */
export async function measure(tx: Tx, appId: string): Promise<{ count: number; bytes: number }> {
  const listed = await tx
    .selectFrom('releases')
    .where('app_id', '=', appId)
    .select((eb) => [eb.fn.countAll<number>().as('n'), eb.fn.sum<number | null>('bytes').as('bytes')])
    .executeTakeFirstOrThrow()
  const { n } = await tx
    .selectFrom('removed_fixes')
    .where('app_id', '=', appId)
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return { count: Number(listed.n) + Number(n), bytes: Number(listed.bytes) }
}

/** Remembers the fix of a removed version. */
export const keepFix = (
  tx: Tx,
  fix: { app_id: string; version: string; security: string },
): Promise<unknown> => tx.insertInto('removed_fixes').values(fix).execute()

/** Forgets the fix of a version that is listed again, and returns it. */
export async function takeFix(tx: Tx, appId: string, version: string): Promise<string | undefined> {
  const fix = await tx
    .deleteFrom('removed_fixes')
    .where('app_id', '=', appId)
    .where('version', '=', version)
    .returning('security')
    .executeTakeFirst()
  return fix?.security
}

export const deleteRelease = (tx: Tx, scope: OwnerScope, id: string): Promise<unknown> =>
  tx.deleteFrom('releases').where('id', '=', id).where(inScope(scope)).execute()

export async function findLink(db: Db, appId: string, version: string): Promise<string | null> {
  const row = await db
    .selectFrom('releases')
    .select('link')
    .where('app_id', '=', appId)
    .where('version', '=', version)
    .where('withdrawn_at', 'is', null)
    .executeTakeFirst()
  return row?.link ?? null
}
