import { type RawBuilder, sql } from 'kysely'
import type { NamedTable } from './owned-tables.ts'
import type { Tx } from './tables.ts'

// A table is written by its owner alone (`scripts/boundaries.mjs`). The deletions here follow from what owners say of their tables:
// rows that expired, counts that triggers left at zero, and the rows of a deleted app.

/** Deletes up to `count` expired rows, across all accounts, and returns how many. */
export function deleteExpired(
  tx: Tx,
  { name, key, expires = 'expires_at' }: NamedTable,
  now: number,
  count: number,
): Promise<number> {
  const hasExpired = sql`${sql.ref(expires)} <= ${now}`
  return deleteSome(tx, name, key, { found: hasExpired, still: hasExpired }, count)
}

/** Deletes up to `count` counts of zero, across all owners, and returns how many. */
export const deleteEmptyCounts = (tx: Tx, { name, key }: NamedTable, count: number): Promise<number> =>
  deleteSome(tx, name, key, { found: sql`n = 0`, still: sql`n = 0` }, count)

/**
 * Deletes up to `count` rows of an app that is being deleted and returns how many. The caller has checked that the
 * app is the owner's.
 */
export const deleteOfApp = (
  tx: Tx,
  { name, key }: NamedTable,
  appId: string,
  count: number,
): Promise<number> => deleteSome(tx, name, key, { found: sql`app_id = ${appId}`, still: sql`true` }, count)

export async function deleteRecords(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.deleteFrom('audit').where('id', 'in', ids).execute()
}

/** Deletes up to `count` records of an owner that is being deleted and returns how many. */
export const deleteRecordsOf = (tx: Tx, ownerId: string, count: number): Promise<number> =>
  deleteSome(tx, 'audit', ['id'], { found: sql`owner_id = ${ownerId}`, still: sql`true` }, count)

/** Deletes up to `count` records of all owners from before a time and returns how many. By the index of owners: no other has times. */
export function deleteRecordsBefore(tx: Tx, before: number, count: number): Promise<number> {
  const isOld = sql`created_at < ${before}`
  const found = sql`seq in (
    with recursive holders (id) as (
      select min(owner_id) from audit
      union all
      select (select min(owner_id) from audit where owner_id > holders.id) from holders where id is not null
    )
    select a.seq from holders cross join audit a where a.owner_id = holders.id and a.${isOld}
    union all
    select seq from audit where owner_id is null and ${isOld}
    limit ${count})`
  return deleteSome(tx, 'audit', ['seq'], { found, still: isOld }, count)
}

/** Deletes up to `count` deliveries of an owner's webhooks and returns how many. */
export function deleteDeliveriesOf(tx: Tx, ownerId: string, count: number): Promise<number> {
  const found = sql`webhook_id in (select id from webhooks where owner_id = ${ownerId})`
  return deleteSome(tx, 'webhook_deliveries', ['seq'], { found, still: sql`true` }, count)
}

/** `still` is checked again: another node may change a row after the inner query. */
async function deleteSome(
  tx: Tx,
  table: string,
  columns: readonly string[],
  { found, still }: Record<'found' | 'still', RawBuilder<unknown>>,
  count: number,
): Promise<number> {
  const [name, key] = [sql.table(table), sql.join(columns.map((column) => sql.ref(column)))]
  const { rows } = await sql`delete from ${name}
    where (${key}) in (select ${key} from ${name} where ${found} limit ${count}) and ${still}
    returning 1 as deleted`.execute(tx)
  return rows.length
}
