import { sql } from 'kysely'
import type { Tx } from '../../db/open.ts'
import type { Ctx } from '../../service/ctx.ts'

/** On PostgreSQL on a connection of the checks, because slow statements may occupy all others. */
export function readinessProbe({ db, database }: Ctx): () => Promise<unknown> {
  return database.dialect === 'postgres'
    ? database.pool.reader('ready', 'select 1 as n')
    : () => sql`select 1`.execute(db)
}

const keys = {
  license_counts: 'app_id, bucket, used, banned',
  license_blocks: 'app_id, block, used, banned',
  client_counts: 'app_id, bucket, banned',
  client_blocks: 'app_id, block, banned',
  license_places: 'app_id, place, block, used, banned',
  client_places: 'app_id, place, block, banned',
} as const

export type CountTable = keyof typeof keys
export const countTables = Object.keys(keys) as CountTable[]

/** Deletes up to `count` counts of zero, across all owners, and returns how many. */
export async function deleteEmptyCounts(tx: Tx, table: CountTable, count: number): Promise<number> {
  const [name, key] = [sql.raw(table), sql.raw(keys[table])]
  // Check zero again: another node may increment the count after the inner query.
  const { rows } = await sql`delete from ${name}
    where (${key}) in (select ${key} from ${name} where n = 0 limit ${count}) and n = 0
    returning n`.execute(tx)
  return rows.length
}

/** Deletes up to `count` expired rate limit windows, across all accounts, and returns how many. */
export async function deletePastAttempts(tx: Tx, now: number, count: number): Promise<number> {
  const some = tx.selectFrom('attempts').select('key').where('window_ends', '<=', now).limit(count)
  const deleted = await tx
    .deleteFrom('attempts')
    .where('key', 'in', some)
    .where('window_ends', '<=', now)
    .returning('key')
    .execute()
  return deleted.length
}

/** Deletes up to `count` seats that were not renewed in time, across all accounts, and returns how many. */
export async function deletePastSeats(tx: Tx, now: number, count: number): Promise<number> {
  const some = tx.selectFrom('seats').select('session_id').where('until', '<=', now).limit(count)
  const deleted = await tx
    .deleteFrom('seats')
    .where('session_id', 'in', some)
    .where('until', '<=', now)
    .returning('session_id')
    .execute()
  return deleted.length
}

/** Deletes up to `count` seats whose leases have ended, across all accounts, and returns how many. */
export async function deletePastLeasedSeats(tx: Tx, now: number, count: number): Promise<number> {
  const { rows } = await sql`delete from leased_seats where (license_id, holder) in (
      select license_id, holder from leased_seats where until <= ${now} limit ${count}) and until <= ${now}
    returning holder`.execute(tx)
  return rows.length
}
