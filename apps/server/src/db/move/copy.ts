import type pg from 'pg'
import { OperatorError } from '../../core/operator-error.ts'
import { TableDigest } from './digest.ts'
import type { Source } from './source.ts'
import type { MovedTable } from './tables.ts'

// Bounds the memory of both processes.
const sliceRows = 1000
const sliceLength = 1_000_000

/** What was sent to a table, and what was read back from it. */
export interface Digests {
  sent: TableDigest
  there: TableDigest
}

const list = (columns: readonly string[], of = '') => columns.map((column) => `${of}"${column}"`).join(', ')
const jsonRows = (name: string) => `json_populate_recordset(null::"${name}", $1::json)`
const isSame = ({ key }: MovedTable) => key.map((column) => `t."${column}" = sent."${column}"`).join(' and ')

/** Passes rows on as JSON, some at a time. */
async function inSlices(
  rows: Iterable<unknown[]>,
  { columns }: MovedTable,
  send: (json: string) => Promise<unknown>,
): Promise<void> {
  let slice: string[] = []
  let length = 0
  const sendSlice = async () => {
    if (slice.length > 0) await send(`[${slice.join(',')}]`)
    slice = []
    length = 0
  }
  for (const values of rows) {
    const json = JSON.stringify(Object.fromEntries(columns.map((column, at) => [column, values[at]])))
    slice.push(json)
    length += json.length
    if (slice.length >= sliceRows || length >= sliceLength) await sendSlice()
  }
  await sendSlice()
}

function* noting(rows: Iterable<unknown[]>, note: (values: unknown[]) => void): Iterable<unknown[]> {
  for (const values of rows) {
    note(values)
    yield values
  }
}

const insertInto = ({ name, columns }: MovedTable) =>
  `insert into "${name}" (${list(columns)}) overriding system value select ${list(columns)} from ${jsonRows(name)}`

/** Copies all rows that a table has in a state, then reads them back. */
export async function copyTable(
  source: Source,
  target: pg.Client,
  table: MovedTable,
  state: string,
): Promise<Digests> {
  const sent = new TableDigest()
  const rows = noting(source.rows(table.rows(state)), (values) => sent.add(values))
  await inSlices(rows, table, (json) => target.query(insertInto(table), [json]))
  return { sent, there: await digestOf(target, table) }
}

async function digestOf(target: pg.Client, { name, columns }: MovedTable): Promise<TableDigest> {
  await target.query(`declare moved no scroll cursor for select ${list(columns)} from "${name}"`)
  const digest = new TableDigest()
  for (;;) {
    const { rows } = await target.query({ text: `fetch ${sliceRows} from moved`, rowMode: 'array' })
    for (const values of rows) digest.add(values)
    if (rows.length === 0) break
  }
  await target.query('close moved')
  return digest
}

/**
 * Brings a table from one state to a later one; returns the number of changed rows. All old rows are deleted first: a new one may
 * have what a unique index kept for them.
 */
export async function updateTable(
  source: Source,
  target: pg.Client,
  table: MovedTable,
  { sent, there }: Digests,
  [before, after]: readonly [string, string],
): Promise<number> {
  const { name, columns } = table
  let changed = 0
  const old = noting(source.rows(table.rowsMissing(before, after)), (values) => {
    changed += 1
    sent.remove(values)
  })
  await inSlices(old, table, async (json) => {
    const text = `delete from "${name}" t using ${jsonRows(name)} sent where ${isSame(table)} returning ${list(columns, 't.')}`
    const { rows } = await target.query({ text, values: [json], rowMode: 'array' })
    for (const values of rows) there.remove(values)
  })
  const added = noting(source.rows(table.rowsMissing(after, before)), (values) => {
    changed += 1
    sent.add(values)
  })
  await inSlices(added, table, async (json) => {
    await target.query(insertInto(table), [json])
    const text = `select ${list(columns, 't.')} from "${name}" t join ${jsonRows(name)} sent on ${isSame(table)}`
    const { rows } = await target.query({ text, values: [json], rowMode: 'array' })
    for (const values of rows) there.add(values)
  })
  return changed
}

/** Throws unless a table has there what was sent, and nothing else. */
export async function compareTable(
  target: pg.Client,
  { name }: MovedTable,
  { sent, there }: Digests,
): Promise<void> {
  const { rows } = await target.query(`select count(*) as n from "${name}"`)
  if (there.equals(sent) && Number(rows[0]?.n) === sent.rows) return
  throw new OperatorError(
    `The rows of ${name} are not the same in PostgreSQL: ${sent.rows} with the digest ${sent}, there ${rows[0]?.n} with ${there}. Nothing was moved.`,
  )
}

/** Lets PostgreSQL number its next row after the highest number that the embedded database ever gave. */
export async function continueNumbers(
  source: Source,
  target: pg.Client,
  { name, numbered }: MovedTable,
  state: string,
): Promise<void> {
  if (numbered === undefined) return
  await target.query('select setval(pg_get_serial_sequence($1, $2), $3, false)', [
    `"${name}"`,
    numbered,
    source.highest(state, name, numbered) + 1,
  ])
}
