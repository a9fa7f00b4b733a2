// ADR 8: a restore refuses what Keyward did not make.
import { createTables, type Migration } from '../../migrate.ts'
import { SqliteHandle } from '../handle.ts'

interface SchemaObject {
  type: string
  name: string
  table: string
  sql: string
}

const list = `select type, name, tbl_name as "table", coalesce(sql, '') as sql from sqlite_schema order by rowid`

const objectsOf = (handle: SqliteHandle): SchemaObject[] =>
  handle.prepare(list).all() as unknown as SchemaObject[]

/** Made by `analyze`. */
const isStatistics = ({ name, sql }: SchemaObject): boolean =>
  /^sqlite_stat[134]$/.test(name) && /^CREATE TABLE sqlite_stat\d\([a-z,]+\)$/i.test(sql)

/**
 * Triggers and views are compared by their whole text. Tables and indexes are compared by kind and name, because earlier
 * versions created them with other texts.
 */
const identityOf = ({ type, name, table, sql }: SchemaObject): string => {
  const isTable = type === 'table' || type === 'index'
  return JSON.stringify([type, name, table, isTable ? /^create virtual/i.test(sql) : sql])
}

/** A part of a schema that no migration makes. */
export type ForeignObject = Pick<SchemaObject, 'type' | 'name'>

/** What these migrations make. It takes longer than the rest of a backup, which asks for it twice. */
let known: { migrations: string; objects: Set<string> } | undefined

/** The first object of a database that these migrations do not make, such as a planted trigger. */
export function findForeignObject(
  handle: SqliteHandle,
  migrations: readonly Migration[],
): ForeignObject | undefined {
  const names = migrations.map(({ name }) => name).join()
  if (known?.migrations !== names) known = { migrations: names, objects: objectsMadeBy(migrations) }
  const { objects } = known
  return objectsOf(handle).find((one) => !isStatistics(one) && !objects.has(identityOf(one)))
}

function objectsMadeBy(migrations: readonly Migration[]): Set<string> {
  const own = new SqliteHandle(':memory:', { readOnly: false })
  try {
    const statements = migrations.flatMap((migration) => migration.statements('sqlite'))
    for (const statement of [...createTables, ...statements]) own.database.exec(statement)
    return new Set(objectsOf(own).map(identityOf))
  } finally {
    own.close()
  }
}
