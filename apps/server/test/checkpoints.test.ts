import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrate } from '../src/db/migrate.ts'
import { migrations } from '../src/db/migrations/index.ts'
import { type Database, openDatabase, transact } from '../src/db/open.ts'

let dataDir: string
let database: Database & { dialect: 'sqlite' }

async function open() {
  const opened = openDatabase({ url: undefined, dataDir })
  if (opened.dialect !== 'sqlite') throw new Error('expected an embedded database')
  database = opened
  await migrate(database, migrations, { now: 1 })
}

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'keyward-checkpoints-'))
  await open()
})
afterEach(async () => {
  await database.close()
  rmSync(dataDir, { recursive: true, force: true })
})

let written = 0

/** A megabyte in 256 rows of 4 KiB, in one transaction. */
const writeMegabyte = () =>
  transact(database.db, async (tx) => {
    for (let row = 0; row < 256; row += 1) {
      written += 1
      const values = { name: `row-${written}`, value: 'x'.repeat(4000) }
      await tx.insertInto('meta').values(values).execute()
    }
  })

const pragma = (name: string) =>
  Object.values(database.handles.writer.database.prepare(`pragma ${name}`).get() ?? {})[0]
const megabytes = (file: string) => statSync(join(dataDir, file)).size / 1_048_576

test('another thread copies the log into the database, long before the writing connection would', async () => {
  expect(pragma('wal_autocheckpoint')).toBe(24_000)
  const before = megabytes('keyward.db')
  for (let megabyte = 0; megabyte < 10; megabyte += 1) await writeMegabyte()
  await expect.poll(() => megabytes('keyward.db'), { timeout: 10_000 }).toBeGreaterThan(before + 8)
})

/** SQLite changes the salt in the log's header whenever the log starts anew. */
const salt = () => {
  const header = Buffer.alloc(24)
  const log = openSync(join(dataDir, 'keyward.db-wal'), 'r')
  readSync(log, header)
  closeSync(log)
  return header.toString('hex', 16)
}

test('the log starts anew under steady writes without the writing connection', async () => {
  database.handles.writer.database.exec('pragma wal_autocheckpoint = 0')
  await writeMegabyte()
  const first = salt()
  const write = async () => {
    for (let megabyte = 0; megabyte < 60 && salt() === first; megabyte += 1) await writeMegabyte()
  }
  await Promise.all([write(), write(), write(), write()])
  expect(salt()).not.toBe(first)
})

test('everything is there after closing during writes and opening again', async () => {
  const writes = Array.from({ length: 8 }, () => writeMegabyte())
  await Promise.all(writes)
  await database.close()
  await open()
  const { n } = await database.db
    .selectFrom('meta')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('name', 'like', 'row-%')
    .executeTakeFirstOrThrow()
  expect(n).toBe(8 * 256)
  expect(database.handles.writer.database.prepare('pragma integrity_check').get()).toEqual({
    integrity_check: 'ok',
  })
})
