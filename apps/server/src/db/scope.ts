import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { OwnerScope } from '../core/actor.ts'
import { syntaxOf } from './engine.ts'
import type { Db } from './tables.ts'

// Every query of an owner's rows has one of these conditions. For all apps, it is the owner alone.

/** Whether a row is in the scope; `row` is the alias of a table with `owner_id` and `app_id`. */
export const inScope = (scope: OwnerScope, row?: string): RawBuilder<SqlBool> =>
  within(scope, sql`${column(row, 'owner_id')} = ${scope.ownerId}`, column(row, 'app_id'))

/** The same for rows that are found by id or by another selective column; see `ownerOf`. */
export const foundInScope = (scope: OwnerScope, row: string): RawBuilder<SqlBool> =>
  within(scope, sql`${ownerOf(row)} = ${scope.ownerId}`, column(row, 'app_id'))

/** Whether a row of the table of apps is in the scope. */
export const appInScope = (scope: OwnerScope): RawBuilder<SqlBool> =>
  within(scope, sql`${sql.ref('owner_id')} = ${scope.ownerId}`, sql.ref('id'))

/** Whether an expression names one of the apps. */
export const isOneOf = (apps: ReadonlySet<string>, app: RawBuilder<unknown>): RawBuilder<SqlBool> =>
  sql`${app} in (${apps.size === 0 ? sql`null` : sql.join([...apps])})`

const column = (row: string | undefined, name: string) => sql.ref(row === undefined ? name : `${row}.${name}`)

/** The app's column is wrapped, so that SQLite finds the rows by the index that it uses for all apps. */
const within = (
  { apps }: OwnerScope,
  isOwners: RawBuilder<SqlBool>,
  app: RawBuilder<unknown>,
): RawBuilder<SqlBool> =>
  apps === null ? isOwners : sql`${isOwners} and ${isOneOf(apps, sql`coalesce(${app}, '')`)}`

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
