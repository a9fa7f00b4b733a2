import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { OwnerScope } from '../core/actor.ts'
import { ownerOf } from './expressions.ts'

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
