// Every stored row as a tree, so that `differences` compares them.
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

type Row = Record<string, unknown>
/** The rows of each table by id or primary key, and their number. */
export type Tables = Record<string, { count: number; rows: Record<string, Row> }>

/** Kept by the databases themselves, or about the schema and not about what is stored. */
const isLeftOut = (table: string): boolean => /^sqlite_|^migrations$/.test(table)

export function readEmbedded(path: string): Tables {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const tables = database
      .prepare("select name from pragma_table_list where type = 'table' and schema = 'main'")
      .all()
      .map(({ name }) => String(name))
      .filter((name) => !isLeftOut(name))
    return Object.fromEntries(
      tables.map((table) => {
        const columns = database.prepare('select name, pk from pragma_table_info(?)').all(table)
        const key = columns.filter(({ pk }) => Number(pk) > 0).map(({ name }) => String(name))
        return [table, byKey(database.prepare(`select * from "${table}"`).all().map(readable), key)]
      }),
    )
  } finally {
    database.close()
  }
}

export async function readPostgres(url: string): Promise<Tables> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string; key: string[] | null }>(
      `select c.relname as name, (select array_agg(a.attname::text order by a.attnum) from pg_index i
           join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
           where i.indrelid = c.oid and i.indisprimary) as key
         from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`,
    )
    const found: Tables = {}
    for (const { name, key } of tables.filter((table) => !isLeftOut(table.name))) {
      const { rows } = await client.query<{ row: Row }>(`select to_jsonb(t) as row from "${name}" t`)
      found[name] = byKey(
        rows.map(({ row }) => row),
        key ?? [],
      )
    }
    return found
  } finally {
    await client.end()
  }
}

/** By the id where there is one: it stays when another column becomes the primary key. */
function byKey(rows: readonly Row[], key: readonly string[]): Tables[string] {
  const keyOf = (row: Row): string => {
    if (row.id !== undefined) return String(row.id)
    return key.length === 0 ? JSON.stringify(row) : key.map((column) => String(row[column])).join(' ')
  }
  const keyed = rows.map((row): [string, Row] => [keyOf(row), row])
  return { count: rows.length, rows: Object.fromEntries(keyed) }
}

const readable = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
    ]),
  )
