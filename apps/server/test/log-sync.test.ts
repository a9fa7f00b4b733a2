import { existsSync, fdatasync, fstatSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { storageFailureOf } from '../src/db/failure.ts'
import { LogSync, type Sync } from '../src/db/sqlite/checkpoints.ts'
import { CommitGroups } from '../src/db/sqlite/commit-groups.ts'
import { SqliteHandle } from '../src/db/sqlite/handle.ts'
import { callOver, startProcess } from './server-process.ts'

let folder: string
let path: string
let writer: SqliteHandle
let groups: CommitGroups
let log: LogSync
let failures: unknown[]
/** Syncs that have started; the test ends them. */
let syncs: { file: number; end: (code?: string) => void }[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyward-log-sync-'))
  path = join(folder, 'test.db')
  failures = []
  syncs = []
  open((file, done) => {
    const end = (code?: string) => done(code ? Object.assign(new Error(code), { code }) : null)
    syncs.push({ file, end })
  })
  writer.database.exec('create table names (name text primary key)')
})
afterEach(() => {
  writer.close()
  rmSync(folder, { recursive: true, force: true })
})

function open(sync: Sync) {
  writer = new SqliteHandle(path, { readOnly: false })
  log = new LogSync(
    () => `${path}-wal`,
    (error) => failures.push(error),
    sync,
  )
  // On a busy machine the usual age limit would end a group early.
  const limits = { transactions: 64, ms: 60_000 }
  groups = new CommitGroups(writer, (error) => failures.push(error), limits, log)
}

/** Starts a transaction; `ended` says how it was reported. */
function insert(name: string, how: 'release' | 'rollback' = 'release') {
  const write = { name, ended: undefined as string | undefined, error: undefined as unknown }
  const run = async () => {
    const transaction = await groups.begin(false)
    await transaction.run('insert into names values (?)', [name])
    await transaction.end(how)
  }
  run().then(
    () => {
      write.ended = 'stored'
    },
    (error) => {
      write.ended = 'failed'
      write.error = error
    },
  )
  return write
}

async function turns() {
  for (let turned = 0; turned < 20; turned += 1) await turn()
}

const stored = (): unknown[] =>
  writer.database
    .prepare('select name from names order by name')
    .all()
    .map(({ name }) => name)

test('reports no transaction before the log with its commit is on disk', async () => {
  const [one, two] = [insert('one'), insert('two')]
  await turns()
  expect([syncs.length, stored(), one.ended, two.ended]).toEqual([1, ['one', 'two'], undefined, undefined])
  expect(fstatSync(syncs[0]?.file ?? -1).ino).toBe(statSync(`${path}-wal`).ino)
  syncs[0]?.end()
  await turns()
  expect([one.ended, two.ended]).toEqual(['stored', 'stored'])
})

test('a sync in progress covers no later commit; those share the next one', async () => {
  const first = insert('first')
  await turns()
  const later = ['a', 'b', 'c'].map((name) => insert(name))
  await turns()
  expect([syncs.length, stored().length]).toEqual([1, 4])
  syncs[0]?.end()
  await turns()
  expect([first.ended, ...later.map(({ ended }) => ended)]).toEqual([
    'stored',
    undefined,
    undefined,
    undefined,
  ])
  expect(syncs).toHaveLength(2)
  syncs[1]?.end()
  await turns()
  expect(later.map(({ ended }) => ended)).toEqual(['stored', 'stored', 'stored'])
  expect(syncs).toHaveLength(2)
})

test('a rejection waits for commits that it may have read', async () => {
  insert('first')
  await turns()
  const rejected = insert('second', 'rollback')
  await turns()
  expect(rejected.ended).toBeUndefined()
  syncs[0]?.end()
  await turns()
  syncs[1]?.end()
  await turns()
  expect([rejected.ended, stored()]).toEqual(['stored', ['first']])
})

test.each([
  ['EIO', 'database_unavailable'],
  ['ENOSPC', 'storage_full'],
])('after a sync failed with %s no write is reported as stored', async (code, failure) => {
  const first = insert('first')
  await turns()
  const second = insert('second')
  await turns()
  syncs[0]?.end(code)
  await turns()
  syncs[1]?.end()
  await turns()
  const third = insert('third')
  await turns()
  expect([first, second, third].map(({ ended }) => ended)).toEqual(['failed', 'failed', 'failed'])
  expect([first, second, third].map(({ error }) => storageFailureOf(error))).toEqual(Array(3).fill(failure))
  expect(failures).toHaveLength(1)
  expect(stored()).not.toContain('third')
})

