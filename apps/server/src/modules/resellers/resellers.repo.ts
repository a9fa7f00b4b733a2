import { type SqlBool, sql } from 'kysely'
import type { OwnerScope } from '../../core/ctx.ts'
import { orderOf, type Page, seek } from '../../core/paging.ts'
import type { Database, Db, Tx } from '../../db/open.ts'
import { anywhere } from '../../db/search.ts'
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
  search: string | undefined
}

/** A page of the resellers that the filter lets through, newest first, and how many it lets through. */
export async function pageResellers(
  { db, lists }: Database,
  scope: OwnerScope,
  { appId, active, search }: ResellerFilter,
  page: Page,
): Promise<{ rows: ResellerView[]; total: number }> {
  let matching = lists.selectFrom('resellers').where('owner_id', '=', scope.ownerId)
  if (appId !== undefined) matching = matching.where('app_id', '=', appId)
  if (active !== undefined) matching = matching.where('active', '=', active ? 1 : 0)
  if (search !== undefined) {
    matching = matching.where(sql<SqlBool>`email_normalized like ${anywhere(search)} escape '\\'`)
  }
  const { total } = await matching
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const target = seek(page, total, 'newest')
  if (!target) return { rows: [], total }
  const found = await matching
    .select('seq')
    .orderBy('seq', target.order)
    .limit(target.limit)
    .offset(target.offset)
    .execute()
  const seqs = found.map(({ seq }) => seq)
  return { rows: await listBySeq(db, scope, seqs), total }
}

async function listBySeq(db: Db, scope: OwnerScope, seqs: readonly number[]): Promise<ResellerView[]> {
  if (seqs.length === 0) return []
  return views(db)
    .where('r.seq', 'in', seqs)
    .where('r.owner_id', '=', scope.ownerId)
    .orderBy('r.seq', orderOf.newest)
    .execute()
}

/** Counts of all resellers of an owner; `licenses` are those that they made and that exist. */
export const sumResellers = ({ lists }: Database, scope: OwnerScope) =>
  lists
    .selectFrom('resellers')
    .select((eb) => [
      eb.fn.countAll<number>().as('total'),
      eb.fn.coalesce(eb.fn.sum<number>('active'), eb.lit(0)).as('active'),
      eb.fn.coalesce(eb.fn.sum<number>('license_count'), eb.lit(0)).as('licenses'),
    ])
    .where('owner_id', '=', scope.ownerId)
    .executeTakeFirstOrThrow()

export async function countResellers(tx: Tx, scope: OwnerScope): Promise<number> {
  const { n } = await tx
    .selectFrom('resellers')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('owner_id', '=', scope.ownerId)
    .executeTakeFirstOrThrow()
  return n
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
