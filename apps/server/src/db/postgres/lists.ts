import type { BatchStatement } from './batch.ts'
import type { PostgresPool } from './pool.ts'

/**
 * Other calls wait longer than this for a connection, so slow lists on all connections fail no other call. A lower
 * limit that the operator has set stays.
 */
const limit = '10s'
const isLower = "current_setting('statement_timeout')::interval between '1 ms' and "
const setLimit = `select set_config('statement_timeout', case when ${isLower} '${limit}'
  then current_setting('statement_timeout') else '${limit}' end, true),
  set_config('max_parallel_workers_per_gather', '0', true)`
const begin: readonly BatchStatement[] = [{ text: 'begin read only' }, { text: setLimit }]

/**
 * Reads in one round trip, also behind a pooler, with a time limit (ADR 26): without statistics PostgreSQL can choose a
 * plan that takes minutes. It uses one core, because a list needs few rows and starting parallel workers takes longer
 * than reading them.
 */
export async function readList(
  pool: PostgresPool,
  text: string,
  values: readonly unknown[],
): Promise<unknown[]> {
  const client = await pool.connect()
  let isUsable = true
  try {
    const query = { text, values, isRead: true }
    const results = await client.queryTogether([...begin, query, { text: 'commit' }])
    return results[begin.length]?.rows ?? []
  } catch (error) {
    // The transaction is still open.
    await client.query('rollback').catch(() => {
      isUsable = false
    })
    throw error
  } finally {
    client.release(!isUsable)
  }
}
