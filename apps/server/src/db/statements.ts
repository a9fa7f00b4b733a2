import { CompiledQuery, type Insertable, sql, type Updateable } from 'kysely'
import type { OwnerScope } from '../core/actor.ts'
import { type Syntax, syntaxOf } from './engine.ts'
import type { Db, Tables } from './tables.ts'

/** One insert of rows with the columns that the first one defines; throws if a later one defines others. */
export function insert<Table extends keyof Tables & string>(
  db: Db,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
  /** The columns of a unique index: rows whose values are taken are left out. */
  ...unlessTaken: (keyof Tables[Table] & string)[]
): CompiledQuery {
  const [first, second] = rows
  if (!first) throw new Error('there is no row to insert')
  const columns = Object.keys(first).filter((column) => cellOf(first, column) !== undefined)
  refuseOthers(rows, columns)
  const syntax = syntaxOf(db)
  const names = columns.map(quoted).join(', ')
  const into = `insert into ${quoted(table)} (${names})`
  const orNothing =
    unlessTaken.length === 0 ? '' : ` on conflict (${unlessTaken.map(quoted).join(', ')}) do nothing`
  if (second && syntax.rowsOf) {
    return sql`${sql.raw(into)}
    select ${sql.raw(names)} from ${syntax.rowsOf(table, rows)}${sql.raw(orNothing)}`.compile(db)
  }
  const cells = columns.map((_, at) => syntax.parameter(at + 1)).join(', ')
  const values = Array<string>(rows.length).fill(`(${cells})`).join(', ')
  return CompiledQuery.raw(
    `${into} values ${values}${orNothing}`,
    rows.flatMap((row) => columns.map((column) => cellOf(row, column))),
  )
}

/** An update of a row, within a scope if one is named, that sets those columns which are not undefined. */
export function update<Table extends keyof Tables & string>(
  db: Db,
  table: Table,
  change: Updateable<Tables[Table]>,
  { id, scope }: { id: string; scope?: OwnerScope },
): CompiledQuery {
  const syntax = syntaxOf(db)
  const parameters: unknown[] = []
  const set = Object.entries(change).filter(([, value]) => value !== undefined)
  const changes = set.map((one) => equal(syntax, one, parameters)).join(', ')
  const where = scope === undefined ? { id } : { id, owner_id: scope.ownerId }
  const conditions = Object.entries(where).map((one) => equal(syntax, one, parameters))
  if (scope?.apps) conditions.push(amongApps(syntax, scope.apps, parameters))
  return CompiledQuery.raw(
    `update ${quoted(table)} set ${changes} where ${conditions.join(' and ')}`,
    parameters,
  )
}

function equal(syntax: Syntax, [column, value]: [string, unknown], parameters: unknown[]): string {
  parameters.push(value)
  return `${quoted(column)} = ${syntax.parameter(parameters.length)}`
}

function amongApps(syntax: Syntax, apps: ReadonlySet<string>, parameters: unknown[]): string {
  const cells = Array.from(apps, (app) => syntax.parameter(parameters.push(app)))
  return `coalesce("app_id", '') in (${cells.join(', ') || 'null'})`
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
