import { rmSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { makeDataDir } from './migrated.ts'
import { rounds } from './rounds.ts'
import { callOver, startProcess } from './server-process.ts'

const dataDir = await makeDataDir('keyward-durability-')
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

/** Stays below the limit of the free plan. */
const enough = 20

test('keeps every acknowledged write after a kill during writes', async () => {
  const credentials = { email: 'vendor@example.com', password: 'correct horse' }
  const acknowledged = new Set<string>()
  for (let round = 0; round < rounds(1, 20); round += 1) {
    const server = await startProcess({ DATA_DIR: dataDir })
    const call = (method: string, path: string, options = {}) => callOver(server.url, method, path, options)
    const signedIn =
      round === 0
        ? await call('POST', '/auth/register', { body: { name: 'Vendor', ...credentials } })
        : await call('POST', '/auth/login', { body: credentials })
    const { token } = signedIn.json.data
    if (round === 0) await call('POST', '/apps', { token, body: { name: 'Atlas' } })
    const [app] = (await call('GET', '/apps', { token })).json.data.apps
    await expectAll(server.url, token, acknowledged)
    await call('DELETE', '/licenses', { token })
    acknowledged.clear()

    let killed: Promise<unknown> | undefined
    const write = async (): Promise<void> => {
      while (!killed) {
        const body = { app: app._id, expiresAt: '2999-01-01' }
        const answer = await call('POST', '/licenses', { token, body }).catch(() => undefined)
        if (answer?.status !== 201) continue
        acknowledged.add(answer.json.data.license.key)
        if (acknowledged.size >= enough) killed ??= server.end('SIGKILL')
      }
    }
    await Promise.all(Array.from({ length: 8 }, write))
    await killed
    expect(acknowledged.size).toBeGreaterThanOrEqual(enough)
  }
  const server = await startProcess({ DATA_DIR: dataDir })
  const { json } = await callOver(server.url, 'POST', '/auth/login', { body: credentials })
  await expectAll(server.url, json.data.token, acknowledged)
  expect(await server.end('SIGTERM')).toBe(0)
})

async function expectAll(url: string, token: string, keys: Set<string>): Promise<void> {
  const { json } = await callOver(url, 'GET', '/licenses?limit=200', { token })
  const stored = new Set(json.data.licenses.map((license: { key: string }) => license.key))
  expect([...keys].filter((key) => !stored.has(key))).toEqual([])
}
