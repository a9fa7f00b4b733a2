import type { SQLInputValue } from 'node:sqlite'
import type { OpenDatabase } from '../apps/server/src/db/open.ts'
import { startBulk } from './bulk.ts'

/** Inserts rows in large transactions, in the given order. */
export interface Rows {
  add(table: string, row: Record<string, unknown>): Promise<void>
  finish(): Promise<void>
}

const rowsInTransaction = 1_000_000
const rowsInStatement = 2_000
const parentsFirst = ['accounts', 'owners', 'apps', 'clients', 'licenses']

export const rowsOf = (database: OpenDatabase): Rows =>
  database.dialect === 'sqlite' ? sqliteRows(database) : postgresRows(database)

function sqliteRows({ handles }: Extract<OpenDatabase, { dialect: 'sqlite' }>): Rows {
  const { writer } = handles
  const finishBulk = startBulk(writer.database)
  let open = 0
  const commit = () => {
    if (open > 0) writer.database.exec('commit')
    open = 0
  }
  return {
    async add(table, row) {
      if (open === 0) writer.database.exec('begin immediate')
      const names = Object.keys(row)
      const text = `insert into ${table} (${names}) values (${names.map(() => '?')})`
      writer.prepare(text).run(...(Object.values(row) as SQLInputValue[]))
      open += 1
      if (open === rowsInTransaction) commit()
    },
    async finish() {
      commit()
      finishBulk()
    },
  }
}

function postgresRows({ pool }: Extract<OpenDatabase, { dialect: 'postgres' }>): Rows {
  const waiting = new Map<string, Record<string, unknown>[]>()
  const write = async () => {
    for (const table of parentsFirst) {
      const rows = waiting.get(table)
      if (!rows) continue
      const names = Object.keys(rows[0] ?? {})
      await pool.query({
        text: `insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, $1)`,
        values: [JSON.stringify(rows)],
      })
    }
    waiting.clear()
  }
  return {
    async add(table, row) {
      const rows = waiting.get(table) ?? []
      waiting.set(table, rows)
      rows.push(row)
      if (rows.length >= rowsInStatement) await write()
    },
    finish: write,
  }
}
