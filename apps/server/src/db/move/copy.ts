import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'
import { OperatorError } from '../../core/operator-error.ts'
import type { MovedTable } from './tables.ts'

// Bounds the memory of both processes.
const sliceRows = 1000
const sliceLength = 1_000_000

const list = (columns: readonly string[]) => columns.map((column) => `"${column}"`).join(', ')

/** Copies all rows of a table, then reads them back. Throws unless they are the same. */
export async function copyTable(
  source: DatabaseSync,
  target: pg.Client,
  table: MovedTable,
): Promise<TableDigest> {
  const sent = new TableDigest()
  let sending: Promise<unknown> = Promise.resolve()
  for (const json of slicesOf(source, table, sent)) {
    // The next slice is read while PostgreSQL stores this one.
    await sending
    sending = target.query(insertInto(table), [json])
    sending.catch(() => {})
  }
  await sending
  const there = await digestOf(target, table)
  if (!there.equals(sent))
    throw new OperatorError(
      `The rows of ${table.name} are not the same in PostgreSQL: ${sent.rows} with the digest ${sent}, there ${there.rows} with ${there}. Nothing was moved.`,
    )
  return sent
}

const insertInto = ({ name, columns }: MovedTable) =>
  `insert into "${name}" (${list(columns)}) overriding system value
    select ${list(columns)} from json_populate_recordset(null::"${name}", $1::json)`

/** The rows of a table as JSON, some at a time. */
function* slicesOf(source: DatabaseSync, { rows, columns }: MovedTable, sent: TableDigest): Iterable<string> {
  const statement = source.prepare(rows)
  statement.setReturnArrays(true)
  let slice: string[] = []
  let length = 0
  for (const values of statement.iterate() as unknown as Iterable<unknown[]>) {
    sent.add(values)
    const json = JSON.stringify(Object.fromEntries(columns.map((column, at) => [column, values[at]])))
    slice.push(json)
    length += json.length
    if (slice.length < sliceRows && length < sliceLength) continue
    yield `[${slice.join(',')}]`
    slice = []
    length = 0
  }
  if (slice.length > 0) yield `[${slice.join(',')}]`
}

async function digestOf(target: pg.Client, { name, columns }: MovedTable): Promise<TableDigest> {
  await target.query(`declare moved no scroll cursor for select ${list(columns)} from "${name}"`)
  const digest = new TableDigest()
  const fetch = () => target.query({ text: `fetch ${sliceRows} from moved`, rowMode: 'array' })
  for (let fetching = fetch(); ; ) {
    const { rows } = await fetching
    if (rows.length === 0) break
    fetching = fetch()
    fetching.catch(() => {})
    for (const values of rows) digest.add(values)
  }
  await target.query('close moved')
  return digest
}

/** Lets PostgreSQL number its next row after the highest number that the embedded database ever gave. */
export async function continueNumbers(
  source: DatabaseSync,
  target: pg.Client,
  { name, numbered }: MovedTable,
): Promise<void> {
  if (numbered === undefined) return
  const highest = source
    .prepare(
      `select max(coalesce((select max("${numbered}") from "${name}"), 0),
        coalesce((select seq from sqlite_sequence where name = ?), 0)) as n`,
    )
    .get(name)
  const next = Number(highest?.n) + 1
  await target.query('select setval(pg_get_serial_sequence($1, $2), $3, false)', [
    `"${name}"`,
    numbered,
    next,
  ])
}

/**
 * The digest of a table, whatever the order of its rows: the number of rows, and the sum of their hashes. Each database
 * sorts texts in its own way, and sorting a large table would take it more memory than one row at a time.
 */
export class TableDigest {
  rows = 0
  #sum = 0n

  add(values: readonly unknown[]): void {
    this.rows += 1
    this.#sum = BigInt.asUintN(256, this.#sum + BigInt(`0x${hash('sha256', JSON.stringify(values))}`))
  }

  equals(other: TableDigest): boolean {
    return this.rows === other.rows && this.#sum === other.#sum
  }

  toString(): string {
    return this.#sum.toString(16).padStart(64, '0')
  }
}