test('nothing is stored after the disk did not store what was copied from the log', async () => {
  log.fail({ code: 'EIO' })
  log.fail({ code: 'ENOSPC' })
  const write = insert('one')
  await turns()
  expect([write.ended, storageFailureOf(write.error)]).toEqual(['failed', 'database_unavailable'])
  expect([failures.length, stored()]).toEqual([1, []])
})

test('a long transaction that was open when a sync failed is not reported as stored', async () => {
  insert('first')
  await turns()
  const long = await groups.begin(true)
  await long.run('insert into names values (?)', ['long'])
  syncs[0]?.end('EIO')
  const ended = long.end('release').catch(storageFailureOf)
  await expect.poll(() => syncs.length).toBe(2)
  syncs[1]?.end()
  expect(await ended).toBe('database_unavailable')
  await expect(groups.begin(true)).rejects.toThrow('restart the server')
})

test('closing after a failed sync leaves the whole log to the next start', async () => {
  const logSize = () => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size
  insert('one')
  await turns()
  syncs[0]?.end()
  await turns()
  const before = logSize()
  log.fail({ code: 'EIO' })
  const closing = groups.close()
  await turns()
  syncs[1]?.end()
  await closing
  writer.close()
  expect([before, logSize()]).toEqual([expect.any(Number), before])
})

test('a log that cannot be opened is a failed sync', async () => {
  writer.close()
  open(fdatasync)
  writer.database.location = () => `${path}-elsewhere`
  groups = new CommitGroups(writer, (error) => failures.push(error))
  const write = insert('one')
  await turns()
  expect([write.ended, failures.length]).toEqual(['failed', 1])
})

test('closing waits for the sync', async () => {
  const write = insert('one')
  await turns()
  let isClosed = false
  const closing = groups.close().then(() => {
    isClosed = true
  })
  await turns()
  expect([write.ended, isClosed]).toEqual([undefined, false])
  const late = insert('late')
  syncs[0]?.end()
  await turns()
  syncs[1]?.end()
  await closing
  await turns()
  expect([write.ended, late.ended]).toEqual(['stored', 'failed'])
})

/** Makes every sync fail as soon as the file exists. */
const failing = (flag: string) => `
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
const real = fs.fdatasync
const error = Object.assign(new Error('EIO'), { code: 'EIO' })
fs.fdatasync = (file, done) => fs.existsSync(${JSON.stringify(flag)}) ? setImmediate(done, error) : real(file, done)
syncBuiltinESMExports()`

test('a server on a failed disk asks for a restart until it is restarted', async () => {
  const flag = join(folder, 'fails')
  const patch = `data:text/javascript,${encodeURIComponent(failing(flag))}`
  const environment = {
    DATA_DIR: join(folder, 'data'),
    NODE_OPTIONS: `--import=${patch}`,
    LOG_LEVEL: 'error',
  }
  const server = await startProcess(environment)
  const register = (url: string, email: string) =>
    callOver(url, 'POST', '/auth/register', { body: { name: 'Vendor', email, password: 'correct horse' } })
  expect((await register(server.url, 'a@example.com')).status).toBe(201)
  writeFileSync(flag, '')
  expect((await register(server.url, 'b@example.com')).status).toBe(503)
  rmSync(flag)
  const ready = await callOver(server.url, 'GET', '/ready')
  expect([ready.status, ready.json.message]).toEqual([503, expect.stringContaining('restart the server')])
  expect((await register(server.url, 'c@example.com')).status).toBe(503)
  expect(await server.end('SIGTERM')).toBe(0)
  expect(existsSync(join(folder, 'data', 'keyward.db-wal'))).toBe(true)

  const again = await startProcess(environment)
  expect((await callOver(again.url, 'GET', '/ready')).status).toBe(200)
  expect((await register(again.url, 'c@example.com')).status).toBe(201)
  expect(await again.end('SIGTERM')).toBe(0)
})
