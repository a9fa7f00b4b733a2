import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { License } from '@keyward/contract'
import { afterAll, expect, test } from 'vitest'
import { rounds } from './rounds.ts'
import { callOver, startProcess } from './server-process.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'keyward-idempotency-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

/** Stays below the limit of the free plan. */
const licenseCount = 25
const day = 86_400_000
const ends = '2999-01-01T00:00:00.000Z'

test('a repeat after a kill extends each license exactly once', async () => {
  const credentials = { email: 'vendor@example.com', password: 'correct horse' }
  for (let round = 0; round < rounds(1, 20); round += 1) {
    let server = await startProcess({ DATA_DIR: dataDir })
    const call = (method: string, path: string, options = {}) => callOver(server.url, method, path, options)
    const signedIn =
      round === 0
        ? await call('POST', '/auth/register', { body: { name: 'Vendor', ...credentials } })
        : await call('POST', '/auth/login', { body: credentials })
    const { token } = signedIn.json.data
    if (round === 0) await call('POST', '/apps', { token, body: { name: 'Atlas' } })
    const [app] = (await call('GET', '/apps', { token })).json.data.apps
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
    for (const id of ids) expect((await extend(id)).status).toBe(200)
    const { licenses } = (await call('GET', '/licenses?limit=200', { token })).json.data
    const once = new Date(Date.parse(ends) + day).toISOString()
    expect(licenses.map(({ expiresAt }: License) => expiresAt)).toEqual(ids.map(() => once))
    expect(await server.end('SIGTERM')).toBe(0)
  }
}, 600_000)
