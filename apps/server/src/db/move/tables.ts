import type { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'

/** A table that is copied, with the columns of both databases in one order. */
export interface MovedTable {
  name: string
  columns: readonly string[]
  /** The column that PostgreSQL numbers. */
  numbered: string | undefined
  /** A query for the rows of the embedded database, with these columns. */
  rows: string
}

interface Column {
  table: string
  name: string
  numbered: boolean
}

/** Its rows are the steps of the schema; the target has run them itself. */
export const schemaTable = 'migrations'

const columnsOfTarget = `select table_name as "table", column_name as name, is_identity = 'YES' as numbered
  from information_schema.columns
  where table_schema = current_schema() order by table_name, column_name`

const objects = 'audit_objects'
const lists = 'audit_lists'

/** PostgreSQL keeps the objects of a record as rows at once, the embedded database first as a list (ADR 71). */
const objectRows = `select object_id, seq from ${objects} union all
  select distinct o.value, l.seq from ${lists} l, json_each(l.objects) o
  where not exists (select 1 from ${objects} a where a.object_id = o.value and a.seq = l.seq)`

/** The tables to copy. Throws if the two schemas differ. */
export async function tablesToMove(source: DatabaseSync, target: pg.Client): Promise<MovedTable[]> {
  const found = (await target.query(columnsOfTarget)).rows as Column[]
  const byTable = Map.groupBy(
    found.filter(({ table }) => table !== schemaTable),
    ({ table }) => table,
  )
  // Without the tables of SQLite's full-text search, which PostgreSQL replaces by indexes.
  const sources = source
    .prepare(`select name from pragma_table_list where type = 'table' and schema = 'main'
      and name not like 'sqlite\\_%' escape '\\'`)
    .all()
  const known = new Set(sources.map(({ name }) => String(name)))
  const ofOne = [...known].filter((name) => !byTable.has(name) && name !== lists && name !== schemaTable)
  const [missing] = [...[...byTable.keys()].filter((name) => !known.has(name)), ...ofOne]
  if (missing !== undefined) throw new Error(`The databases differ in the table ${missing}`)
  const columnsOfSource = source.prepare('select name from pragma_table_info(?) order by name')
  return [...byTable].map(([name, all]) => {
    const columns = all.map((column) => column.name)
    if (String(columns) !== String(columnsOfSource.all(name).map((column) => column.name)))
      throw new Error(`The databases differ in the columns of ${name}`)
    const listed = columns.map((column) => `"${column}"`).join(', ')
    const rows = name === objects ? objectRows : `select ${listed} from "${name}"`
    return { name, columns, numbered: all.find(({ numbered }) => numbered)?.name, rows }
  })
}
