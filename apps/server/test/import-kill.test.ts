import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '@keyward/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SqliteHandle } from '../src/db/sqlite/handle.ts'
import { rounds } from './rounds.ts'
import { callOver, type ServerProcess, startProcess } from './server-process.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'keyward-import-'))
const environment = { DATA_DIR: dataDir, DEFAULT_PLAN: 'premium' }
const rows: number = limits.importRowsMax
const csv = ['expiresAt,note', ...Array.from({ length: rows }, (_, at) => `2090-01-01,Note ${at}`)].join('\n')

let server: ServerProcess
let file: SqliteHandle
let token: string
let app: string
beforeAll(async () => {
  server = await startProcess(environment)
  const vendor = { name: 'Vendor', email: 'vendor@example.com', password: 'correct horse' }
  token = (await callOver(server.url, 'POST', '/auth/register', { body: vendor })).json.data.token
  app = (await callOver(server.url, 'POST', '/apps', { token, body: { name: 'Atlas' } })).json.data.app._id
  file = new SqliteHandle(join(dataDir, 'keyward.db'), { readOnly: true })
})
afterAll(async () => {
  file.close()
  await server.end('SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
})

const read = (text: string) => Number(Object.values(file.prepare(text).get() ?? {})[0] ?? 0)
const readAll = () => ({
  licenses: read('select count(*) from licenses'),
  counted: read('select license_count from apps'),
  inBlocks: read('select sum(n) from license_blocks'),
  recorded: read(`select count(*) * ${rows} from audit where action = 'licenses.imported'`),
  chunks: read('select count(*) from import_chunks'),
})
const untilCompleted = () => expect.poll(() => read('select count(*) from imports')).toBe(0)

let before = 0
/** Checks that all licenses of an import exist, or none; all of them if it was answered. */
async function expectAllOrNone(isAnswered: boolean): Promise<void> {
  await untilCompleted()
  const { licenses, chunks, ...others } = readAll()
  expect(isAnswered ? [before + rows] : [before, before + rows]).toContain(licenses)
  expect(others).toEqual({ counted: licenses, inBlocks: licenses, recorded: licenses })
  expect(chunks).toBe(0)
  before = licenses
}

interface Sent {
  key?: string
  signal?: AbortSignal
}

/** Sends an import; resolves to whether it was answered. */
const importing = ({ key, signal }: Sent = {}): Promise<boolean> =>
  fetch(`${server.url}/api/licenses/import`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: JSON.stringify({ app, csv, dryRun: false }),
    ...(signal && { signal }),
  })
    .then(async (answer) => (await answer.text()).includes(`"created":${rows}`))
    .catch(() => false)

/** Resolves when an import is stored and at most this share of it is not yet licenses; false if it ended before. */
async function untilLeft(share: number, running: Promise<unknown>): Promise<boolean> {
  let hasEnded = false
  running.then(() => {
    hasEnded = true
  })
  while (!hasEnded) {
    if (
      read(`select count(*) from imports where
      (select coalesce(sum(n), 0) from import_chunks where import_id = imports.id) <= ${share} * count`)
    )
      return true
    await pause(1)
  }
  return false
}

test.each(rounds([0.5], [1, 0.9, 0.5, 0.1]))(
  'an import killed with a share of %d left is completed after the restart',
  async (left) => {
    // On a slow machine this process may see the right moment too late.
    for (let isMidway = false; !isMidway; ) {
      const running = importing()
      const wasStored = await untilLeft(left, running)
      await server.end('SIGKILL')
      const { licenses } = readAll()
      const isAnswered = await running
      server = await startProcess(environment)
      await expectAllOrNone(isAnswered || wasStored)
      isMidway = licenses < before
    }
  },
)

test('a kill at any time leaves all licenses of an import with their record, or none', async () => {
  const timed = performance.now()
  expect(await importing()).toBe(true)
  const tookMs = performance.now() - timed
  await expectAllOrNone(true)
  for (const part of rounds([0.4], [0.1, 0.25, 0.4, 0.7])) {
    const running = importing()
    await pause(tookMs * part)
    await server.end('SIGKILL')
    const isAnswered = await running
    server = await startProcess(environment)
    await expectAllOrNone(isAnswered)
  }
})

test('a repeat after a kill at any time imports each line exactly once', async () => {
  const expected = before + rows
  const timed = performance.now()
  expect(await importing({ key: 'first' })).toBe(true)
  const tookMs = performance.now() - timed
  await expectAllOrNone(true)
  expect(before).toBe(expected)
  for (const part of rounds([0.5], [0.3, 0.5, 0.8])) {
    const key = `killed-${part}`
    const running = importing({ key })
    await pause(tookMs * part)
    await server.end('SIGKILL')
    await running
    server = await startProcess(environment)
    const once = before + rows
    expect(await importing({ key })).toBe(true)
    await expectAllOrNone(true)
    expect(before).toBe(once)
  }
})

test('an import goes on without its client, and ends before a shutdown', async () => {
  const disconnecting = new AbortController()
  const running = importing({ signal: disconnecting.signal })
  await untilLeft(0.9, running)
  disconnecting.abort()
  await running
  await expectAllOrNone(true)

  const stopped = importing()
  await untilLeft(0.9, stopped)
  expect(await server.end('SIGTERM')).toBe(0)
  const isAnswered = await stopped
  expect(read('select count(*) from imports')).toBe(isAnswered ? 0 : 1)
  server = await startProcess(environment)
  await expectAllOrNone(true)
})
