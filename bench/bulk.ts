import type { DatabaseSync } from 'node:sqlite'

const cacheKibibytes = 3_000_000
const largeTables = ['licenses', 'clients']

/**
 * Prepares a new embedded database for inserting millions of licenses: without what is faster to build once at the end.
 * Returns what builds it.
 */
export function startBulk(database: DatabaseSync): () => void {
  database.exec(`pragma cache_size = -${cacheKibibytes}; pragma foreign_keys = off`)
  const ends = largeTables.flatMap((table) => [
    ...deferTriggers(database, table),
    ...deferIndexes(database, table),
  ])
  return () => {
    for (const text of ends) database.exec(text)
    database.exec('pragma foreign_keys = on')
  }
}

function deferIndexes(database: DatabaseSync, table: string): string[] {
  return sqlOf(database, 'index', table).map(({ name, sql }) => {
    database.exec(`drop index ${name}`)
    return sql
  })
}

const counting =
  /insert into (?<counts>\w+) \((?<columns>[^)]*), n\)\s+values \((?<values>.*), 1\)\s+on conflict \([^)]*\) do update set n = n \+ 1;/g
const searching = /insert into (?<index>\w+_search) \(rowid, body\) values \((?<values>.*)\);/g

/**
 * Takes counts and the full-text index out of the triggers. The index would write its new rows with every statement,
 * and merge millions of small parts.
 */
function deferTriggers(database: DatabaseSync, table: string): string[] {
  const triggers = sqlOf(database, 'trigger', table).filter(({ sql }) => /after insert/.test(sql))
  return triggers.flatMap(({ name, sql }) => {
    const ends = [...sql.matchAll(counting), ...sql.matchAll(searching)].map(({ groups = {} }) =>
      groups.counts
        ? `insert into ${groups.counts} (${groups.columns}, n)
            select ${groups.values}, count(*) from ${table} new group by ${groups.values}`
        : `insert into ${groups.index} (rowid, body) select ${groups.values} from ${table} new`,
    )
    const rest = sql.replace(counting, '').replace(searching, '')
    database.exec(`drop trigger ${name}`)
    if (!/begin\s+end$/.test(rest)) database.exec(rest)
    return [...ends, `drop trigger if exists ${name}`, sql]
  })
}

function sqlOf(database: DatabaseSync, type: string, table: string) {
  const found = database
    .prepare('select name, sql from sqlite_schema where type = ? and tbl_name = ? and sql is not null')
    .all(type, table)
  return found as { name: string; sql: string }[]
}
