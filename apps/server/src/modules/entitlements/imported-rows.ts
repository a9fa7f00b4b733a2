import { CompiledQuery, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { foundInScope, isIn, prepared, type Tx } from '../../db/index.ts'
import type { ClientRow } from '../../db/tables.ts'
import type { NewEndUser } from './end-user-rows.ts'
import type { NewLicense } from './license-rows.ts'

export type ImportedLicenseRow = NewLicense & { used: 0 | 1; used_at: number | null }
export type ImportedEndUser = NewEndUser & Pick<ClientRow, 'banned' | 'ban_reason'>

/** Inserts licenses of another system, unless their keys are taken in the app, and returns the ids of the inserted ones. */
export const insertImportedLicenses = (tx: Tx, rows: readonly ImportedLicenseRow[]): Promise<Set<string>> =>
  insertFree(
    tx,
    'licenses',
    rows.map((row) => ({ ...row, client_id: null })),
  )

/** Inserts end users of another system, unless their names are taken in the app, and returns the ids of the inserted ones. */
export const insertImportedEndUsers = (tx: Tx, rows: readonly ImportedEndUser[]): Promise<Set<string>> =>
  insertFree(tx, 'clients', rows)

async function insertFree(
  tx: Tx,
  table: 'licenses' | 'clients',
  rows: Parameters<typeof prepared.insert<'licenses' | 'clients'>>[2],
): Promise<Set<string>> {
  if (rows.length === 0) return new Set()
  const { sql: text, parameters } = prepared.insert(tx, table, rows)
  const free = CompiledQuery.raw(`${text} on conflict do nothing returning id`, [...parameters])
  const inserted = await tx.executeQuery<{ id: string }>(free)
  return new Set(inserted.rows.map(({ id }) => id))
}

/** Names the end users of inserted licenses: of their own ones, and of those that were added to them. */
export async function nameImportedEndUsers(
  tx: Tx,
  scope: OwnerScope,
  own: readonly string[],
  added: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  if (own.length > 0) {
    await tx
      .updateTable('licenses')
      .set({ client_id: sql<string>`(select c.id from clients c where c.license_id = licenses.id)` })
      .where(isIn(tx, 'id', own))
      .where(foundInScope(scope, 'licenses'))
      .execute()
  }
  for (const [clientId, ids] of added) {
    await tx
      .updateTable('licenses')
      .set({ client_id: clientId })
      .where(isIn(tx, 'id', ids))
      .where(foundInScope(scope, 'licenses'))
      .execute()
  }
}
