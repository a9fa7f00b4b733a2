import { type RawBuilder, sql } from 'kysely'
import type { Tables, Tx } from './tables.ts'

// A table is written by its owner alone (`scripts/boundaries.mjs`). The deletions here follow from the schema: rows that
// expired, counts that triggers left at zero, and the rows of a deleted app.

/** The key of a table, and the column that says when a row expires. */
const expiring = {
  client_sessions: ['id', 'expires_at'],
  owner_sessions: ['id', 'expires_at'],
  reseller_sessions: ['id', 'expires_at'],
  password_resets: ['id', 'expires_at'],
  customer_sessions: ['id', 'expires_at'],
  customer_links: ['id', 'expires_at'],
  reset_requests: ['id', 'expires_at'],
  erasures: ['seq', 'expires_at'],
  mails: ['id', 'kept_until'],
  factor_challenges: ['token_hash', 'expires_at'],
  device_tokens: ['id', 'expires_at'],
  deleted_files: ['id', 'expires_at'],
  idempotency_keys: ['id', 'expires_at'],
  attempts: ['key', 'window_ends'],
  seats: ['session_id', 'until'],
  leased_seats: ['license_id, holder', 'until'],
  known_addresses: ['account, address', 'expires_at'],
  webhook_deliveries: ['seq', 'expires_at'],
  compatibility_programs: ['app_id, program', 'expires_at'],
} as const satisfies { [Table in keyof Tables]?: readonly [key: string, end: keyof Tables[Table]] }

const counts = {
  license_counts: 'app_id, bucket, used, banned',
  license_blocks: 'app_id, block, used, banned',
  client_counts: 'app_id, bucket, banned',
  client_blocks: 'app_id, block, banned',
  license_places: 'app_id, place, block, used, banned',
  client_places: 'app_id, place, block, banned',
} as const

const ofApp = {
  client_sessions: 'id',
  customer_sessions: 'id',
  customer_links: 'id',
  resellers: 'id',
  customer_faces: 'seq',
  trial_marks: 'app_id, mark',
  former_names: 'app_id, digest',
  shop_events: 'seq',
  shop_order_units: 'order_id, product, unit',
  shop_orders: 'seq',
  data_import_parts: 'file_id, part',
  data_import_rows: 'import_id, n',
  deleted_files: 'id',
  blocklist: 'id',
  activity: 'seq',
  ...counts,
  compatibility_programs: 'app_id, program',
  daily_counts: 'app_id, metric, day',
} as const

const namesOf = <Name extends string>(tables: Record<Name, unknown>) => Object.keys(tables) as Name[]

export const expiringTables = namesOf(expiring)
export const countTables = namesOf(counts)
/** Tables in which a deleted app leaves many rows; a cascade would delete them all in one statement. */
export const tablesOfApps = namesOf(ofApp)

/** Deletes up to `count` expired rows, across all accounts, and returns how many. */
export function deleteExpired(
  tx: Tx,
  table: keyof typeof expiring,
  now: number,
  count: number,
): Promise<number> {
  const [key, end] = expiring[table]
  const hasExpired = sql`${sql.ref(end)} <= ${now}`
  return deleteSome(tx, table, key, { found: hasExpired, still: hasExpired }, count)
}

/** Deletes up to `count` counts of zero, across all owners, and returns how many. */
export function deleteEmptyCounts(tx: Tx, table: keyof typeof counts, count: number): Promise<number> {
  return deleteSome(tx, table, counts[table], { found: sql`n = 0`, still: sql`n = 0` }, count)
}

/**
 * Deletes up to `count` rows of an app that is being deleted and returns how many. The caller has checked that the
 * app is the owner's.
 */
export function deleteOfApp(
  tx: Tx,
  table: keyof typeof ofApp,
  appId: string,
  count: number,
): Promise<number> {
  return deleteSome(tx, table, ofApp[table], { found: sql`app_id = ${appId}`, still: sql`true` }, count)
}

/** Deletes up to `count` records of an owner that is being deleted and returns how many. */
export const deleteRecordsOf = (tx: Tx, ownerId: string, count: number): Promise<number> =>
  deleteSome(tx, 'audit', 'id', { found: sql`owner_id = ${ownerId}`, still: sql`true` }, count)

/** Deletes up to `count` records of all owners from before a time and returns how many. */
export function deleteRecordsBefore(tx: Tx, before: number, count: number): Promise<number> {
  const isOld = sql`created_at < ${before}`
  return deleteSome(tx, 'audit', 'seq', { found: isOld, still: isOld }, count)
}

/** Deletes up to `count` deliveries of an owner's webhooks and returns how many. */
export function deleteDeliveriesOf(tx: Tx, ownerId: string, count: number): Promise<number> {
  const found = sql`webhook_id in (select id from webhooks where owner_id = ${ownerId})`
  return deleteSome(tx, 'webhook_deliveries', 'seq', { found, still: sql`true` }, count)
}

/** `still` is checked again: another node may change a row after the inner query. */
async function deleteSome(
  tx: Tx,
  table: string,
  columns: string,
  { found, still }: Record<'found' | 'still', RawBuilder<unknown>>,
  count: number,
): Promise<number> {
  const [name, key] = [sql.table(table), sql.raw(columns)]
  const { rows } = await sql`delete from ${name}
    where (${key}) in (select ${key} from ${name} where ${found} limit ${count}) and ${still}
    returning 1 as deleted`.execute(tx)
  return rows.length
}
