import { DatabaseSync } from 'node:sqlite'

const text = 'Ærø \'quoted\' \\ "double" \t\n 𝄞'

interface Column {
  name: string
  type: string
  pk: number
}

/** The tables of an embedded database that a move copies. */
export const tablesOf = (database: DatabaseSync): string[] =>
  database
    .prepare(`select name from pragma_table_list where type = 'table' and schema = 'main'
      and name not like 'sqlite%' and name not in ('migrations', 'audit_lists') order by name`)
    .all()
    .map(({ name }) => String(name))

/** The rows of a table; PostgreSQL keeps the objects of a record as rows at once, the embedded database first as a list. */
export function rowsOf(database: DatabaseSync, table: string): object[] {
  if (table !== 'audit_objects') return database.prepare(`select * from "${table}"`).all()
  return database
    .prepare(`select * from audit_objects
      union select o.value, l.seq from audit_lists l, json_each(l.objects) o`)
    .all()
}

/** Adds a row to each empty table, with texts and numbers of every kind, many licenses, and lists of objects of records. */
export function fillEveryTable(path: string, licenses: number): void {
  const database = new DatabaseSync(path)
  database.function('lower_unicode', { deterministic: true }, (value) => String(value).toLowerCase())
  database.exec('begin; pragma defer_foreign_keys = on')
  for (const table of tablesOf(database)) if (!hasRows(database, table)) addRow(database, table)
  const columns = columnsOf(database, 'licenses').filter(({ name }) => name !== 'seq')
  const own = ['id', 'key', 'key_normalized']
  const copied = columns.map(({ name }) => (own.includes(name) ? `"${name}" || '-' || n` : `"${name}"`))
  database.exec(`with recursive many (n) as (select 1 union all select n + 1 from many where n < ${licenses})
    insert into licenses (${columns.map(({ name }) => `"${name}"`).join(', ')})
    select ${copied.join(', ')} from licenses, many`)
  database.exec(`insert into audit_lists values (9001, '["one","two"]'), (9002, '["two"]'), (9003, '["three"]');
    insert into audit_objects values ('two', 9002)`)
  database.exec('commit')
  database.close()
}

const hasRows = (database: DatabaseSync, table: string): boolean =>
  database.prepare(`select 1 from "${table}" limit 1`).get() !== undefined

const columnsOf = (database: DatabaseSync, table: string): Column[] =>
  database.prepare('select name, type, pk from pragma_table_info(?)').all(table) as unknown as Column[]

function addRow(database: DatabaseSync, table: string): void {
  const references = database
    .prepare('select "table" as parent, "from" as name, "to" as key from pragma_foreign_key_list(?)')
    .all(table) as { parent: string; name: string; key: string }[]
  const columns = columnsOf(database, table)
  const definition = database.prepare('select sql from sqlite_schema where name = ?').get(table)?.sql
  const ofAccount = columns.some(({ name }) => name === 'account_id')
  const values = columns.map(({ name, type, pk }, at) => {
    // Such a row belongs to one of both.
    if (name === 'reseller_id' && ofAccount) return null
    const reference = references.find((one) => one.name === name)
    if (reference) {
      if (!hasRows(database, reference.parent)) addRow(database, reference.parent)
      return (
        database.prepare(`select "${reference.key}" as v from "${reference.parent}" limit 1`).get()?.v ?? null
      )
    }
    if (/int/i.test(type)) return pk > 0 && name === 'seq' ? 700 + at : at % 2
    const allowed = new RegExp(`\\b${name} in \\('([^']+)'`).exec(String(definition))?.[1]
    if (allowed !== undefined) return allowed
    return pk > 0 ? `${table}_${name}` : `${text} ${table} ${name}`
  })
  const places = values.map(() => '?').join(', ')
  database.prepare(`insert into "${table}" values (${places})`).run(...values)
}
