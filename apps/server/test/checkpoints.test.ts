import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type OpenDatabase, openDatabase } from '../src/db/open.ts'
import { transactRecorded } from '../src/db/record.ts'
import { inSlices } from '../src/db/slices.ts'
import { Checkpoints } from '../src/db/sqlite/checkpoints.ts'
import { SqliteHandle } from '../src/db/sqlite/handle.ts'
import { transact } from '../src/db/transact.ts'
import { copyMigratedFile } from './migrated.ts'

let dataDir: string
let database: OpenDatabase & { dialect: 'sqlite' }

function open() {
  const opened = openDatabase({ url: undefined, dataDir })
  if (opened.dialect !== 'sqlite') throw new Error('expected an embedded database')
  database = opened
}

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'keyward-checkpoints-'))
  await copyMigratedFile(dataDir)
  open()
})
afterEach(async () => {
  await database.close()
  rmSync(dataDir, { recursive: true, force: true })
})

let written = 0

/** Writes rows of 4 KiB in one transaction, by default a megabyte. */
const writeRows = (rows = 256) =>
  transact(database.db, async (tx) => {
    for (let row = 0; row < rows; row += 1) {
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
  // Nothing is copied while a copy runs, so on a slow disk the first ten are not enough.
  for (let megabyte = 0; megabyte < 60 && megabytes('keyward.db') < before + 8; megabyte += 1)
    await writeRows()
  expect(megabytes('keyward.db')).toBeGreaterThan(before + 8)
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
  await writeRows()
  const first = salt()
  // Short transactions: on a slow machine a long one outlasts the thread's wait for its turn.
  const write = async () => {
    for (let writes = 0; writes < 4000 && salt() === first; writes += 1) await writeRows(16)
  }
  await Promise.all([write(), write(), write(), write()])
  expect(salt()).not.toBe(first)
})

test('nothing is copied after a sync of the database failed, which is reported once', async () => {
  const writer = new SqliteHandle(join(dataDir, 'other.db'), { readOnly: false })
  const failures: unknown[] = []
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads')
    parentPort.on('message', () => {
      parentPort.postMessage({ failure: { code: 'EIO' } })
      parentPort.postMessage('copied')
    })`,
    { eval: true },
  )
  const orders = vi.spyOn(worker, 'postMessage')
  const checkpoints = new Checkpoints(
    writer,
    (cause) => failures.push(cause),
    () => worker,
  )
  try {
    checkpoints.startAfterMany()
    await expect.poll(() => failures).toEqual([{ code: 'EIO' }])
    await checkpoints.untilShort()
    expect(checkpoints.shortening).toBeUndefined()
    checkpoints.start()
    checkpoints.startAfterMany()
    expect(orders).toHaveBeenCalledTimes(1)
    expect(failures).toHaveLength(1)
  } finally {
    await checkpoints.close()
    writer.close()
  }
})

/** Writes this many rows of 4 KiB in slices. */
const writeInSlices = (rows: number) => {
  const actor = { kind: 'operator', ownerId: null } as const
  const { db } = database
  return inSlices(
    {
      db,
      tx: (_, work, options) => transactRecorded(db, { actor, now: 1, publish: () => {} }, work, options),
    },
    actor,
    async ({ tx }, size, first = 0) => {
      const found = Math.min(size, rows - first)
      await sql`insert into meta (name, value)
        with recursive numbers (i) as (select ${first} union all select i + 1 from numbers where i + 1 < ${first + found})
        select 'slice-' || i, printf('%.4000c', 'x') from numbers`.execute(tx)
      return { found, mark: first + found }
    },
  )
}

test('slices wait while a reader keeps the log longer than 64 MB, and other writes do not', async () => {
  const reader = new DatabaseSync(join(dataDir, 'keyward.db'), { readOnly: true })
  try {
    reader.exec('begin')
    reader.prepare('select * from meta').all()
    const rows = 26_000
    const running = writeInSlices(rows)
    await expect.poll(() => megabytes('keyward.db-wal'), { timeout: 60_000 }).toBeGreaterThan(64)
    for (let at = 0; at < 100; at += 1) {
      await transact(database.db, (tx) =>
        tx
          .insertInto('meta')
          .values({ name: `short-${at}`, value: 'x' })
          .execute(),
      )
    }
    expect(megabytes('keyward.db-wal')).toBeLessThan(88)
    reader.exec('rollback')
    expect(await running).toBe(rows)
  } finally {
    reader.close()
  }
})

test('everything is there after closing during writes and opening again', async () => {
  const writes = Array.from({ length: 8 }, () => writeRows())
  await Promise.all(writes)
  await database.close()
  open()
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
