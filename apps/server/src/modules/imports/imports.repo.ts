import { type ImportOutcome, limits } from '@keyward/contract'
import { type Insertable, sql, type Updateable } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { appInScope, type Db, foundInScope, inScope, isIn, lock, prepared, type Tx } from '../../db/index.ts'
import { called } from '../../db/tables/imports.ts'
import type { DataImportFileRow, DataImportReportRow, DataImportRow, Tables } from '../../db/tables.ts'

export async function insertImport(tx: Tx, row: Insertable<Tables['data_imports']>): Promise<void> {
  await prepared.insert(tx, 'data_imports', [row]).execute()
}

export const findImport = (db: Db, scope: OwnerScope, id: string): Promise<DataImportRow | undefined> =>
  db
    .selectFrom('data_imports')
    .selectAll()
    .where('id', '=', id)
    .where(foundInScope(scope, 'data_imports'))
    .executeTakeFirst()

export const lockImport = (tx: Tx, scope: OwnerScope, id: string): Promise<DataImportRow | undefined> =>
  lock(
    tx,
    tx.selectFrom('data_imports').selectAll().where('id', '=', id).where(foundInScope(scope, 'data_imports')),
  ).executeTakeFirst()

export const listImports = (
  db: Db,
  scope: OwnerScope,
  appId: string | undefined,
): Promise<DataImportRow[]> => {
  const rows = db.selectFrom('data_imports').selectAll().where(inScope(scope)).where('preset', '!=', called)
  const ofApp = appId === undefined ? rows : rows.where('app_id', '=', appId)
  return ofApp.orderBy('seq', 'desc').limit(limits.importsMax).execute()
}

/** Apps of imports in the scope. */
export const listApps = (db: Db, scope: OwnerScope, ids: readonly string[]) =>
  db
    .selectFrom('apps')
    .select(['id as _id', 'name', 'app_id as appId'])
    .where(isIn(db, 'id', ids))
    .where(appInScope(scope))
    .execute()

export async function countImports(tx: Tx, ownerId: string): Promise<number> {
  const rows = await tx
    .selectFrom('data_imports')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where('preset', '!=', called)
    .limit(limits.importsMax)
    .execute()
  return rows.length
}

/** The keys of a call's licenses that others had taken, with the reason. */
export async function listSkipped(db: Db, id: string): Promise<ReadonlyMap<string, string | null>> {
  const rows = await db
    .selectFrom('data_import_rows')
    .select(['name', 'message'])
    .where('import_id', '=', id)
    .where('outcome', '=', 'skipped')
    .execute()
  return new Map(rows.map(({ name, message }) => [name, message]))
}

export async function updateImport(
  tx: Tx,
  scope: OwnerScope,
  id: string,
  change: Updateable<Tables['data_imports']>,
): Promise<void> {
  await tx
    .updateTable('data_imports')
    .set(change)
    .where('id', '=', id)
    .where(foundInScope(scope, 'data_imports'))
    .execute()
}

/** The files of imports that are known to be the owner's, in the order of their arrival. */
export const listFiles = (db: Db, importIds: readonly string[]): Promise<DataImportFileRow[]> =>
  importIds.length === 0
    ? Promise.resolve([])
    : db
        .selectFrom('data_import_files')
        .selectAll()
        .where(isIn(db, 'import_id', importIds))
        .orderBy('created_at')
        .orderBy('id')
        .execute()

/** The bytes of all stored files of an owner. */
export async function countBytes(tx: Db, ownerId: string): Promise<number> {
  const { bytes } = await tx
    .selectFrom('data_imports as i')
    .innerJoin('data_import_files as f', 'f.import_id', 'i.id')
    .select(sql<number | null>`sum(f.bytes)`.as('bytes'))
    .where('i.owner_id', '=', ownerId)
    .executeTakeFirstOrThrow()
  return Number(bytes ?? 0)
}

export async function insertPart(
  tx: Tx,
  part: { file_id: string; part: number; import_id: string; app_id: string; sealed: string },
): Promise<void> {
  await prepared.insert(tx, 'data_import_parts', [part]).execute()
}

/** Adds a file, and returns the id of the one with that name that it replaces. */
export async function putFile(tx: Tx, file: DataImportFileRow): Promise<string | undefined> {
  const replaced = await tx
    .deleteFrom('data_import_files')
    .where('import_id', '=', file.import_id)
    .where('name', '=', file.name)
    .returning('id')
    .executeTakeFirst()
  await prepared.insert(tx, 'data_import_files', [file]).execute()
  return replaced?.id
}

export const findPart = (db: Db, fileId: string, part: number) =>
  db
    .selectFrom('data_import_parts')
    .select('sealed')
    .where('file_id', '=', fileId)
    .where('part', '=', part)
    .executeTakeFirst()

export async function countParts(tx: Tx, fileId: string): Promise<number> {
  const { parts } = await tx
    .selectFrom('data_import_parts')
    .select(({ fn }) => fn.countAll().as('parts'))
    .where('file_id', '=', fileId)
    .executeTakeFirstOrThrow()
  return Number(parts)
}

