// ADR 2: what PostgreSQL does in its own way.
import { sql } from 'kysely'
import type { Database, Engine, Syntax } from '../engine.ts'
import { toJson } from '../json.ts'
import { PostgresFeed } from './feed.ts'
import type { PostgresPool } from './pool.ts'
import { analyzeTables } from './statistics.ts'

/** PostgreSQL, which several nodes may share. */
export const postgresEngine = (pool: PostgresPool, url: string, db: Database['db']): Engine => ({
  programWritesMost: 32,
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
