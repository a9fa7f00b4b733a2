import { type SqlBool, sql } from 'kysely'
import type { OfOwner, OwnerScope } from '../../core/actor.ts'
import { orderOf, type Page } from '../../core/paging.ts'
import { type Database, type Db, inScope, lock, type Tx } from '../../db/index.ts'
import { seqsOfPage } from '../../db/lists/pages.ts'
import { anywhere } from '../../db/lists/search.ts'
import type { ResellerRow } from '../../db/tables.ts'
import { takeFromReseller } from '../entitlements/license-rows.ts'
import { type ResellerView, views } from './resellers.access.ts'

export interface ResellerFilter {
  appId: string | undefined
  active: boolean | undefined
  search: string | undefined
}

/** A page of the resellers that match the filter, newest first, with their total. */
export async function pageResellers(
  { db, lists }: Database,
  scope: OwnerScope,
  { appId, active, search }: ResellerFilter,
  page: Page,
): Promise<{ rows: ResellerView[]; total: number }> {
  let matching = lists.selectFrom('resellers').where(inScope(scope))
  if (appId !== undefined) matching = matching.where('app_id', '=', appId)
  if (active !== undefined) matching = matching.where('active', '=', active ? 1 : 0)
  if (search !== undefined) {
    matching = matching.where(sql<SqlBool>`email_normalized like ${anywhere(search)} escape '\\'`)
  }
  const { total } = await matching
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { rows: await listBySeq(db, scope, await seqsOfPage(matching, page, total)), total }
}

async function listBySeq(db: Db, scope: OwnerScope, seqs: readonly number[]): Promise<ResellerView[]> {
  if (seqs.length === 0) return []
  return views(db)
    .where('r.seq', 'in', seqs)
    .where(inScope(scope, 'r'))
    .orderBy('r.seq', orderOf.newest)
    .execute()
}

/** Counts over all resellers of an owner; `licenses` are the existing ones that they created. */
export const sumResellers = ({ lists }: Database, scope: OwnerScope) =>
  lists
    .selectFrom('resellers')
    .select((eb) => [
      eb.fn.countAll<number>().as('total'),
      eb.fn.coalesce(eb.fn.sum<number>('active'), eb.lit(0)).as('active'),
      eb.fn.coalesce(eb.fn.sum<number>('license_count'), eb.lit(0)).as('licenses'),
    ])
    .where(inScope(scope))
    .executeTakeFirstOrThrow()

/** All of an owner, for its plan's limit. */
export async function countResellers(tx: Tx, { ownerId }: OfOwner): Promise<number> {
  const { n } = await tx
    .selectFrom('resellers')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('owner_id', '=', ownerId)
    .executeTakeFirstOrThrow()
  return n
}

/** Reads a reseller and locks the row until the transaction ends. */
export const lockReseller = (tx: Tx, scope: OwnerScope, id: string): Promise<ResellerRow | undefined> =>
  lock(
    tx,
    tx.selectFrom('resellers').selectAll().where('id', '=', id).where(inScope(scope)),
  ).executeTakeFirst()

/** Locks the owner, so that concurrent calls cannot exceed the plan's number of resellers. */
export async function lockOwner(tx: Tx, scope: OfOwner): Promise<void> {
  await lock(tx, tx.selectFrom('owners').select('id').where('id', '=', scope.ownerId)).execute()
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
    .where(inScope(scope))
    .returning('id')
    .executeTakeFirst()
  return changed !== undefined
}

/** Takes up to `count` licenses from a reseller, without deleting them, and returns how many. */
export async function releaseLicenses(tx: Tx, scope: OwnerScope, id: string, count: number): Promise<number> {
  const released = await takeFromReseller(tx, scope, id, count)
  if (released > 0) {
    await tx
      .updateTable('resellers')
      .set((eb) => ({ license_count: eb('license_count', '-', released) }))
      .where('id', '=', id)
      .where(inScope(scope))
      .execute()
  }
  return released
}

/** Deletes a reseller and its sessions; its licenses stay with the owner. */
export const deleteReseller = (
  tx: Tx,
  scope: OwnerScope,
  id: string,
): Promise<Pick<ResellerRow, 'app_id' | 'email'> | undefined> =>
  tx
    .deleteFrom('resellers')
    .where('id', '=', id)
    .where(inScope(scope))
    .returning(['app_id', 'email'])
    .executeTakeFirst()
