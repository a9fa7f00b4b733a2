import type { CompiledQuery } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { type Db, foundInScope, insert, type Tx } from '../../db/index.ts'
import type { ImportChunkRow, ImportRow, ImportSkipRow } from '../../db/tables.ts'

export const insertOfImport = (db: Db, row: ImportRow): CompiledQuery => insert(db, 'imports', [row])

export const insertOfChunks = (db: Db, chunks: readonly ImportChunkRow[]): CompiledQuery =>
  insert(db, 'import_chunks', chunks)

/** Deletes the first chunks of an import, which the caller has stored or listed, and returns them in order. */
export async function takeChunks(tx: Tx, id: string, count: number): Promise<ImportChunkRow[]> {
  const first = tx
    .selectFrom('import_chunks')
    .select('part')
    .where('import_id', '=', id)
    .orderBy('part')
    .limit(count)
  const chunks = await tx
    .deleteFrom('import_chunks')
    .where('import_id', '=', id)
    .where('part', 'in', first)
    .returningAll()
    .execute()
  return chunks.sort((a, b) => a.part - b.part)
}

/** Some rows will not become licenses. */
export async function addSkips(
  tx: Tx,
  scope: OwnerScope,
  id: string,
  skips: ReadonlyMap<string, string>,
): Promise<void> {
  const rows = Array.from(skips, ([key, message]) => ({ import_id: id, key, message }))
  await tx.executeQuery(insert(tx, 'import_skips', rows))
  await tx
    .updateTable('imports')
    .set((eb) => ({ count: eb('count', '-', skips.size) }))
    .where('id', '=', id)
    .where(foundInScope(scope, 'imports'))
    .execute()
}

/** The skipped rows of an import that the caller has stored or listed. */
export const listSkips = (tx: Tx, id: string): Promise<ImportSkipRow[]> =>
  tx.selectFrom('import_skips').selectAll().where('import_id', '=', id).execute()

/** Deletes an import; undefined if its app was deleted meanwhile. */
export const deleteImport = (tx: Tx, scope: OwnerScope, id: string): Promise<ImportRow | undefined> =>
  tx
    .deleteFrom('imports')
    .where('id', '=', id)
    .where(foundInScope(scope, 'imports'))
    .returningAll()
    .executeTakeFirst()

/** An import that is not completed, by its stored answer. */
export const findImportByAnswer = (
  db: Db,
  scope: OwnerScope,
  answerId: string,
): Promise<ImportRow | undefined> =>
  db
    .selectFrom('imports')
    .selectAll()
    .where('answer_id', '=', answerId)
    .where(foundInScope(scope, 'imports'))
    .executeTakeFirst()

/** The stored imports of all owners, for the server itself. */
export const listImports = (db: Db): Promise<ImportRow[]> =>
  db.selectFrom('imports').selectAll().orderBy('id').limit(100).execute()
