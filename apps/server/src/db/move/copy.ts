import type pg from 'pg'
import { OperatorError } from '../../core/operator-error.ts'
import type { SqliteHandle } from '../sqlite/handle.ts'
import { TableDigest } from './digest.ts'
import type { MovedTable } from './tables.ts'

// Bounds the memory of both processes.
const sliceRows = 1000
const sliceLength = 1_000_000

/** Copies all rows of a table; returns their digest. */
export async function copyTable(
  source: SqliteHandle,
  target: pg.Client,
  table: MovedTable,
): Promise<TableDigest> {
  const { name, columns } = table
  const listed = columns.map((column) => `"${column}"`).join(', ')
  const text = `insert into "${name}" (${listed}) overriding system value
    select ${listed} from json_populate_recordset(null::"${name}", $1::json)`
  const digest = new TableDigest()
  let slice: string[] = []
  let length = 0
  const send = async () => {
    if (slice.length > 0) await target.query(text, [`[${slice.join(',')}]`])
    slice = []
    length = 0
  }
  const statement = source.database.prepare(table.source)
  statement.setReturnArrays(true)
  for (const row of statement.iterate()) {
    const values = row as unknown as unknown[]
    digest.add(values)
    const json = JSON.stringify(Object.fromEntries(columns.map((column, at) => [column, values[at]])))
    slice.push(json)
    length += json.length
    if (slice.length >= sliceRows || length >= sliceLength) await send()
  }
  await send()
  return digest
}

/** Reads all rows of a table of the target and compares them with what was sent. */
export async function verifyTable(target: pg.Client, table: MovedTable, sent: TableDigest): Promise<void> {
  const listed = table.columns.map((column) => `"${column}"`).join(', ')
  await target.query(`declare moved no scroll cursor for select ${listed} from "${table.name}"`)
  const digest = new TableDigest()
  for (;;) {
    const { rows } = await target.query({ text: `fetch ${sliceRows} from moved`, rowMode: 'array' })
    for (const values of rows) digest.add(values)
    if (rows.length === 0) break
  }
  await target.query('close moved')
  if (!digest.equals(sent))
    throw new OperatorError(
      `The rows of ${table.name} are not the same in PostgreSQL: ${sent.rows} with the digest ${sent}, there ${digest.rows} with ${digest}. Nothing was moved.`,
    )
}

/** Lets PostgreSQL number its next row after the highest number that the embedded database ever gave. */
export async function continueNumbers(
  source: SqliteHandle,
  target: pg.Client,
  { name, numbered }: MovedTable,
): Promise<void> {
  if (numbered === undefined) return
  const highest = source.database
    .prepare(
      `select max(coalesce((select max("${numbered}") from "${name}"), 0),
        coalesce((select seq from sqlite_sequence where name = ?), 0)) as n`,
    )
    .get(name)?.n
  await target.query('select setval(pg_get_serial_sequence($1, $2), $3, false)', [
    `"${name}"`,
    numbered,
    Number(highest) + 1,
  ])
}