/** Deletes up to `count` parts of a file, and returns how many. */
export async function deleteParts(tx: Tx, fileId: string, count: number): Promise<number> {
  const parts = tx.selectFrom('data_import_parts').select(['file_id', 'part']).where('file_id', '=', fileId)
  return deleteThese(tx, await parts.limit(count).execute())
}

/** Deletes up to `count` parts of an import that belong to none of its files, and returns how many. */
export async function deleteLooseParts(tx: Tx, importId: string, count: number): Promise<number> {
  // A file that has just arrived is added under the same lock.
  await lock(tx, tx.selectFrom('data_imports').select('id').where('id', '=', importId)).execute()
  const files = tx.selectFrom('data_import_files').select('id').where('import_id', '=', importId)
  const parts = tx
    .selectFrom('data_import_parts')
    .select(['file_id', 'part'])
    .where('import_id', '=', importId)
    .where('file_id', 'not in', files)
  return deleteThese(tx, await parts.limit(count).execute())
}

async function deleteThese(tx: Tx, parts: readonly { file_id: string; part: number }[]): Promise<number> {
  for (const { file_id, part } of parts) {
    await tx.deleteFrom('data_import_parts').where('file_id', '=', file_id).where('part', '=', part).execute()
  }
  return parts.length
}

export async function deleteFileRows(tx: Tx, importId: string): Promise<void> {
  await tx.deleteFrom('data_import_files').where('import_id', '=', importId).execute()
}

export async function insertRows(tx: Tx, rows: readonly DataImportReportRow[]): Promise<void> {
  if (rows.length > 0) await prepared.insert(tx, 'data_import_rows', rows).execute()
}

/** Replaces rows that follow each other, or only those that are `kept`. */
export async function replaceRows(
  tx: Tx,
  rows: readonly DataImportReportRow[],
  kept: readonly DataImportReportRow[] = rows,
): Promise<void> {
  const [first, last] = [rows[0], rows.at(-1)]
  if (!first || !last) return
  await tx
    .deleteFrom('data_import_rows')
    .where('import_id', '=', first.import_id)
    .where('n', '>=', first.n)
    .where('n', '<=', last.n)
    .execute()
  await insertRows(tx, kept)
}

/** Rows after a number, in order. */
export const listRowsAfter = (
  db: Db,
  importId: string,
  after: number,
  count: number,
): Promise<DataImportReportRow[]> =>
  db
    .selectFrom('data_import_rows')
    .selectAll()
    .where('import_id', '=', importId)
    .where('n', '>', after)
    .orderBy('n')
    .limit(count)
    .execute()

/** Deletes up to `count` rows of an import and returns how many. */
export async function deleteRows(tx: Tx, importId: string, count: number): Promise<number> {
  const some = tx.selectFrom('data_import_rows').select('n').where('import_id', '=', importId).limit(count)
  const deleted = await tx
    .deleteFrom('data_import_rows')
    .where('import_id', '=', importId)
    .where('n', 'in', some)
    .returning('n')
    .execute()
  return deleted.length
}

export const listReport = (
  db: Db,
  importId: string,
  { outcome, page, limit }: { outcome?: ImportOutcome | undefined; page: number; limit: number },
): Promise<DataImportReportRow[]> => {
  const rows = db.selectFrom('data_import_rows').selectAll().where('import_id', '=', importId)
  const found =
    outcome === undefined ? rows.where('outcome', 'is not', null) : rows.where('outcome', '=', outcome)
  return found
    .orderBy('n')
    .limit(limit)
    .offset((page - 1) * limit)
    .execute()
}

export async function insertEmailHashes(
  tx: Tx,
  rows: readonly { client_id: string; email_sha1: string }[],
): Promise<void> {
  if (rows.length > 0) await prepared.insert(tx, 'imported_users', rows).execute()
}

/** Imports of all owners whose files, or which themselves, are kept no longer. */
export const listExpired = (tx: Db, now: number): Promise<Pick<DataImportRow, 'id' | 'kept_until'>[]> =>
  tx
    .selectFrom('data_imports')
    .select(['id', 'kept_until'])
    .where('claimed_until', 'is', null)
    .where((eb) => eb.or([eb('kept_until', '<=', now), eb('files_until', '<=', now)]))
    .limit(100)
    .execute()

/** Locks an import that has expired and does not run. */
export const lockExpired = (tx: Tx, id: string, now: number) =>
  lock(
    tx,
    tx
      .selectFrom('data_imports')
      .select('id')
      .where('id', '=', id)
      .where('claimed_until', 'is', null)
      .where((eb) => eb.or([eb('kept_until', '<=', now), eb('files_until', '<=', now)])),
  ).executeTakeFirst()

export async function forgetFiles(tx: Tx, id: string, now: number): Promise<void> {
  await tx
    .updateTable('data_imports')
    .set({ files_until: null })
    .where('id', '=', id)
    .where('files_until', '<=', now)
    .where('claimed_until', 'is', null)
    .execute()
}

export async function deleteImport(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('data_imports').where('id', '=', id).where('claimed_until', 'is', null).execute()
}
