import type pg from 'pg'
import type { SqliteHandle } from '../sqlite/handle.ts'

/** A table that is copied, with the columns of both databases in one order. */
export interface MovedTable {
  name: string
  columns: readonly string[]
  /** Returns the rows of the embedded database, with these columns. */
  source: string
  /** The column that PostgreSQL numbers. */
  numbered: string | undefined
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

const references = `select conname as name, child.relname as child, parent.relname as parent
  from pg_constraint
  join pg_class child on child.oid = conrelid join pg_class parent on parent.oid = confrelid
  where contype = 'f' and connamespace = current_schema()::regnamespace`

/** A foreign key of the target. */
export interface Reference {
  name: string
  child: string
  parent: string
}

/** What is copied, and what PostgreSQL can check only when all is there. */
export interface MovePlan {
  tables: MovedTable[]
  late: Reference[]
}

// PostgreSQL keeps the objects of a record as rows at once, the embedded database first as a list (ADR 71).
const auditObjects = `select object_id, seq from audit_objects union all
  select distinct o.value, l.seq from audit_lists l, json_each(l.objects) o
  where not exists (select 1 from audit_objects a where a.object_id = o.value and a.seq = l.seq)`
const lists = 'audit_lists'

/** The tables to copy, each after those that it refers to, as far as that goes. Throws if the two schemas differ. */
export async function tablesToMove(source: SqliteHandle, target: pg.Client): Promise<MovePlan> {
  const found = (await target.query(columnsOfTarget)).rows as Column[]
  const byTable = Map.groupBy(found, ({ table }) => table)
  const names = [...byTable.keys()].filter((name) => name !== schemaTable)
  const onSource = sourceTables(source)
  const [missing] = [...names.filter((name) => !onSource.has(name)), ...missingIn(byTable, onSource)]
  if (missing !== undefined) throw new Error(`The databases differ in the table ${missing}`)
  const keys = (await target.query(references)).rows as Reference[]
  const order = inOrder(names, keys)
  const tables = order.map((name) => {
    const all = byTable.get(name) ?? []
    const columns = all.map((column) => column.name)
    if (String(columns) !== String(onSource.get(name)))
      throw new Error(`The databases differ in the columns of ${name}`)
    const listed = columns.map((column) => `"${column}"`).join(', ')
    return {
      name,
      columns,
      source: name === 'audit_objects' ? auditObjects : `select ${listed} from "${name}"`,
      numbered: all.find(({ numbered }) => numbered)?.name,
    }
  })
  return { tables, late: keys.filter(({ child, parent }) => order.indexOf(parent) > order.indexOf(child)) }
}

const missingIn = (target: Map<string, Column[]>, source: Map<string, string[]>): string[] =>
  [...source.keys()].filter((name) => !target.has(name) && name !== lists)

/** Without the tables of SQLite's full-text search, which PostgreSQL replaces by indexes. */
function sourceTables({ database }: SqliteHandle): Map<string, string[]> {
  const tables = database
    .prepare(`select name from pragma_table_list where type = 'table' and schema = 'main'
      and name not like 'sqlite\\_%' escape '\\'`)
    .all()
  const columns = database.prepare('select name from pragma_table_info(?) order by name')
  return new Map(
    tables.map(({ name }) => [String(name), columns.all(String(name)).map((row) => String(row.name))]),
  )
}

/** Parents before children, but for one of two tables that refer to each other. */
function inOrder(names: readonly string[], references: readonly Reference[]): string[] {
  const visited = new Set<string>()
  const ordered: string[] = []
  const visit = (name: string) => {
    if (visited.has(name)) return
    visited.add(name)
    for (const { child, parent } of references) if (child === name) visit(parent)
    ordered.push(name)
  }
  for (const name of names) visit(name)
  return ordered
}
