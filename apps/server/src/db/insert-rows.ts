import { type CompiledQuery, type Insertable, sql } from 'kysely'
import { needsLocks } from './open.ts'
import type { Db, Tables } from './tables.ts'

/**
 * One insert of rows with the same columns. PostgreSQL receives many rows as one value: a statement with a parameter
 * for every cell takes the server's thread milliseconds to build, and a new plan for every number of rows.
 */
export function insertRows<Table extends keyof Tables>(
  db: Db,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
): CompiledQuery {
  const [first, second] = rows
  if (!first || !second || !needsLocks(db)) return db.insertInto(table).values(rows).compile()
  const name = sql.table(table)
  const columns = sql.join(Object.keys(first).map((column) => sql.ref(column)))
  return sql`insert into ${name} (${columns})
    select ${columns} from json_populate_recordset(null::${name}, ${toJson(rows)})`.compile(db)
}

// JSON of PostgreSQL holds no half of a surrogate pair; as a parameter of its own it becomes U+FFFD, too.
const toJson = (rows: readonly object[]): string =>
  JSON.stringify(rows, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value))
