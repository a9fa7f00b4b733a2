import { Readable } from 'node:stream'
import type { Client, License } from '@keyward/contract'
import { FileAnswer } from '../../core/answers.ts'
import { toCsvLine } from './csv.ts'

type Columns<Row> = Record<string, (row: Row) => string | boolean | null>

export const licenseColumns: Columns<License> = {
  key: (license) => license.key,
  app: (license) => license.app.name,
  appId: (license) => license.app.appId,
  status: (license) => license.status,
  used: (license) => license.used,
  usedBy: (license) => license.usedBy?.username ?? null,
  usedAt: (license) => license.usedAt,
  banned: (license) => license.banned,
  note: (license) => license.note,
  reseller: (license) => license.reseller?.email ?? null,
  createdAt: (license) => license.createdAt,
  expiresAt: (license) => license.expiresAt,
  _id: (license) => license._id,
}

export const clientColumns: Columns<Client> = {
  username: (client) => client.username,
  email: (client) => client.email,
  app: (client) => client.app.name,
  appId: (client) => client.app.appId,
  status: (client) => client.status,
  banned: (client) => client.ban,
  hwid: (client) => client.hwid,
  licenseKey: (client) => client.licenseKey,
  createdAt: (client) => client.createdAt,
  expiresAt: (client) => client.expiresAt,
  lastLoginAt: (client) => client.lastLoginAt,
  _id: (client) => client._id,
}

interface FileOptions<Row> {
  name: string
  format: 'csv' | 'json'
  columns: Columns<Row>
  now: number
}

/** How many slices are read before the reader has taken the first. */
const slicesAhead = 2

/** A file of rows that is written while they are read: CSV with the columns, or a JSON array of the whole objects. */
export function toFile<Row>(slices: AsyncGenerator<Row[]>, options: FileOptions<Row>): FileAnswer {
  const { name, format, columns, now } = options
  const text = format === 'csv' ? toCsv(slices, columns) : toJson(slices)
  return new FileAnswer({
    name: `${name}-${new Date(now).toISOString().slice(0, 10)}.${format}`,
    type: format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8',
    content: Readable.from(text, { highWaterMark: slicesAhead }),
  })
}

async function* toCsv<Row>(slices: AsyncGenerator<Row[]>, columns: Columns<Row>): AsyncGenerator<string> {
  yield toCsvLine(Object.keys(columns))
  const read = Object.values(columns)
  for await (const rows of slices) {
    yield rows.map((row) => toCsvLine(read.map((of) => String(of(row) ?? '')))).join('')
  }
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
