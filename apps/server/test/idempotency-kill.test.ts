import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { License } from '@keyward/contract'
import { afterAll, expect, test } from 'vitest'
import { copyMigratedFile, makeDataDir } from './migrated.ts'
import { rounds } from './rounds.ts'
import { callOver, startProcess } from './server-process.ts'

const dataDir = await makeDataDir('keyward-idempotency-')
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

/** Stays below the limit of the free plan. */
const licenseCount = 25
const day = 86_400_000
const ends = '2999-01-01T00:00:00.000Z'

test('a repeat after a kill extends each license exactly once', async () => {
  let server = await startProcess({ DATA_DIR: dataDir })
  const call = (method: string, path: string, options = {}) => callOver(server.url, method, path, options)
  const vendor = { name: 'Vendor', email: 'vendor@example.com', password: 'correct horse' }
  const { token } = (await call('POST', '/auth/register', { body: vendor })).json.data
  const { app } = (await call('POST', '/apps', { token, body: { name: 'Atlas' } })).json.data
  for (let round = 0; round < rounds(1, 20); round += 1) {
    await call('DELETE', '/licenses', { token })
    const made = await call('POST', '/licenses', {
      token,
      body: { app: app._id, expiresAt: ends, count: licenseCount },
    })
    const ids = made.json.data.licenses.map(({ _id }: License) => _id)

    const extend = (id: string) =>
      call('POST', '/licenses/bulk', {
        token,
        body: { action: 'extend', ids: [id], days: 1 },
        headers: { 'idempotency-key': `${round}-${id}` },
      })
    let killed: Promise<unknown> | undefined
    let answered = 0
    await Promise.all(
      ids.map(async (id: string) => {
        const answer = await extend(id).catch(() => undefined)
        if (answer?.status !== 200) return
        answered += 1
        if (answered >= 5) killed ??= server.end('SIGKILL')
      }),
    )
    await killed
    expect(answered).toBeGreaterThanOrEqual(5)

    server = await startProcess({ DATA_DIR: dataDir })
    for (const id of ids) expect(await extend(id)).toMatchObject({ status: 200 })
    const { licenses } = (await call('GET', '/licenses?limit=200', { token })).json.data
    const once = new Date(Date.parse(ends) + day).toISOString()
    expect(licenses.map(({ expiresAt }: License) => expiresAt)).toEqual(ids.map(() => once))
  }
  expect(await server.end('SIGTERM')).toBe(0)
})

test('after a kill at any time, a deletion in slices is completed, and a repeat generates licenses once', async () => {
  const environment = { DATA_DIR: join(dataDir, 'slices'), DEFAULT_PLAN: 'premium' }
  await copyMigratedFile(environment.DATA_DIR)
  let server = await startProcess(environment)
  const vendor = { name: 'Vendor', email: 'vendor@example.com', password: 'correct horse' }
  const { token } = (await callOver(server.url, 'POST', '/auth/register', { body: vendor })).json.data
  const call = (method: string, path: string, body?: unknown, key?: string) =>
    callOver(server.url, method, path, { token, body, ...(key && { headers: { 'idempotency-key': key } }) })
  const rows = rounds(1200, 3000)
  const csv = `expiresAt\n${'2999-01-01\n'.repeat(rows)}`

  let tookMs = 0
  const parts = rounds(1, 8)
  for (let round = 0; round <= parts; round += 1) {
    const [{ app: deleted }, { app }] = [
      (await call('POST', '/apps', { name: `Deleted ${round}` })).json.data,
      (await call('POST', '/apps', { name: `Filled ${round}` })).json.data,
    ]
    const imported = await call('POST', '/licenses/import', { app: deleted._id, csv })
    expect(imported.json.data.created).toBe(rows)
    const deleteBy = (key: string) => call('DELETE', `/licenses?app=${deleted._id}`, undefined, key)
    const deletion = () => deleteBy(`deletion-${round}`)
    const generation = (at: number) => () =>
      call('POST', '/licenses', { app: app._id, expiresAt: ends, count: 50 }, `generation-${round}-${at}`)
    const requests = [deletion, ...Array.from({ length: 5 }, (_, at) => generation(at))]

    // The first round is not interrupted: it shows how long the requests take.
    const began = performance.now()
    const running = Promise.all(requests.map((send) => send().catch(() => undefined)))
    if (round > 0) {
      await pause((tookMs * round) / (parts + 1))
      await server.end('SIGKILL')
    }
    const first = await running
    if (round === 0) tookMs = performance.now() - began
    else server = await startProcess(environment)

    const repeated = []
    for (const send of requests) repeated.push(await send())
    const [removed, ...generated] = repeated
    if (removed?.json.code === 'request_interrupted') await deleteBy(`deletion-again-${round}`)
    else expect(removed?.json.data.deletedCount).toBe(rows)
    expect(generated.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
    for (const [at, answer] of first.entries()) if (answer) expect(repeated[at]?.json).toEqual(answer.json)
    const { licenses, stats } = (await call('GET', `/licenses?app=${app._id}&limit=200`)).json.data
    expect(stats.total).toBe(250)
    const keys = generated.flatMap(({ json }) => json.data.licenses.map(({ key }: License) => key))
    expect(new Set(keys).size).toBe(250)
    expect(keys).toEqual(expect.arrayContaining(licenses.map(({ key }: License) => key)))
    expect((await call('GET', `/licenses?app=${deleted._id}`)).json.data.stats.total).toBe(0)
  }
  expect(await server.end('SIGTERM')).toBe(0)
})
