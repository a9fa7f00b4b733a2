import { sql } from 'kysely'
import { syntaxOf } from './engine.ts'
import type { Db } from './tables.ts'

/**
 * `owner_id` wrapped in an expression, for rows that are found by id: without statistics, SQLite would otherwise
 * prefer the owner's index and scan all of the owner's rows.
 */
export const ownerOf = (table: string) => sql<string>`coalesce(${sql.ref(`${table}.owner_id`)}, '')`

/** Whether a column of texts has one of the values. */
export const isIn = (db: Db, column: string, values: readonly string[]) => syntaxOf(db).isIn(column, values)

/** A column in lower case, in any language. */
export const lowerCase = (db: Db, column: string) =>
  sql<string>`${sql.raw(syntaxOf(db).lower)}(${sql.ref(column)})`
