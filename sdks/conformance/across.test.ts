// In the full run: programs in all four languages share what they keep.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Adapter } from './adapter.ts'
import { findLanguage, type LanguageName, languageNames } from './languages.ts'
import { type LiveServer, startServer, type Vendor } from './server.ts'
import { startStandIn, succeed, user } from './stand-in.ts'

const languages = languageNames.map((name) => findLanguage(name))
const isMissing = (name: LanguageName) => languages.some((each) => each.name === name && each.missing)
const pairs = languageNames.flatMap((one) =>
  languageNames.filter((other) => other !== one).map((other) => [one, other] as const),
)

describe("programs in two languages that share a user's data folder", () => {
  let folder: string
  const adapters = new Map<LanguageName, Adapter>()
  let server: LiveServer
  let vendor: Vendor

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'keyward-across-'))
    server = await startServer()
    for (const { name, missing, command } of languages) {
      if (missing === undefined) adapters.set(name, await Adapter.start(await command(), { folder }))
    }
  }, 600_000)
  afterAll(async () => {
    for (const adapter of adapters.values()) await adapter.stop()
    await server.close()
    rmSync(folder, { recursive: true })
  })
  beforeEach(async () => {
    vendor = await server.vendor()
    await vendor.set({ rememberDays: 30 })
  })

  /** A program that starts; `elsewhere` does not reach the server. */
  async function start(language: LanguageName, { elsewhere = false } = {}) {
    const adapter = adapters.get(language)!
    const id = randomUUID()
    const { appId, appSecret: secret } = vendor.app
    const baseUrl = elsewhere ? `${server.baseUrl}/none` : server.baseUrl
    const facts = { baseUrl, appId, secret, publicKeys: vendor.keys, version: '1.0.0', hwid: 'machine-1' }
    await adapter.open(id, { ...facts, storage: 'user-data', timeoutMs: 30_000 })
    return (method: string, ...args: unknown[]) => adapter.call(id, method, ...args)
  }
  const kept = () => JSON.parse(readFileSync(join(folder, 'keyward', `${vendor.app.appId}.json`), 'utf8'))
  const granted = (username: string) => ({ result: { ok: true, user: { username } } })

  for (const [one, other] of pairs) {
    const run = it.skipIf(isMissing(one) || isMissing(other))

    run(`what ${one} keeps, ${other} runs with: lease, remembered sign-in and sign-out`, async () => {
      const { key } = await vendor.issueKey()
      expect(await (await start(one))('license', key)).toMatchObject(granted(key))
      const offline = await start(other, { elsewhere: true })
      const inGrace = { result: { ok: true, offline: { inGrace: false } } }
      expect(await offline('session')).toMatchObject({ ...granted(key), ...inGrace })
      expect(await offline('license', key)).toMatchObject(inGrace)
      const resumed = await start(other)
      expect(await resumed('session')).toMatchObject(granted(key))
      expect(await (await start(one))('session')).toMatchObject(granted(key))
      await resumed('logout')
      expect(await (await start(one))('session')).toMatchObject({ result: { code: 'sessionUnauthed' } })
      expect(kept()).toMatchObject({ lease: '', user: null })
    })

    run(`what ${one} requests, ${other} activates and ${one} ends`, async () => {
      const { key } = await vendor.issueKey()
      const first = await start(one, { elsewhere: true })
      const second = await start(other, { elsewhere: true })
      const { result: request } = await first('offlineRequest', key)
      expect(await second('offlineRequest', key)).toEqual({ result: request })
      const { file } = await vendor.call('POST', `/apps/${vendor.app._id}/offline-activations`, { request })
      expect(await second('activateOffline', file)).toMatchObject(granted(key))
      expect(await first('session')).toMatchObject(granted(key))
      expect(await first('license', key)).toMatchObject(granted(key))
      const { result: code } = await first('deactivateOffline')
      expect(code).toMatch(/^KWD1(?:-[0-9A-HJKMNP-TV-Z]{4}){4}$/)
      expect(await second('session')).toMatchObject({ error: { kind: 'network', offline: 'no_lease' } })
    })
  }

  it('all of them send the same hardware id and the same parts', async () => {
    const standIn = await startStandIn()
    try {
      const sent = []
      for (const [name, adapter] of adapters) {
        const space = standIn.space()
        space.on('license', succeed({ user }))
        const { baseUrl } = space
        const facts = { appId: 'k3yw4rd1', secret: 's', version: '1.0.0', publicKeys: standIn.publicKeys }
        await adapter.open('machine', { baseUrl, ...facts })
        await adapter.call('machine', 'license', 'KEY')
        const { hwid, device } = space.requests('license')[0]?.body ?? {}
        sent.push({ name, hwid, device })
      }
      const [first] = sent
      expect(sent).toEqual(sent.map(({ name }) => ({ ...first, name })))
    } finally {
      await standIn.close()
    }
  })

  it('all of them store at the same time, and nothing is lost', async () => {
    const { key } = await vendor.issueKey()
    const starts = await Promise.all([...adapters.keys()].flatMap((name) => [start(name), start(name)]))
    const results = await Promise.all(
      starts.map((call, at) => (at === 0 ? call('offlineRequest', 'NEVER-ONLINE') : call('license', key))),
    )
    expect(results[0]).toMatchObject({ result: expect.stringMatching(/^KWR1-/) })
    for (const each of results.slice(1)) expect(each).toMatchObject(granted(key))
    expect(kept()).toMatchObject({
      lease: expect.stringMatching(/^ey/),
      deviceToken: expect.any(String),
      activation: { pending: { nonce: expect.stringMatching(/^[0-9a-f]{16}$/) } },
    })
  })
})
