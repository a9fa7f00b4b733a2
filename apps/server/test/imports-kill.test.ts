import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SqliteHandle } from '../src/db/sqlite/handle.ts'
import { keyAuthUser, usersFile } from './imported.ts'
import { makeDataDir } from './migrated.ts'
import { rounds } from './rounds.ts'
import { callOver, type ServerProcess, startProcess } from './server-process.ts'

const dataDir = await makeDataDir('keyward-imports-')
const environment = { DATA_DIR: dataDir, DEFAULT_PLAN: 'premium' }
const rows = rounds(1200, 3000)

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

const read = (text: string) => Object.values(file.prepare(text).get() ?? {})[0]
const readAll = () => ({
  licenses: read('select count(*) from licenses'),
  clients: read('select count(*) from clients'),
  counted: read('select license_count from apps'),
  devices: read('select count(*) from devices'),
})

/** Kills the server as soon as the import has done some of its rows, and starts it again. */
async function killWhen(isMidway: () => boolean): Promise<void> {
  while (!isMidway()) await pause(1)
  await server.end('SIGKILL')
  server = await startProcess(environment)
}

test('an import that is killed while it reads, creates and undoes is done exactly once', async () => {
  const users = Array.from({ length: rows }, (_, at) =>
    keyAuthUser(`user-${at}`, { hwid: `hwid-${at}-aaaaaaaaaaaaaaaaaaaa` }),
  )
  const inFewYears = String(Math.round(Date.now() / 1000) + 86_400 * 365)
  const subscription = users.map((user) => ({ user: user.username, expiry: inFewYears }))
  const body = { app, preset: 'keyauth', files: [usersFile(users, subscription)] }
  const made = await callOver(server.url, 'POST', '/imports', { token, body })
  const path = `/imports/${made.json.data.import._id}`
  await callOver(server.url, 'POST', `${path}/run`, { token, body: { dryRun: false } })
  const done = () => Number(read('select done from data_imports'))
  const isRead = () => Number(read('select is_read from data_imports')) === 1
  const state = () => read('select state from data_imports')

  await killWhen(() => isRead() || done() > 0)
  await killWhen(() => isRead() && done() > 0)
  await killWhen(() => isRead() && done() > rows / 2)
  await expect.poll(state, { timeout: 120_000 }).toBe('done')
  expect(readAll()).toEqual({ licenses: rows, clients: rows, counted: rows, devices: rows })
  const shown = (await callOver(server.url, 'GET', path, { token })).json.data
  expect(shown.import).toMatchObject({ rows, done: rows, created: rows, licenses: rows, clients: rows })

  await callOver(server.url, 'POST', `${path}/undo`, { token })
  await killWhen(() => state() === 'undone' || done() > 0)
  await expect.poll(state, { timeout: 120_000 }).toBe('undone')
  expect(readAll()).toEqual({ licenses: 0, clients: 0, counted: 0, devices: 0 })
})

test('licenses that a call imports are created exactly once, also if it is killed and repeated', async () => {
  const csv = `expiresAt\n${'2090-01-01\n'.repeat(rows)}`
  const importing = () =>
    fetch(`${server.url}/api/licenses/import`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        'idempotency-key': 'killed',
      },
      body: JSON.stringify({ app, csv, dryRun: false }),
    })
  const created = () =>
    Number(read("select coalesce(sum(created), 0) from data_imports where preset = 'call'"))
  const first = importing().catch(() => undefined)
  await killWhen(() => created() > 0)
  await first
  const repeated = (await (await importing()).json()) as { data: { rows: { key: string }[] } }
  const keys = repeated.data.rows.map(({ key }) => key)
  expect(new Set(keys).size).toBe(rows)
  expect(readAll()).toMatchObject({ licenses: rows, counted: rows })
  expect(
    read(
      "select count(*) from licenses where key in (select value from json_each('" +
        JSON.stringify(keys) +
        "'))",
    ),
  ).toBe(rows)
  const ofCall = `select count(*) from audit where action = 'licenses.imported' and detail = '{"count":${rows}}'`
  expect(read(ofCall)).toBe(1)
  expect(read("select count(*) from data_imports where preset = 'call'")).toBe(0)
})
