import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { OfOwner, OwnerScope } from '../../core/actor.ts'
import { orderOf, type Page } from '../../core/paging.ts'
import { appInScope, type Database, type Db, lock, lowerCase, type Tx } from '../../db/index.ts'
import { seqsOfPage } from '../../db/lists/pages.ts'
import { anywhere } from '../../db/lists/search.ts'
import type { AppRow } from '../../db/tables.ts'
import type { SettingColumns } from './apps.settings.ts'

/** A page of the apps that match the search, newest first, and their total. */
export async function pageApps(
  database: Database,
  scope: OwnerScope,
  { search, ...page }: Page & { search: string | undefined },
): Promise<{ rows: AppRow[]; total: number }> {
  const { db, lists, counts } = database
  let mine = (search === undefined ? counts : lists).selectFrom('apps').where(appInScope(scope))
  if (search !== undefined) {
    // Names have no index, so the owner's apps are scanned; a thread of its own may do that.
    mine = mine.where(({ or, eb }) =>
      or([
        sql<SqlBool>`${lowerCase(lists, 'name')} like ${anywhere(search)} escape '\\'`,
        eb('app_id', '=', search.toUpperCase()),
        eb('id', '=', search),
      ]),
    )
  }
  const count = () => mine.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  const total = search === undefined ? await countApps(db, scope) : (await count()).n
  return { rows: await listBySeq(db, scope, await seqsOfPage(mine, page, total)), total }
}

async function listBySeq(db: Db, scope: OwnerScope, seqs: readonly number[]): Promise<AppRow[]> {
  if (seqs.length === 0) return []
  return db
    .selectFrom('apps')
    .selectAll()
    .where('seq', 'in', seqs)
    .where(appInScope(scope))
    .orderBy('seq', orderOf.newest)
    .execute()
}

export async function countApps(db: Db, scope: OwnerScope): Promise<number> {
  if (scope.apps !== null) {
    const some = db.selectFrom('apps').select((eb) => eb.fn.countAll<number>().as('n'))
    return Number((await some.where(appInScope(scope)).executeTakeFirstOrThrow()).n)
  }
  const owner = await db
    .selectFrom('owners')
    .select('app_count')
    .where('id', '=', scope.ownerId)
    .executeTakeFirstOrThrow()
  return owner.app_count
}

/** Locks the owner's count and returns whether one more app fits below `max`; the insert's trigger counts it. */
export async function reserveApp(tx: Tx, scope: OfOwner, max: number): Promise<boolean> {
  const owner = tx.selectFrom('owners').select('app_count').where('id', '=', scope.ownerId)
  const { app_count } = await lock(tx, owner).executeTakeFirstOrThrow()
  return max < 0 || app_count < max
}

/** Reads an app and locks the row until the transaction ends. */
export const lockApp = (tx: Tx, scope: OwnerScope, id: string): Promise<AppRow> =>
  lock(
    tx,
    tx.selectFrom('apps').selectAll().where('id', '=', id).where(appInScope(scope)),
  ).executeTakeFirstOrThrow()

type NewApp = Pick<
  AppRow,
  | 'id'
  | 'owner_id'
  | 'app_id'
  | 'name'
  | 'secret_sealed'
  | 'secret_hash'
  | 'signing_kid'
  | 'signing_public'
  | 'signing_sealed'
  | 'version'
  | 'remember_days'
  | 'created_at'
>

export const insertApp = (tx: Tx, app: NewApp): Promise<AppRow> =>
  tx.insertInto('apps').values(app).returningAll().executeTakeFirstOrThrow()

export type AppChange = Partial<
  Pick<AppRow, 'name' | 'version' | 'paused' | 'messages' | 'secret_sealed' | 'secret_hash'> & SettingColumns
> & { secret_version?: RawBuilder<number>; block_version?: RawBuilder<number> }

export const updateApp = (
  tx: Tx,
  scope: OwnerScope,
  id: string,
  change: AppChange,
): Promise<AppRow | undefined> =>
  tx
    .updateTable('apps')
    .set(change)
    .where(appInScope(scope))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()

export const nextSecretVersion = sql<number>`secret_version + 1`
export const nextBlockVersion = sql<number>`block_version + 1`
