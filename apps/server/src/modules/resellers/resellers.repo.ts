import { sql } from 'kysely'
import type { OwnerScope } from '../../core/ctx.ts'
import { onPage, type PageOrAll } from '../../core/paging.ts'
import type { Db, Tx } from '../../db/open.ts'
import type { ResellerRow } from '../../db/tables.ts'

/** A reseller with the name of its app. */
export interface ResellerView extends ResellerRow {
  app_name: string
}

const views = (db: Db) =>
  db
    .selectFrom('resellers as r')
    .innerJoin('apps as a', 'a.id', 'r.app_id')
    .selectAll('r')
    .select('a.name as app_name')

export const findReseller = (db: Db, scope: OwnerScope, id: string): Promise<ResellerView | undefined> =>
  views(db).where('r.id', '=', id).where('r.owner_id', '=', scope.ownerId).executeTakeFirst()

/** For signing in: whoever has the address, of whatever owner. */
export const findByEmail = (db: Db, emailNormalized: string): Promise<ResellerView | undefined> =>
  views(db).where('r.email_normalized', '=', emailNormalized).executeTakeFirst()

export interface ResellerFilter {
  appId: string | undefined
  active: boolean | undefined
}

/** Newest first. */
export async function listResellers(
  db: Db,
  scope: OwnerScope,
  filter: ResellerFilter,
  page: PageOrAll,
): Promise<ResellerView[]> {
  let query = views(db).where('r.owner_id', '=', scope.ownerId).orderBy('r.seq', 'desc')
  if (filter.appId !== undefined) query = query.where('r.app_id', '=', filter.appId)
  if (filter.active !== undefined) query = query.where('r.active', '=', filter.active ? 1 : 0)
  return onPage(query, page).execute()
}

export async function countResellers(db: Db, scope: OwnerScope, filter: ResellerFilter): Promise<number> {
  let query = db
    .selectFrom('resellers')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('owner_id', '=', scope.ownerId)
  if (filter.appId !== undefined) query = query.where('app_id', '=', filter.appId)
  if (filter.active !== undefined) query = query.where('active', '=', filter.active ? 1 : 0)
  return Number((await query.executeTakeFirstOrThrow()).n)
}

/** Locks the owner, so that its resellers are counted and added by one at a time. */
/** Reads a reseller and locks it until the transaction ends. */
export const lockReseller = (tx: Tx, scope: OwnerScope, id: string): Promise<ResellerRow | undefined> =>
  tx
    .updateTable('resellers')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('id', '=', id)
    .where('owner_id', '=', scope.ownerId)
    .returningAll()
    .executeTakeFirst()

export async function lockOwner(tx: Tx, scope: OwnerScope): Promise<void> {
  await tx.updateTable('owners').set({ app_count: sql`app_count` }).where('id', '=', scope.ownerId).execute()
}

export async function insertReseller(
  tx: Tx,
  reseller: Pick<
    ResellerRow,
    | 'id'
    | 'owner_id'
    | 'app_id'
    | 'email'
    | 'email_normalized'
    | 'password_hash'
    | 'allowed_license_keys'
    | 'created_at'
  >,
): Promise<void> {
  await tx.insertInto('resellers').values(reseller).execute()
}

export type ResellerChange = Partial<Pick<ResellerRow, 'allowed_license_keys' | 'active'>>

export async function updateReseller(
  tx: Tx,
  scope: OwnerScope,
  id: string,
  change: ResellerChange,
): Promise<boolean> {
  const changed = await tx
    .updateTable('resellers')
    .set(change)
    .where('id', '=', id)
    .where('owner_id', '=', scope.ownerId)
    .returning('id')
    .executeTakeFirst()
  return changed !== undefined
}

/** Takes its sessions with it; its licenses stay and name no reseller any more. */
export async function deleteReseller(tx: Tx, scope: OwnerScope, id: string): Promise<boolean> {
  const gone = await tx
    .deleteFrom('resellers')
    .where('id', '=', id)
    .where('owner_id', '=', scope.ownerId)
    .returning('id')
    .executeTakeFirst()
  return gone !== undefined
}

export async function setPasswordHash(tx: Tx, id: string, passwordHash: string): Promise<void> {
  await tx.updateTable('resellers').set({ password_hash: passwordHash }).where('id', '=', id).execute()
}

/** Locks an active reseller until the transaction ends; false when it is suspended or gone. */
export async function lockActive(tx: Tx, id: string): Promise<boolean> {
  const locked = await tx
    .updateTable('resellers')
    .set({ active: 1 })
    .where('id', '=', id)
    .where('active', '=', 1)
    .returning('id')
    .executeTakeFirst()
  return locked !== undefined
}

/** Locks the reseller and tells whether `count` more licenses fit into its quota; the insert's trigger counts them. */
export async function reserveQuota(tx: Tx, id: string, count: number): Promise<boolean> {
  const reserved = await tx
    .updateTable('resellers')
    .set({ license_count: sql`license_count` })
    .where('id', '=', id)
    .where('active', '=', 1)
    .where('license_count', '<=', sql<number>`allowed_license_keys - ${sql.lit(count)}`)
    .returning('id')
    .executeTakeFirst()
  return reserved !== undefined
}
