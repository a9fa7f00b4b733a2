import { CompiledQuery, type Insertable, sql } from 'kysely'
import { needsLocks } from './open.ts'
import type { Db, Tables } from './tables.ts'

/**
 * One insert of rows with the columns that the first one defines; throws if a later one defines others. PostgreSQL receives
 * many rows as one value: a statement with a parameter for every cell takes the server's thread milliseconds to build, and
 * a new plan for every number of rows.
 */
export function insertRows<Table extends keyof Tables & string>(
  db: Db,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
  /** A unique column: rows whose value is taken are left out. */
  unlessTaken?: keyof Tables[Table] & string,
): CompiledQuery {
  const [first, second] = rows
  if (!first) throw new Error('there is no row to insert')
  const columns = Object.keys(first).filter((column) => cellOf(first, column) !== undefined)
  refuseOthers(rows, columns)
  const names = columns.map(quoted).join(', ')
  const into = `insert into ${quoted(table)} (${names})`
  const orNothing = unlessTaken === undefined ? '' : ` on conflict (${quoted(unlessTaken)}) do nothing`
  const isPostgres = needsLocks(db)
  if (second && isPostgres) {
    return sql`${sql.raw(into)}
    select ${sql.raw(names)} from json_populate_recordset(null::${sql.table(table)}, ${toJson(rows)})${sql.raw(orNothing)}`.compile(
      db,
    )
  }
  const cells = columns.map((_, at) => (isPostgres ? `$${at + 1}` : '?')).join(', ')
  const values = Array<string>(rows.length).fill(`(${cells})`).join(', ')
  return CompiledQuery.raw(
    `${into} values ${values}${orNothing}`,
    rows.flatMap((row) => columns.map((column) => cellOf(row, column))),
  )
}

/**
 * One insert of rows that SQLite reads from JSON, each a list of the columns' values. It leaves out rows that a unique
 * index forbids, and returns the values of one column.
 */
export function insertUnlessTaken<Table extends keyof Tables & string>(
  table: Table,
  columns: readonly string[],
  json: string,
  returned: keyof Tables[Table] & string,
): CompiledQuery {
  const values = columns.map((_, at) => `value ->> ${at}`).join(', ')
  return CompiledQuery.raw(
    `insert into ${quoted(table)} (${columns.map(quoted).join(', ')})
    select ${values} from json_each(?) where true on conflict do nothing returning ${quoted(returned)}`,
    [json],
  )
}

function refuseOthers(rows: readonly object[], columns: readonly string[]): void {
  const known = new Set(columns)
  for (const row of rows) {
    for (const column in row) {
      if (!known.has(column) && cellOf(row, column) !== undefined)
        throw new Error(`only later rows have the column ${column}`)
    }
  }
}

/** Names of columns come from the code, never from input. */
const quoted = (name: string): string => `"${name}"`

const cellOf = (row: object, column: string): unknown => (row as Record<string, unknown>)[column]

// JSON of PostgreSQL holds no half of a surrogate pair; as a parameter of its own it becomes U+FFFD, too.
export const toJson = (rows: readonly object[]): string =>
  JSON.stringify(rows, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value))
