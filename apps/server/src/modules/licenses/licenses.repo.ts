import type { CompiledQuery } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { orderOf, type Sort } from '../../core/paging.ts'
import { insertRows } from '../../db/insert-rows.ts'
import { type Db, isIn, locked, ownerOf, type Tx } from '../../db/open.ts'
import type { LicenseRow } from '../../db/tables.ts'
import type { AddedKey } from '../entitlements/added-time.ts'
import { pauseOf } from '../entitlements/pauses.ts'
import { usernameOf } from './licenses.access.ts'

/** A license with joined columns for display. */
export interface LicenseView extends LicenseRow {
  app_name: string
  app_public_id: string
  username: string | null
  /** Since when the end user whose first license it is was paused. */
  paused_at: number | null
  reseller_email: string | null
  type_name: string | null
}

const views = (db: Db) =>
  db
    .selectFrom('licenses as l')
    .innerJoin('apps as a', 'a.id', 'l.app_id')
    .leftJoin('resellers as r', 'r.id', 'l.reseller_id')
    .leftJoin('license_types as lt', 'lt.id', 'l.type_id')
    .selectAll('l')
    .select([
      'a.name as app_name',
      'a.app_id as app_public_id',
      usernameOf('l').as('username'),
      pauseOf('l').as('paused_at'),
      'r.email as reseller_email',
      'lt.name as type_name',
    ])

export const findLicense = (db: Db, scope: OwnerScope, id: string): Promise<LicenseView | undefined> =>
  views(db).where('l.id', '=', id).where('l.owner_id', '=', scope.ownerId).executeTakeFirst()

export async function listBySeq(
  db: Db,
  scope: OwnerScope,
  seqs: readonly number[],
  sort: Sort,
): Promise<LicenseView[]> {
  if (seqs.length === 0) return []
  return views(db)
    .where('l.seq', 'in', seqs)
    .where('l.owner_id', '=', scope.ownerId)
    .orderBy('l.seq', orderOf[sort])
    .execute()
}

/** Sorted by creation. */
export const listById = (db: Db, scope: OwnerScope, ids: readonly string[]): Promise<LicenseView[]> =>
  views(db).where('l.id', 'in', ids).where(ownerOf('l'), '=', scope.ownerId).orderBy('l.seq').execute()

/** Locks the rows until the transaction ends and returns them. */
export const lockLicenses = (tx: Tx, scope: OwnerScope, ids: readonly string[]): Promise<LicenseRow[]> =>
  locked(
    tx,
    tx
      .selectFrom('licenses')
      .selectAll()
      .where('id', 'in', ids)
      .where(ownerOf('licenses'), '=', scope.ownerId)
      .orderBy('id'),
  ).execute()

/** The columns of a new license; the others start empty. */
export type NewLicense = Omit<
  LicenseRow,
  'seq' | 'client_id' | 'used' | 'used_at' | 'added_ms' | 'taken_ms' | 'key_twin'
>

const unused = { client_id: null, used_at: null }

export const insertOf = (db: Db, licenses: NewLicense[]): CompiledQuery =>
  insertRows(
    db,
    'licenses',
    licenses.map((license) => ({ ...license, ...unused })),
  )

export async function setBanned(
  tx: Tx,
  scope: OwnerScope,
  ids: readonly string[],
  banned: 0 | 1,
  /** Undefined keeps the reason of an earlier ban. */
  reason?: string | null,
): Promise<void> {
  await tx
    .updateTable('licenses')
    .set({ banned, ban_reason: banned === 1 ? reason : null })
    .where('id', 'in', ids)
    .where(ownerOf('licenses'), '=', scope.ownerId)
    .execute()
}

export async function updateDetails(
  tx: Tx,
  scope: OwnerScope,
  id: string,
  change: Partial<Pick<LicenseRow, 'devices' | 'features' | 'note'>>,
): Promise<void> {
  await tx
    .updateTable('licenses')
    .set(change)
    .where('id', '=', id)
    .where('owner_id', '=', scope.ownerId)
    .execute()
}

export interface SliceFilter {
  appId?: string | undefined
  resellerId?: string | undefined
  /** The highest number among the licenses that existed when the deletion started. */
  lastSeq: number
}

function sliceOf(tx: Tx, scope: OwnerScope, { appId, resellerId, lastSeq }: SliceFilter, count: number) {
  let query = tx.selectFrom('licenses').where('seq', '<=', lastSeq).limit(count)
  if (resellerId !== undefined) query = query.where('reseller_id', '=', resellerId)
  return appId === undefined ? query.where('owner_id', '=', scope.ownerId) : query.where('app_id', '=', appId)
}

/** Up to `count` ids, unsorted. */
export const listSlice = async (
  tx: Tx,
  scope: OwnerScope,
  filter: SliceFilter,
  count: number,
): Promise<string[]> => (await sliceOf(tx, scope, filter, count).select('id').execute()).map(({ id }) => id)

/** Deletes up to `count` licenses, without locking them, and returns them with the end users that used them. */
export const deleteSlice = (
  tx: Tx,
  scope: OwnerScope,
  filter: SliceFilter,
  count: number,
): Promise<AddedKey[]> =>
  tx
    .deleteFrom('licenses')
    .where('seq', 'in', sliceOf(tx, scope, filter, count).select('seq'))
    .where(ownerOf('licenses'), '=', scope.ownerId)
    .returning(['id', 'client_id', 'added_ms', 'taken_ms'])
    .execute()

export async function lastSeq(db: Db, scope: OwnerScope): Promise<number> {
  const row = await db
    .selectFrom('licenses')
    .select('seq')
    .where('owner_id', '=', scope.ownerId)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.seq ?? 0
}

/** Deletes licenses and returns them with the end users that used them. */
export const deleteByIds = (tx: Tx, scope: OwnerScope, ids: readonly string[]): Promise<AddedKey[]> =>
  tx
    .deleteFrom('licenses')
    .where(isIn(tx, 'id', ids))
    .where(ownerOf('licenses'), '=', scope.ownerId)
    .returning(['id', 'client_id', 'added_ms', 'taken_ms'])
    .execute()
