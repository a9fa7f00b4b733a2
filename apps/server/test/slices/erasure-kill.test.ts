// In the full run: it starts a server several times; shops, mails and imports are killed in every run.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/open.ts'
import { eventually } from '../eventually.ts'
import { makePostgresCopy } from '../harness.ts'
import { callOver, quickestOf, startProcess } from '../server-process.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'keyward-erasure-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const host = quickestOf('test/webhook-host.ts')
const endUserCount = 60

test('an erasure that a kill interrupts is finished after the restart, with what was written about its first end users', async () => {
  const isPostgres = process.env.TEST_DATABASE === 'postgres'
  const environment = {
    DATA_DIR: dataDir,
    SECRET_KEY: 'a secret key that only tests use, 32+ characters',
    DEFAULT_PLAN: 'premium',
    ...(isPostgres ? { DATABASE_URL: await makePostgresCopy() } : {}),
  }
  const open = () => openDatabase({ url: environment.DATABASE_URL, dataDir })
  let server = await startProcess(environment, [], host)
  const vendor = { name: 'Vendor', email: 'vendor@example.com', password: 'correct horse' }
  const { token } = (await callOver(server.url, 'POST', '/auth/register', { body: vendor })).json.data
  const call = async (method: string, path: string, body?: object) =>
    callOver(server.url, method, path, { token, body })
  const { app } = (await call('POST', '/apps', { name: 'Atlas' })).json.data
  const email = 'killed@erased.example'
  const { customer } = (await call('POST', '/customers', { email })).json.data
  const direct = { appId: app._id, username: 'killed-0', password: 'swordfish', expiresAt: null }
  const made = await call('POST', '/clients/create-direct', { ...direct, customer: customer._id })
  expect(made.status).toBe(201)
  await server.end('SIGTERM')

  const filling = open()
  const { seq: _, ...row } = await filling.db.selectFrom('clients').selectAll().executeTakeFirstOrThrow()
  const rows = Array.from({ length: endUserCount - 1 }, (_none, at) => {
    const name = `killed-${at + 1}`
    const id = `usr_${String(at).padStart(32, '0')}`
    return { ...row, id, username: name, username_normalized: name }
  })
  for (const one of rows) await filling.db.insertInto('clients').values(one).execute()
  await filling.close()

  server = await startProcess(environment, [], host)
  const erasing = call('DELETE', `/customers/${customer._id}`).catch(() => undefined)
  await eventually(
    async () => {
      const { pagination } = (await call('GET', '/clients?limit=1')).json.data
      expect(pagination.total).toBeLessThan(endUserCount)
    },
    { timeout: 600_000, interval: 1 },
  )
  await server.end('SIGKILL')
  await erasing

  const killed = open()
  const left = await killed.db.selectFrom('clients').select('id').execute()
  expect(left.length).toBeGreaterThan(0)
  expect(await killed.db.selectFrom('customers').select('id').execute()).toEqual([{ id: customer._id }])
  const leftIds = new Set(left.map(({ id }) => id))
  const deleted = [row, ...rows].find(({ id }) => !leftIds.has(id))!
  await killed.db
    .insertInto('activity')
    .values({
      ...{ reference: 'WHILE1', owner_id: row.owner_id, app_id: row.app_id, client_id: deleted.id },
      ...{ kind: 'refused', share: 'refusals', call: 'login', code: 'pwMismatch' },
      ...{ subject: deleted.username, address: '203.0.113.9', detail: null, times: 1 },
      ...{ created_at: Date.now(), last_at: Date.now() },
    })
    .execute()
  await killed.close()

  server = await startProcess(environment, [], host)
  await eventually(async () => expect((await call('GET', `/customers/${customer._id}`)).status).toBe(404), {
    timeout: 600_000,
    interval: 200,
  })
  expect((await call('GET', '/clients')).json.data.clients).toEqual([])
  const { records } = (await call('GET', `/audit?subject=${customer._id}`)).json.data
  const erased = records.find(({ action }: { action: string }) => action === 'customer.erased')
  expect(erased.actor).toMatchObject({ kind: 'owner', name: 'Vendor' })
  expect(await server.end('SIGTERM')).toBe(0)
  const after = open()
  const events = await after.db.selectFrom('activity').selectAll().where('reference', '=', 'WHILE1').execute()
  expect(events).toMatchObject([{ client_id: null, subject: null, address: null }])
  const [erasure] = await after.db.selectFrom('erasures').selectAll().execute()
  expect(erasure).toMatchObject({ ended_at: expect.any(Number) })
  expect(JSON.stringify(erasure)).not.toMatch(/killed/)
  await after.close()
})
