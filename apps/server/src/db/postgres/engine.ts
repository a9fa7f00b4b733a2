// ADR 2: what PostgreSQL does in its own way.

import { sql } from 'kysely'
import type { Database, Engine, Syntax } from '../engine.ts'
import { toJson } from '../json.ts'
import type { Db } from '../tables.ts'
import type { BatchStatement } from './batch.ts'
import { PostgresFeed } from './feed.ts'
import type { PostgresPool } from './pool.ts'

/** PostgreSQL, which several nodes may share. */
export const postgresEngine = (pool: PostgresPool, url: string, db: Database['db']): Engine => ({
  programWritesMost: 32,
  // Half of the pool.
  requestsMost: 4,
  prepareRead: (name, text) => {
    let position = 0
    const numbered = text.replaceAll('?', () => `$${++position}`)
    return pool.reader(name, numbered)
  },
  commits: undefined,
  // On a connection of the checks, because slow statements may occupy all others.
  probe: pool.reader('ready', 'select 1 as n'),
  connections: () => pool.connections(),
  openFeed: (options) => new PostgresFeed({ ...options, url, pool }),
  updateStatistics: () => analyzeTables(db),
})

// ADR 35: texts that do not depend on the number of values share a prepared statement.
export const postgresSyntax: Syntax = {
  parameter: (at) => `$${at}`,
  lower: 'lower',
  isIn: (column, values) => sql<boolean>`${sql.ref(column)} = any(${values})`,
  isAmong: (column, values, type) =>
    sql<boolean>`${sql.ref(column)} = any(array(select json_array_elements_text(${values}::json)::${sql.raw(type)}))`,
  // A parameter for every cell takes milliseconds of the server's thread, and a new plan for every number of rows.
  rowsOf: (table, rows) => sql`json_populate_recordset(null::${sql.table(table)}, ${toJson(rows)})`,
  locksRows: true,
  searchIndex: 'trigrams',
  inBytes: (text) => sql`(${text} collate "C")`,
  indexed: (table, alias) => `${table} ${alias}`,
  pace: { partMs: 40, partsMost: 1, pauseMs: 3, unsyncedMost: 0 },
}

// ADR 26: housekeeping computes missing statistics.

const smallBytes = 1_000_000
const fewChanges = 10_000

/**
 * Computes the statistics of tables that have none, or have at least doubled since they were computed, and returns
 * their names. Autovacuum does this earlier, but it may be late or switched off, and lists are slow until then.
 */
export async function analyzeTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c left join pg_stat_user_tables s on s.relid = c.oid
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and pg_has_role(c.relowner, 'usage')
      and ((c.reltuples < 0 and pg_relation_size(c.oid) >= ${smallBytes})
        or s.n_mod_since_analyze >= greatest(${fewChanges}, c.reltuples))
    order by c.relname`.execute(db)
  // A table that another node is analyzing is skipped.
  for (const { name } of rows) await sql`analyze (skip_locked) ${sql.id(name)}`.execute(db)
  return rows.map(({ name }) => name)
}

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
