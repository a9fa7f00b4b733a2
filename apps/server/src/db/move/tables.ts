import type pg from 'pg'
import type { SqliteHandle } from '../sqlite/handle.ts'

/** A table that is copied, with the columns of both databases in one order. */
export interface MovedTable {
  name: string
  columns: readonly string[]
  /** The columns that identify a row: its primary key, or all of them. */
  key: readonly string[]
  /** The column that PostgreSQL numbers. */
  numbered: string | undefined
  /** A query for the rows of a state of the embedded database, with these columns. */
  rows(state: string): string
  /** A query for the rows of a state that another one does not have, or has with other values. */
  rowsMissing(state: string, other: string): string
}

interface Column {
  table: string
  name: string
  numbered: boolean
  isKey: boolean
}

/** Its rows are the steps of the schema; the target has run them itself. */
export const schemaTable = 'migrations'

const columnsOfTarget = `select table_name as "table", column_name as name, is_identity = 'YES' as numbered,
    exists (select 1 from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
      where indisprimary and indrelid = format('%I', table_name)::regclass and attname = column_name) as "isKey"
  from information_schema.columns
  where table_schema = current_schema() order by table_name, column_name`

const objects = 'audit_objects'
const lists = 'audit_lists'

/** The tables to copy. Throws if the two schemas differ. */
export async function tablesToMove({ database }: SqliteHandle, target: pg.Client): Promise<MovedTable[]> {
  const found = (await target.query(columnsOfTarget)).rows as Column[]
  const byTable = Map.groupBy(
    found.filter(({ table }) => table !== schemaTable),
    ({ table }) => table,
  )
  // Without the tables of SQLite's full-text search, which PostgreSQL replaces by indexes.
  const sources = database
    .prepare(`select name, wr from pragma_table_list where type = 'table' and schema = 'main'
      and name not like 'sqlite\\_%' escape '\\'`)
    .all()
  const known = new Map(sources.map(({ name, wr }) => [String(name), wr === 0]))
  const ofOne = [...known.keys()].filter(
    (name) => !byTable.has(name) && name !== lists && name !== schemaTable,
  )
  const [missing] = [...[...byTable.keys()].filter((name) => !known.has(name)), ...ofOne]
  if (missing !== undefined) throw new Error(`The databases differ in the table ${missing}`)
  const columnsOfSource = database.prepare('select name from pragma_table_info(?) order by name')
  return [...byTable].map(([name, all]) => {
    const columns = all.map((column) => column.name)
    if (String(columns) !== String(columnsOfSource.all(name).map((column) => column.name)))
      throw new Error(`The databases differ in the columns of ${name}`)
    const key = name === objects ? columns : all.filter(({ isKey }) => isKey).map((column) => column.name)
    if (key.length === 0) throw new Error(`The table ${name} has no primary key`)
    const queries =
      name === objects ? objectQueries : rowQueries(name, columns, known.get(name) ? ['rowid'] : key)
    return { name, columns, key, numbered: all.find(({ numbered }) => numbered)?.name, ...queries }
  })
}

type Queries = Pick<MovedTable, 'rows' | 'rowsMissing'>

/** SQLite compares the states itself, in the order in which it stores rows. */
function rowQueries(name: string, columns: readonly string[], stored: readonly string[]): Queries {
  const of = (row: string) => columns.map((column) => `${row}."${column}"`).join(', ')
  const isSame = stored.map((column) => `o."${column}" = r."${column}"`).join(' and ')
  return {
    rows: (state) => `select ${of('r')} from ${state}."${name}" r`,
    rowsMissing: (state, other) => `select ${of('r')} from ${state}."${name}" r
      where not exists (select 1 from ${other}."${name}" o where ${isSame} and (${of('o')}) is (${of('r')}))`,
  }
}

/**
 * PostgreSQL keeps the objects of a record as rows at once, the embedded database first as a list (ADR 71). A list that
 * became rows meanwhile has changed nothing.
 */
const objectQueries: Queries = {
  rows: (state) => `select object_id, seq from ${state}.${objects} union all
    select distinct o.value, l.seq from ${state}.${lists} l, json_each(l.objects) o
    where not exists (select 1 from ${state}.${objects} a where a.object_id = o.value and a.seq = l.seq)`,
  rowsMissing: (state, other) => `with changed as (
      select object_id, seq from ${state}.${objects} r
      where not exists (select 1 from ${other}.${objects} o where o.object_id = r.object_id and o.seq = r.seq)
      union select o.value, l.seq from ${state}.${lists} l, json_each(l.objects) o
      where not exists (select 1 from ${other}.${lists} k where k.seq = l.seq and k.objects = l.objects))
    select object_id, seq from changed c
    where not exists (select 1 from ${other}.${objects} o where o.object_id = c.object_id and o.seq = c.seq)
      and not exists (select 1 from ${other}.${lists} l, json_each(l.objects) o
        where l.seq = c.seq and o.value = c.object_id)`,
}
