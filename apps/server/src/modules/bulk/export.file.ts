import { Readable } from 'node:stream'
import { type ExportColumns, toExportHeader, toExportLine } from '@keyward/contract'
import { FileAnswer } from '../../core/answers.ts'

interface FileOptions<Row> {
  name: string
  format: 'csv' | 'json'
  columns: ExportColumns<Row>
  now: number
}

/** How many slices are read ahead of the client. */
const slicesAhead = 2

/** Streams rows as a file: CSV with the columns, or a JSON array of the whole objects. */
export function toFile<Row>(slices: AsyncGenerator<Row[]>, options: FileOptions<Row>): FileAnswer {
  const { name, format, columns, now } = options
  const text = format === 'csv' ? toCsv(slices, columns) : toJson(slices)
  return new FileAnswer({
    name: `${name}-${new Date(now).toISOString().slice(0, 10)}.${format}`,
    type: format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8',
    content: Readable.from(text, { highWaterMark: slicesAhead }),
  })
}

async function* toCsv<Row>(
  slices: AsyncGenerator<Row[]>,
  columns: ExportColumns<Row>,
): AsyncGenerator<string> {
  yield toExportHeader(columns)
  for await (const rows of slices) yield rows.map((row) => toExportLine(columns, row)).join('')
}

async function* toJson<Row>(slices: AsyncGenerator<Row[]>): AsyncGenerator<string> {
  yield '['
  let separator = '\n'
  for await (const rows of slices) {
    yield separator + rows.map((row) => JSON.stringify(row)).join(',\n')
    separator = ',\n'
  }
  yield '\n]\n'
}
