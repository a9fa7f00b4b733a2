import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Adapter, Answer } from '../adapter.ts'
import { type LiveServer, startServer, type Vendor } from '../server.ts'

const day = 86_400_000
const reference = expect.stringMatching(/^\w{10}$/)
const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/)
const ada = { username: 'ada', password: 'a good password' }
const refused = (code: string, more: object = {}) => ({ result: { ok: false, code, ...more } })
const granted = (more: object = {}) => ({ result: { ok: true, ...more } })

/** Every call against a real server, with the same expectations for every language. */
export function live(adapter: () => Adapter): void {
  describe('with a real server', () => {
    let server: LiveServer
    let vendor: Vendor
    beforeAll(async () => {
      server = await startServer()
    })
    afterAll(() => server.close())
    beforeEach(async () => {
      vendor = await server.vendor()
    })

    const call = (id: string, method: string, ...args: unknown[]): Promise<Answer> =>
      adapter().call(id, method, ...args)
    /** Starts a program. */
    async function start(options: object = {}, now?: number): Promise<string> {
      const id = randomUUID()
      const { appId, appSecret: secret } = vendor.app
      const { baseUrl } = server
      const facts = { baseUrl, appId, secret, publicKeys: vendor.keys, version: '1.0.0', hwid: 'machine-1' }
      await adapter().open(id, { ...facts, timeoutMs: 30_000, ...options }, now)
      return id
    }
    const storage = () => ({ file: join(adapter().folder, `${randomUUID()}.json`) })

    it('init reports the app, and a newer version of it', async () => {
      await vendor.call('PUT', `/apps/${vendor.app._id}`, { name: 'Tally', version: '1.10.0' })
      expect(await call(await start({ version: '1.9.0' }), 'init')).toMatchObject(
        granted({ app: { name: 'Tally', version: '1.10.0' }, updateAvailable: true, expiresAt: time }),
      )
      const { result } = await call(await start({ version: '1.10.0' }), 'init')
      expect(result).toMatchObject({ ok: true, updateAvailable: false })
      expect(result).not.toHaveProperty('session')
    })

    it('register, session, logout, login and upgrade', async () => {
      const { key } = await vendor.issueKey()
      const id = await start()
      const registered = await call(id, 'register', {
        username: 'Ada Lovelace',
        password: 'Größe 💡',
        licenseKey: ` ${key} `,
        email: 'ada@example.com',
      })
      const user = {
        username: 'Ada Lovelace',
        email: 'ada@example.com',
        hwidBound: true,
        term: 'date',
        inGrace: false,
      }
      expect(registered).toMatchObject(granted({ message: 'Successfully logged in', user }))
      expect(registered.result.user).toMatchObject({
        devices: { used: 1, limit: 1 },
        features: [],
        variables: {},
      })
      expect(await call(id, 'session')).toMatchObject(granted({ user }))
      expect(await call(id, 'logout')).toMatchObject(granted())
      expect(await call(id, 'logout')).toMatchObject(granted())
      expect(await call(id, 'session')).toMatchObject(refused('sessionUnauthed'))
      const login = await call(id, 'login', { username: 'ada lovelace', password: 'Größe 💡' })
      expect(login).toMatchObject(granted({ user }))
      const more = await vendor.issueKey(10)
      const upgraded = await call(id, 'upgrade', { username: 'ada lovelace', licenseKey: more.key })
      const endOf = ({ result }: Answer) => Date.parse(result.user.expiresAt)
      expect(endOf(upgraded) - endOf(login)).toBeGreaterThan(9.9 * day)
      expect(await call(id, 'session')).toMatchObject(
        granted({ user: { expiresAt: upgraded.result.user.expiresAt } }),
      )
    })

    it('license signs in by key, and enforces the hardware lock', async () => {
      const { key } = await vendor.issueKey()
      expect(await call(await start(), 'license', ` ${key.toLowerCase()} `)).toMatchObject(
        granted({ user: { username: key } }),
      )
      expect(await call(await start(), 'license', key)).toMatchObject(granted())
      for (const hwid of ['machine-2', 'machine-', 'MACHINE-1', null]) {
        const answer = await call(await start({ hwid }), 'license', key)
        expect(answer).toMatchObject(
          refused('hwidMismatch', {
            reference,
            details: { expiresAt: time, devices: { used: 1, limit: 1 } },
          }),
        )
      }
      await vendor.call('PATCH', `/clients/${(await vendor.client())._id}/reset-hwid`)
      expect(await call(await start({ hwid: 'machine-2' }), 'license', key)).toMatchObject(granted())
    })

    it('the default hardware id and the parts of the machine are sent', async () => {
      const { key } = await vendor.issueKey()
      const id = await start({ hwid: undefined })
      const machine = await call(id, 'license', key)
      if (machine.error) {
        expect(machine).toMatchObject({ error: { kind: 'usage', code: 'hwid_unavailable' } })
        return
      }
      expect(machine).toMatchObject(granted({ user: { hwidBound: true } }))
      const { devices } = await vendor.call('GET', `/clients/${(await vendor.client())._id}/devices`)
      expect(devices).toMatchObject([{ name: expect.any(String), system: expect.any(String) }])
      expect(await call(await start(), 'license', key)).toMatchObject(refused('hwidMismatch'))
    })

    it('validate checks a key without using it, and activates on request', async () => {
      const { _id, key } = await vendor.issueKey()
      const id = await start()
      expect(await call(id, 'validate', key)).toMatchObject(
        granted({ activated: false, license: { key, used: false } }),
      )
      const unknown = refused('keyNotFound', { message: 'License key not found', reference })
      expect(await call(id, 'validate', 'NO-SUCH-KEY')).toMatchObject(unknown)
      await vendor.set({ requireActivation: true })
      expect(await call(id, 'validate', key)).toMatchObject(refused('notActivated'))
      expect(await call(id, 'validate', key, { activate: true })).toMatchObject(granted({ activated: true }))
      expect(await call(id, 'validate', key)).toMatchObject(
        granted({ activated: true, license: { used: true } }),
      )
      expect(await call(await start({ hwid: 'machine-2' }), 'validate', key)).toMatchObject(
        refused('hwidMismatch'),
      )
      await vendor.call('PATCH', `/licenses/${_id}/toggle-ban`, { is_banned: true })
      expect(await call(id, 'validate', key)).toMatchObject(
        refused('keyBanned', { reference, details: { expiresAt: time } }),
      )
    })

    it('a failed sign-up or sign-in reports its reason', async () => {
      const { key } = await vendor.issueKey()
      const other = await vendor.issueKey()
      await vendor.set({ checkPasswords: true })
      const id = await start()
      const register = (fields: object) => call(id, 'register', { ...ada, licenseKey: key, ...fields })
      expect(await register({ username: 'ab' })).toMatchObject(refused('unTooShort'))
      expect(await register({ password: '123456' })).toMatchObject(refused('pwLeaked'))
      expect(await register({ licenseKey: 'NO-SUCH-KEY' })).toMatchObject(
        refused('keyNotFound', { reference }),
      )
      expect(await register({ email: 'nobody' })).toMatchObject(
        refused('invalid_input', { errors: [{ path: 'email', message: expect.any(String) }] }),
      )
      expect(await register({})).toMatchObject(granted())
      expect(await register({ username: 'eve' })).toMatchObject(refused('keyUsed'))
      expect(await register({ licenseKey: other.key })).toMatchObject(refused('usernameTaken'))
      expect(await call(id, 'license', key)).toMatchObject(refused('keyUsed'))
      expect(await call(id, 'login', { ...ada, username: 'nobody' })).toMatchObject(
        refused('usernameNotFound'),
      )
      const wrong = await call(id, 'login', { ...ada, password: 'wrong' })
      expect(wrong).toMatchObject(refused('passMismatch', { reference }))
      expect(wrong.result.details ?? null).toBeNull()
      expect(await call(id, 'upgrade', { username: 'ada', licenseKey: 'NO-SUCH-KEY' })).toMatchObject(
        refused('keyNotFound'),
      )
    })

    it('what the vendor does to a user, a key or the app is reported by the next call', async () => {
      const license = await vendor.issueKey()
      const id = await start()
      await call(id, 'license', license.key)
      const client = `/clients/${(await vendor.client())._id}`
      const app = `/apps/${vendor.app._id}`
      const ban = (path: string, is_banned: boolean) =>
        vendor.call('PATCH', `${path}/toggle-ban`, { is_banned, ...(is_banned && { reason: 'fraud' }) })
      const expectRefusal = async (code: string) =>
        expect(await call(id, 'session'), code).toMatchObject(
          refused(code, { reference, message: expect.any(String) }),
        )

      await vendor.set({ blockVpn: true })
      await expectRefusal('vpnBlocked')
      await vendor.call('POST', `${app}/blocklist`, { kind: 'hwid', value: 'machine-1' })
      await expectRefusal('hwidBlacklisted')
      await vendor.call('PUT', `/licenses/${license._id}`, { expiresAt: new Date().toISOString() })
      await expectRefusal('noActiveSubs')
      await vendor.call('PATCH', `${client}/toggle-pause`, { paused: true })
      await expectRefusal('pausedSub')
      await ban(`/licenses/${license._id}`, true)
      await expectRefusal('keyBanned')
      await ban(client, true)
      await expectRefusal('userBanned')
      await vendor.call('PUT', `${app}/error-messages`, { pausedApp: 'Zurück um 12 Uhr — „später“ 💡' })
      await vendor.call('PUT', app, { paused: true })
      expect(await call(id, 'session')).toMatchObject(
        refused('pausedApp', { message: 'Zurück um 12 Uhr — „später“ 💡' }),
      )
      await vendor.call('PUT', '/settings', { pauseApplications: true })
      await expectRefusal('appDisabled')
      await vendor.call('PUT', '/settings', { pauseApplications: false })
      await vendor.call('PUT', app, { paused: false })
      await vendor.call('DELETE', client)
      expect(await call(id, 'session')).toMatchObject({ result: { ok: false } })
      expect(await call(await start({ secret: 'wrong' }), 'init')).toMatchObject(refused('appDisabled'))
    })

    it('a build that the vendor does not allow is refused, and texts come in the language of the program', async () => {
      const app = `/apps/${vendor.app._id}`
      await vendor.call('PUT', `${app}/error-messages?locale=de`, { keyNotFound: 'Unbekannter Schlüssel' })
      const german = await start({ locale: 'de-AT' })
      for (const method of ['license', 'validate']) {
        expect(await call(german, method, 'NO-SUCH-KEY')).toMatchObject(
          refused('keyNotFound', { message: 'Unbekannter Schlüssel' }),
        )
      }
      await vendor.call('PUT', `${app}/program-hashes`, {
        hashes: [{ version: '1.0.0', hash: 'f'.repeat(64) }],
      })
      await vendor.set({ checkHash: true })
      expect(await call(await start(), 'init')).toMatchObject(refused('hashCheckFail'))
      expect(await call(await start({ hash: 'f'.repeat(64) }), 'init')).toMatchObject(granted())
    })

    it('features and variables follow the license', async () => {
      const license = await vendor.sell({ name: 'Pro', updatesForDays: 1, features: ['pro', 'export'] })
      const variables = [
        { name: 'endpoint', value: 'https://example.com', public: true },
        { name: 'token', value: 'für Nutzer', public: false },
      ]
      await vendor.call('PUT', `/apps/${vendor.app._id}/variables`, { variables })
      const id = await start()
      const facts = async () => [
        ...(await Promise.all(
          ['pro', 'team', 'constructor'].map(async (name) => (await call(id, 'has', name)).result),
        )),
        ...(await Promise.all(
          ['endpoint', 'token', 'toString'].map(
            async (name) => (await call(id, 'variable', name)).result ?? null,
          ),
        )),
      ]
      expect(await facts()).toEqual([false, false, false, null, null, null])
      await call(id, 'init')
      expect(await facts()).toEqual([false, false, false, 'https://example.com', null, null])
      expect(await call(id, 'license', license.key)).toMatchObject(
        granted({ user: { features: ['pro', 'export'], expiresAt: null } }),
      )
      expect(await facts()).toEqual([true, false, false, 'https://example.com', 'für Nutzer', null])
      const releasedAt = new Date(Date.now() + 2 * day).toISOString()
      await vendor.call('POST', `/apps/${vendor.app._id}/releases`, { version: '1.0.0', releasedAt })
      expect(await call(id, 'session')).toMatchObject(refused('updatesEnded'))
      expect(await facts()).toEqual([false, false, false, 'https://example.com', null, null])
    })

    it('a sign-in has links, and an update is found for the user and by the key alone', async () => {
      const renewUrl = 'https://shop.example/renew'
      const license = await vendor.sell({ name: 'Pro', renewUrl })
      const artifact = {
        ...{ platform: 'linux', architecture: 'x64', kind: 'full', name: 'tally.bin', size: 9 },
        ...{ url: 'https://files.example/tally.bin', sha512: 'f'.repeat(128) },
      }
      const releasedAt = new Date(Date.now() - day).toISOString()
      const release = { version: '1.1.0', releasedAt, artifacts: [artifact] }
      await vendor.call('POST', `/apps/${vendor.app._id}/releases`, release)
      const id = await start()
      const { user } = (await call(id, 'license', license.key)).result
      expect(user.links.renew).toMatch(`${renewUrl}?reference=kwr_`)
      const machine = { platform: 'linux', architecture: 'x64' }
      const update = { version: '1.1.0', releasedAt, artifact }
      expect(await call(id, 'checkForUpdate', machine)).toMatchObject(granted({ update }))
      const other = await start({ hwid: 'machine-2' })
      const byKey = { ...machine, licenseKey: license.key }
      expect(await call(other, 'checkForUpdate', byKey)).toMatchObject(granted({ update }))
      expect(await call(other, 'checkForUpdate', { licenseKey: 'NO-SUCH-KEY' })).toMatchObject(
        refused('keyNotFound', { reference }),
      )
    })

    it('seats, trials and devices', async () => {
      const floating = await vendor.sell({ name: 'Floating', seats: 1 })
      const first = await start({ hwid: 'seat-1' })
      expect(await call(first, 'license', floating.key)).toMatchObject(
        granted({ user: { seat: { until: time } } }),
      )
      const second = await start({ hwid: 'seat-2' })
      expect(await call(second, 'license', floating.key)).toMatchObject(
        refused('noSeats', { details: { until: time } }),
      )
      await call(first, 'logout')
      expect(await call(second, 'license', floating.key)).toMatchObject(granted())

      await vendor.call('POST', `/apps/${vendor.app._id}/license-types`, {
        name: 'Trial',
        term: 'first_use',
        duration: { value: 1, unit: 'hours' },
        trial: true,
      })
      const tried = await start({ hwid: 'trial-1' })
      const trial = await call(tried, 'trial', { email: 'ada@example.com' })
      expect(trial).toMatchObject(granted({ user: { email: 'ada@example.com', term: 'first_use' } }))
      expect(await call(await start({ hwid: 'trial-1' }), 'trial')).toMatchObject(granted())
      const search = `/clients?app=${vendor.app.appId}&search=${trial.result.user.username}`
      await vendor.call('DELETE', `/clients/${(await vendor.call('GET', search)).clients[0]._id}`)
      expect(await call(await start({ hwid: 'trial-1' }), 'trial')).toMatchObject(refused('trialUsed'))

      const three = await vendor.sell({ name: 'Three', devices: 3 })
      const id = await start({ hwid: 'pc-1' })
      expect(await call(id, 'devices')).toMatchObject(refused('sessionUnauthed'))
      await call(id, 'license', three.key)
      await call(await start({ hwid: 'pc-2' }), 'license', three.key)
      expect(await call(id, 'devices')).toMatchObject(refused('device_self_service_off'))
      await vendor.set({ deviceSelfService: true })
      const listed = await call(id, 'devices')
      expect(listed.result.devices).toHaveLength(2)
      expect(listed.result.devices[0]).toMatchObject({
        _id: expect.any(String),
        firstSeenAt: time,
        lastSeenAt: time,
      })
      const freed = listed.result.devices[0]._id
      expect(await call(id, 'freeDevice', freed)).toMatchObject(granted())
      expect(await call(id, 'freeDevice', freed)).toMatchObject(
        refused('device_cooldown', { details: { until: time } }),
      )
      expect(await call(id, 'freeDevice', 'no such/device?')).toMatchObject({ result: { ok: false } })
    })

    it('answers of another app or without a key are no verdict', async () => {
      const other = await server.vendor()
      expect(await call(await start({ publicKeys: other.keys }), 'init')).toMatchObject({
        error: { kind: 'signature', code: 'unknown_key' },
      })
      expect(await call(await start({ appId: 'ZZZZZZZZ' }), 'init')).toMatchObject({
        error: { kind: 'network', code: 'unknown_app' },
      })
    })

    it('concurrent calls of one program share one session, and concurrent first uses end with one user', async () => {
      const { key } = await vendor.issueKey()
      const id = await start()
      const calls = Array.from({ length: 8 }, () => ({ id, method: 'license', args: [key] }))
      for (const each of await adapter().together(calls))
        expect(each).toMatchObject(granted({ user: { username: key } }))
      const ids = await Promise.all(Array.from({ length: 8 }, (_, at) => start({ hwid: `machine-${at}` })))
      const fresh = await vendor.issueKey()
      const results = await adapter().together(
        ids.map((id) => ({ id, method: 'license', args: [fresh.key] })),
      )
      expect(results.filter(({ result }) => result?.ok)).toHaveLength(1)
      expect(results.filter(({ result }) => result?.code === 'hwidMismatch')).toHaveLength(7)
    })

    it('keys rotate under programs that pin the old one, both, or the new one', async () => {
      const path = `/apps/${vendor.app._id}/signing-keys`
      const old = vendor.keys
      await vendor.call('POST', path)
      const { keys: both } = await vendor.call('GET', `/client/apps/${vendor.app.appId}/keys`)
      const next = both.filter(({ kid }: { kid: string }) => kid !== old[0]!.kid)
      const all = async () =>
        Promise.all(
          [old, both, { keys: both }, next].map(async (publicKeys) =>
            call(await start({ publicKeys }), 'init'),
          ),
        )
      expect(await all()).toMatchObject([granted(), granted(), granted(), granted()])
      await vendor.call('POST', `${path}/${next[0].kid}/promote`)
      expect(await all()).toMatchObject([granted(), granted(), granted(), granted()])
      await vendor.call('POST', `${path}/${old[0]!.kid}/revoke`)
      const unknown = { error: { kind: 'signature', code: 'unknown_key' } }
      expect(await all()).toMatchObject([unknown, granted(), granted(), granted()])
    })

    it('a lease runs the program while the server is stopped, and a ban ends it', async () => {
      const { key } = await vendor.issueKey()
      const options = { storage: storage() }
      await vendor.set({ rememberDays: 30 })
      expect(await call(await start(options), 'license', key)).toMatchObject(granted())
      expect(await call(await start(options), 'session')).toMatchObject(granted({ user: { username: key } }))
      await server.stop()
      try {
        const id = await start({ ...options, timeoutMs: 10_000 })
        const unreachable = { error: { kind: 'network', code: 'unreachable', outcomeUnknown: false } }
        const offline = granted({
          user: { username: key },
          offline: { until: time, graceUntil: time, inGrace: false },
        })
        const other = await start({ ...options, hwid: 'machine-2', timeoutMs: 10_000 })
        const calls = [
          { id, method: 'session' },
          { id, method: 'license', args: [key] },
          { id, method: 'login', args: [ada] },
          { id: other, method: 'session' },
        ]
        expect(await adapter().together(calls)).toMatchObject([
          offline,
          offline,
          unreachable,
          { error: { ...unreachable.error, offline: 'no_lease' } },
        ])
      } finally {
        await server.start()
      }
      const now = Math.floor(Date.now() / 1000)
      const beyond = { ...options, baseUrl: `${server.baseUrl}/none` }
      const later = await start(beyond, now + 4 * 86_400)
      expect(await call(later, 'session')).toMatchObject(granted({ offline: { inGrace: true } }))
      await adapter().ask({ op: 'now', id: later, now: now + 40 * 86_400 })
      expect(await call(later, 'session')).toMatchObject({
        error: { kind: 'network', offline: 'lease_ended' },
      })
      const { _id } = await vendor.client()
      await vendor.call('PATCH', `/clients/${_id}/toggle-ban`, { is_banned: true })
      expect(await call(await start(options), 'session')).toMatchObject(refused('userBanned'))
      expect(await call(await start(beyond), 'session')).toMatchObject({
        error: { kind: 'network', offline: 'no_lease' },
      })
    })

    it('a machine that is never online runs with the file of the vendor, and frees its device', async () => {
      const { key } = await vendor.issueKey()
      const options = { storage: storage(), baseUrl: `${server.baseUrl}/none` }
      const id = await start(options)
      const { result: request } = await call(id, 'offlineRequest', key)
      const path = `/apps/${vendor.app._id}`
      const { file } = await vendor.call('POST', `${path}/offline-activations`, {
        request: request.toLowerCase(),
      })
      expect(await call(id, 'activateOffline', file)).toMatchObject(granted({ user: { username: key } }))
      const restarted = await start(options)
      expect(await call(restarted, 'session')).toMatchObject(granted({ offline: { inGrace: false } }))
      expect(await call(restarted, 'license', key)).toMatchObject(granted())
      const other = await start({ ...options, hwid: 'machine-2' })
      expect(await call(other, 'activateOffline', file)).toMatchObject({
        error: { kind: 'usage', code: 'activation_rejected' },
      })
      expect(await call(await start({ hwid: 'machine-2' }), 'license', key)).toMatchObject(
        refused('hwidMismatch'),
      )
      const { result: code } = await call(restarted, 'deactivateOffline')
      await vendor.call('POST', `${path}/offline-deactivations`, { code })
      expect(await call(await start({ hwid: 'machine-2' }), 'license', key)).toMatchObject(granted())
      expect(await call(restarted, 'session')).toMatchObject({
        error: { kind: 'network', offline: 'no_lease' },
      })
    })
  })
}
