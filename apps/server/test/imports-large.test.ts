import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyAuthUser, usersFile } from './imported.ts'
import { makeDataDir } from './migrated.ts'
import { rounds } from './rounds.ts'
import { callOver, type ServerProcess, startProcess } from './server-process.ts'

const rows = rounds(2000, 200_000)
const isLarge = rows > 2000
const dataDir = await makeDataDir('keyward-large-')
let server: ServerProcess
beforeAll(async () => {
  server = await startProcess({ DATA_DIR: dataDir, DEFAULT_PLAN: 'premium', PAYMENTS: 'off' })
})
afterAll(async () => {
  await server.end('SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
})

async function signUp(name: string) {
  const vendor = { name, email: `${name}@example.com`, password: 'correct horse' }
  const { token } = (await callOver(server.url, 'POST', '/auth/register', { body: vendor })).json.data
  const call = async (method: string, path: string, body?: object) =>
    (await callOver(server.url, method, path, { token, body })).json.data
  return { token, call, app: (await call('POST', '/apps', { name: 'Atlas' })).app }
}

/** A program of another vendor that checks its session all the time. */
async function startChecking() {
  const { call, app } = await signUp('other')
  const { licenses } = await call('POST', '/licenses', { app: app._id, count: 1, expiresAt: '2090-01-01' })
  const { appId, appSecret: secret } = app
  const opened = await callOver(server.url, 'POST', '/client/init', {
    body: { appId, secret, version: '1.0.0' },
  })
  const token = opened.json.data.session
  const headers = { 'keyward-app': appId }
  const body = { licenseKey: licenses[0].key }
  expect((await callOver(server.url, 'POST', '/client/license', { token, headers, body })).status).toBe(200)
  const waits: number[] = []
  let isOver = false
  const checking = (async () => {
    while (!isOver) {
      const begun = performance.now()
      const { status } = await callOver(server.url, 'GET', '/client/session', { token, headers })
      waits.push(status === 200 ? performance.now() - begun : Number.POSITIVE_INFINITY)
      await pause(5)
    }
  })()
  checking.catch(() => {})
  const end = async () => {
    isOver = true
    await checking
    return waits.sort((a, b) => a - b)
  }
  return { end }
}

test('an import of a whole vendor, its report and its undo keep no program of others waiting', async () => {
  const { token, call, app } = await signUp('vendor')
  const users = Array.from({ length: rows }, (_, at) =>
    keyAuthUser(`user-${at}`, { hwid: `hwid-${at}-aaaaaaaaaaaaaaaaaaaa` }),
  )
  const expiry = String(Math.round(Date.now() / 1000) + 86_400 * 365)
  const { name, content } = usersFile(
    users,
    users.map(({ username }) => ({ user: username, expiry })),
  )
  const { import: made } = await call('POST', '/imports', { app: app._id, preset: 'keyauth' })
  const checks = await startChecking()
  const begun = performance.now()
  const uploaded = await fetch(`${server.url}/api/imports/${made._id}/files/${name}`, {
    ...{ method: 'PUT', body: content },
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
  })
  expect(uploaded.status).toBe(200)
  const settled = async () => {
    const read = async () => (await call('GET', `/imports/${made._id}`)).import
    const busy = ['checking', 'running', 'undoing']
    await expect
      .poll(async () => busy.includes((await read()).state), { timeout: 3_000_000, interval: 100 })
      .toBe(false)
    return read()
  }
  await call('POST', `/imports/${made._id}/run`, { dryRun: true })
  expect(await settled()).toMatchObject({ state: 'checked', rows, created: rows })
  await call('POST', `/imports/${made._id}/run`, { dryRun: false })
  expect(await settled()).toMatchObject({ state: 'done', created: rows, licenses: rows, clients: rows })
  const report = await fetch(`${server.url}/api/imports/${made._id}/report`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect((await report.text()).trim().split('\n')).toHaveLength(rows + 1)
  await call('POST', `/imports/${made._id}/undo`)
  expect(await settled()).toMatchObject({ state: 'undone', kept: 0 })
  const tookMs = performance.now() - begun
  const waits = await checks.end()
  expect(waits.length).toBeGreaterThan(0)
  expect(waits).not.toContain(Number.POSITIVE_INFINITY)
  // A small import takes so little that any other load of the machine makes a wait long.
  if (isLarge) expect(waits.at(-1)).toBeLessThan(tookMs / 4)
}, 3_600_000)
