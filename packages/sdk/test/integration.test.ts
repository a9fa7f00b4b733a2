import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageDefaults } from '@keyward/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Keyward, type KeywardOptions, type PublicJwk, type Result } from '../src/index.ts'
import { userDataFile } from '../src/user-data.ts'
import { type Owner, type RealServer, signUpVendor, startRealServer, type TestApp } from './real-server.ts'

const day = 24 * 60 * 60 * 1000
const inDays = (days: number) => new Date(Date.now() + days * day).toISOString()

let server: RealServer
let owner: Owner
let app: TestApp
let keys: PublicJwk[]

beforeAll(async () => {
  server = await startRealServer()
})
afterAll(() => server.stop())
beforeEach(async () => {
  ;({ owner, app, keys } = await signUpVendor(server))
})

function connect(options: Partial<KeywardOptions> = {}) {
  const { appId, appSecret: secret } = app
  return new Keyward({
    baseUrl: server.baseUrl,
    appId,
    secret,
    publicKeys: keys,
    version: '1.0.0',
    hwid: 'machine-1',
    ...options,
  })
}

async function issueKey(days = 30) {
  return (await owner('POST', '/licenses', { app: app._id, expiresAt: inDays(days) })).license
}

describe('the SDK and the real server', () => {
  it('sends the machine with the hardware id of the SDK, which the owner sees', async () => {
    const { key } = await issueKey()
    expect(await connect({ hwid: undefined }).license(key)).toMatchObject({ ok: true })
    const { clients } = await owner('GET', `/clients?app=${app.appId}`)
    const { devices } = await owner('GET', `/clients/${clients[0]!._id}/devices`)
    expect(devices).toMatchObject([{ name: expect.any(String), system: expect.any(String) }])
  })

  it('register, check, sign out, sign in and upgrade', async () => {
    const { key } = await issueKey()
    const keyward = connect()
    expect(await keyward.init()).toMatchObject({
      ok: true,
      app: { name: 'Tally', version: '1.0.0' },
      updateAvailable: false,
    })
    const registered = await keyward.register({
      username: 'Ada',
      password: 'a good password',
      licenseKey: key,
      email: 'ada@example.com',
    })
    expect(registered).toMatchObject({
      ok: true,
      message: 'Successfully logged in',
      user: { username: 'Ada', email: 'ada@example.com', hwidBound: true },
    })
    expect(await keyward.session()).toMatchObject({ ok: true, user: { username: 'Ada' } })
    expect(await keyward.logout()).toEqual({ ok: true })
    expect(await keyward.session()).toMatchObject({ ok: false, code: 'sessionUnauthed' })
    const login = await keyward.login({ username: 'ada', password: 'a good password' })
    if (!login.ok) throw new Error(login.code)
    const more = await issueKey(10)
    const upgraded = await keyward.upgrade({ username: 'ada', licenseKey: more.key })
    if (!upgraded.ok) throw new Error(upgraded.code)
    const addedMs = Date.parse(upgraded.user.expiresAt ?? '') - Date.parse(login.user.expiresAt ?? '')
    expect(addedMs).toBeGreaterThan(9.9 * day)
    expect(addedMs).toBeLessThanOrEqual(10 * day)
    expect(await keyward.session()).toMatchObject({ ok: true, user: { expiresAt: upgraded.user.expiresAt } })
  })

  it('keep programs signed in that start together and share a file', async () => {
    await owner('PUT', `/apps/${app._id}`, { settings: { rememberDays: 30 } })
    const { key } = await issueKey()
    const folder = await mkdtemp(join(tmpdir(), 'keyward-data-'))
    const start = () => connect({ storage: userDataFile(app.appId, folder) })
    await start().license(key)
    for (let round = 0; round < 3; round++) {
      const results = await Promise.all(Array.from({ length: 8 }, () => start().session()))
      expect(results).toEqual(
        results.map(() => expect.objectContaining({ ok: true, user: expect.anything() })),
      )
    }
    await rm(folder, { recursive: true })
  })

  it('sign in by key twice and enforce the machine lock', async () => {
    const { key } = await issueKey()
    expect(await connect().license(` ${key.toLowerCase()} `)).toMatchObject({
      ok: true,
      user: { username: key },
    })
    expect(await connect().license(key)).toMatchObject({ ok: true })
    expect(await connect({ hwid: 'machine-2' }).license(key)).toMatchObject({
      ok: false,
      code: 'hwidMismatch',
    })
    expect(await connect({ hwid: null }).license(key)).toMatchObject({ ok: false, code: 'hwidMismatch' })
    const { clients } = await owner('GET', `/clients?app=${app.appId}`)
    await owner('PATCH', `/clients/${clients[0]!._id}/reset-hwid`)
    expect(await connect({ hwid: 'machine-2' }).license(key)).toMatchObject({ ok: true })
  })

  it('report a user ban, a key ban, an expiry and a deletion on the next call', async () => {
    const license = await issueKey()
    const keyward = connect()
    await keyward.license(license.key)
    const { clients } = await owner('GET', `/clients?app=${app.appId}`)
    const client = `/clients/${clients[0]!._id}`

    await owner('PATCH', `${client}/toggle-ban`, { is_banned: true })
    expect(await keyward.session()).toMatchObject({
      ok: false,
      code: 'userBanned',
      message: 'User account is banned',
    })
    await owner('PATCH', `${client}/toggle-ban`, { is_banned: false })
    expect(await keyward.session()).toMatchObject({ ok: true })

    await owner('PATCH', `/licenses/${license._id}/toggle-ban`, { is_banned: true })
    expect(await keyward.session()).toMatchObject({ ok: false, code: 'keyBanned' })
    await owner('PATCH', `/licenses/${license._id}/toggle-ban`, { is_banned: false })

    await owner('PUT', `/licenses/${license._id}`, { expiresAt: new Date().toISOString() })
    expect(await keyward.session()).toMatchObject({ ok: false, code: 'noActiveSubs' })
    await owner('PUT', `/licenses/${license._id}`, { expiresAt: inDays(5) })
    expect(await keyward.session()).toMatchObject({ ok: true })

    await owner('DELETE', client)
    expect(await keyward.session()).toMatchObject({ ok: false, code: 'sessionUnauthed' })
  })

  it("report a paused app and paused applications in the app's own words", async () => {
    const { key } = await issueKey()
    const keyward = connect()
    await keyward.license(key)
    await owner('PUT', `/apps/${app._id}/error-messages`, { pausedApp: 'Zurück um 12 Uhr — bitte später' })
    await owner('PUT', `/apps/${app._id}`, { paused: true })
    const paused = { ok: false, code: 'pausedApp', message: 'Zurück um 12 Uhr — bitte später' }
    expect(await keyward.session()).toMatchObject({ ...paused, reference: expect.stringMatching(/^\w{10}$/) })
    expect(await connect().license(key)).toMatchObject(paused)
    expect(await keyward.validate(key)).toMatchObject(paused)
    await owner('PUT', '/settings', { pauseApplications: true })
    expect(await keyward.session()).toMatchObject({ ok: false, code: 'appDisabled' })
  })

  it('report the reason for a failed sign-up or sign-in', async () => {
    const { key } = await issueKey()
    const keyward = connect()
    const ada = { username: 'ada', password: 'a good password' }
    expect(await keyward.register({ ...ada, username: 'ab', licenseKey: key })).toMatchObject({
      code: 'unTooShort',
    })
    expect(await keyward.register({ ...ada, licenseKey: 'NO-SUCH-KEY' })).toMatchObject({
      code: 'keyNotFound',
    })
    expect(await keyward.register({ ...ada, licenseKey: key, email: 'nobody' })).toMatchObject({
      ok: false,
      code: 'invalid_input',
      errors: [{ path: 'email' }],
    })
    expect(await keyward.register({ ...ada, licenseKey: key })).toMatchObject({ ok: true })
    expect(await keyward.register({ ...ada, username: 'eve', licenseKey: key })).toMatchObject({
      code: 'keyUsed',
    })
    expect(await keyward.register({ ...ada, licenseKey: (await issueKey()).key })).toMatchObject({
      code: 'usernameTaken',
    })
    expect(await keyward.license(key)).toMatchObject({ code: 'keyUsed' })
    expect(await keyward.login({ username: 'nobody', password: 'x' })).toMatchObject({
      code: 'usernameNotFound',
    })
    expect(await keyward.login({ ...ada, password: 'wrong' })).toMatchObject({ code: 'passMismatch' })
  })

  describe('every text that an owner can edit reaches a program:', () => {
    const texts: Record<string, string> = {}
    const fired = new Set<string>()
    beforeEach(async () => {
      const keys = Object.keys(messageDefaults)
      for (const key of keys)
        texts[key] = `own text of ${key}${/Banned|Blacklisted/.test(key) ? ': {reason}' : ''}`
      await owner('PUT', `/apps/${app._id}/error-messages`, texts)
    })
    const set = (settings: object) => owner('PUT', `/apps/${app._id}`, { settings })
    const refused = async (result: Promise<Result<object>>, code: string, reason = '') => {
      fired.add(code)
      const message = `own text of ${code}${reason && `: ${reason}`}`
      expect(await result).toMatchObject({ ok: false, code, message })
    }
    const ada = { username: 'ada', password: 'a good password' }
    const clientPath = async () =>
      `/clients/${(await owner('GET', `/clients?app=${app.appId}`)).clients[0]!._id}`

    it('of the app', async () => {
      await refused(connect({ secret: 'wrong' }).init(), 'appDisabled')
      await owner('PUT', `/apps/${app._id}`, { paused: true })
      await refused(connect().init(), 'pausedApp')
      await owner('PUT', `/apps/${app._id}`, { paused: false })
      await owner('PUT', `/apps/${app._id}/program-hashes`, {
        hashes: [{ version: '1.0.0', hash: 'f'.repeat(64) }],
      })
      await set({ checkHash: true })
      await refused(connect().init(), 'hashCheckFail')
      expect(await connect({ hash: 'f'.repeat(64) }).init()).toMatchObject({ ok: true })
    })

    it('in the language of the program', async () => {
      const { key } = await issueKey()
      await owner('PUT', `/apps/${app._id}/error-messages?locale=de`, {
        keyNotFound: 'Unbekannter Schlüssel',
        loggedInMsg: 'Willkommen',
      })
      const german = connect({ locale: 'de-AT' })
      const message = 'Unbekannter Schlüssel'
      expect(await german.validate('NO-SUCH-KEY')).toMatchObject({ code: 'keyNotFound', message })
      expect(await german.license('NO-SUCH-KEY')).toMatchObject({ code: 'keyNotFound', message })
      expect(await german.license(key)).toMatchObject({ ok: true, message: 'Willkommen' })
      await owner('DELETE', `/apps/${app._id}/error-messages?locale=de`)
    })

    it('of credentials and keys', async () => {
      const { key } = await issueKey()
      await set({ usernameMin: 4, checkPasswords: true })
      await refused(connect().session(), 'sessionUnauthed')
      await refused(connect().register({ ...ada, licenseKey: key }), 'unTooShort')
      await refused(
        connect().register({ username: 'grace', password: '123456', licenseKey: key }),
        'pwLeaked',
      )
      await set({ usernameMin: 3 })
      await refused(connect().register({ ...ada, licenseKey: 'NO-SUCH-KEY' }), 'keyNotFound')
      fired.add('loggedInMsg')
      expect(await connect().register({ ...ada, licenseKey: key })).toMatchObject({
        ok: true,
        message: 'own text of loggedInMsg',
      })
      await refused(connect().license(key), 'keyUsed')
      await refused(connect().register({ ...ada, licenseKey: (await issueKey()).key }), 'usernameTaken')
      await refused(connect().login({ ...ada, username: 'nobody' }), 'usernameNotFound')
      await refused(connect().login({ ...ada, password: 'wrong' }), 'passMismatch')
    })

    it('of a version that the license does not cover', async () => {
      const type = {
        name: 'A day of updates',
        term: 'forever',
        updatesForDays: 1,
        features: ['pro', 'export'],
      }
      const { licenseType } = await owner('POST', `/apps/${app._id}/license-types`, type)
      const { license } = await owner('POST', '/licenses', { app: app._id, type: licenseType._id })
      const variable = (name: string, value: string, isPublic: boolean) => ({ name, value, public: isPublic })
      const variables = [
        variable('endpoint', 'https://example.com', true),
        variable('token', 'for users', false),
      ]
      await owner('PUT', `/apps/${app._id}/variables`, { variables })
      const keyward = connect()
      await keyward.init()
      expect([keyward.has('pro'), keyward.variable('endpoint'), keyward.variable('token')]).toEqual([
        false,
        'https://example.com',
        undefined,
      ])
      expect(await keyward.license(license.key)).toMatchObject({ ok: true })
      expect([keyward.has('pro'), keyward.has('export'), keyward.has('team')]).toEqual([true, true, false])
      expect([keyward.variable('endpoint'), keyward.variable('token')]).toEqual([
        'https://example.com',
        'for users',
      ])
      const released = { version: '1.0.0', releasedAt: inDays(2) }
      const { release } = await owner('POST', `/apps/${app._id}/releases`, released)
      await refused(keyward.session(), 'updatesEnded')
      expect([keyward.has('pro'), keyward.variable('token')]).toEqual([false, undefined])
      await owner('DELETE', `/releases/${release._id}`)
      await set({ minimumVersion: '2.0.0' })
      await refused(keyward.session(), 'versionTooOld')
      await set({ minimumVersion: null })
      await owner('PUT', `/apps/${app._id}/variables`, { variables: [] })
    })

    it('of the end user, its device and its address', async () => {
      const license = await issueKey()
      const keyward = connect()
      await keyward.license(license.key)
      const client = await clientPath()
      await refused(connect({ hwid: 'machine-2' }).license(license.key), 'hwidMismatch')
      await set({ blockVpn: true })
      await refused(keyward.session(), 'vpnBlocked')
      await owner('POST', `/apps/${app._id}/blocklist`, {
        kind: 'hwid',
        value: 'machine-1',
        reason: 'stolen',
      })
      await refused(keyward.session(), 'hwidBlacklisted', 'stolen')
      await owner('PUT', `/licenses/${license._id}`, { expiresAt: new Date().toISOString() })
      await refused(keyward.session(), 'noActiveSubs')
      await owner('PATCH', `${client}/toggle-pause`, { paused: true })
      await refused(keyward.session(), 'pausedSub')
      await owner('PATCH', `/licenses/${license._id}/toggle-ban`, { is_banned: true, reason: 'resold' })
      await refused(keyward.session(), 'keyBanned', 'resold')
      await owner('PATCH', `${client}/toggle-ban`, { is_banned: true, reason: 'fraud' })
      await refused(keyward.session(), 'userBanned', 'fraud')
    })

    it('of devices, seats and trials', async () => {
      const makeType = async (fields: object) =>
        (await owner('POST', `/apps/${app._id}/license-types`, { term: 'forever', ...fields })).licenseType
      const sell = async (type: { _id: string }) =>
        (await owner('POST', '/licenses', { app: app._id, type: type._id })).license
      const floating = await sell(await makeType({ name: 'Floating', seats: 1 }))
      const first = connect({ hwid: 'seat-1' })
      const seated = await first.license(floating.key)
      expect(seated).toMatchObject({ ok: true, user: { seat: { until: expect.any(String) } } })
      await refused(connect({ hwid: 'seat-2' }).license(floating.key), 'noSeats')
      await first.logout()
      expect(await connect({ hwid: 'seat-2' }).license(floating.key)).toMatchObject({ ok: true })

      await makeType({ name: 'Trial', term: 'first_use', duration: { value: 1, unit: 'hours' }, trial: true })
      const tried = connect({ hwid: 'trial-1' })
      const trial = await tried.trial({ email: 'ada@example.com' })
      expect(trial).toMatchObject({ ok: true, user: { email: 'ada@example.com', term: 'first_use' } })
      expect(await connect({ hwid: 'trial-1' }).trial()).toMatchObject({ ok: true })
      const { clients } = await owner(
        'GET',
        `/clients?app=${app.appId}&search=${trial.ok && trial.user.username}`,
      )
      await owner('DELETE', `/clients/${clients[0]!._id}`)
      await refused(connect({ hwid: 'trial-1' }).trial(), 'trialUsed')

      const license = await sell(await makeType({ name: 'Three', devices: 3 }))
      await set({ requireActivation: true })
      const keyward = connect({ hwid: 'pc-1' })
      await refused(keyward.validate(license.key), 'notActivated')
      expect(await keyward.validate(license.key, { activate: true })).toMatchObject({
        ok: true,
        activated: true,
      })
      await set({ requireActivation: false })
      expect(await keyward.devices()).toMatchObject({ ok: false, code: 'sessionUnauthed' })
      await keyward.license(license.key)
      await connect({ hwid: 'pc-2' }).license(license.key)
      expect(await keyward.devices()).toMatchObject({ ok: false, code: 'device_self_service_off' })
      await set({ deviceSelfService: true })
      const listed = await keyward.devices()
      expect(listed).toMatchObject({ ok: true, devices: [{ name: null }, { name: null }] })
      const [device] = listed.ok ? listed.devices : []
      expect(await keyward.freeDevice(device!._id)).toEqual({ ok: true })
      expect(await keyward.freeDevice(device!._id)).toMatchObject({
        ok: false,
        code: 'device_cooldown',
        details: { until: expect.any(String) },
      })
    })

    it('and none is left out', () => {
      expect([...fired].sort()).toEqual(Object.keys(texts).sort())
    })
  })

  it('validate a key without using it', async () => {
    const license = await issueKey()
    const keyward = connect()
    expect(await keyward.validate(license.key)).toMatchObject({
      ok: true,
      license: { key: license.key, used: false },
    })
    expect(await keyward.validate('NO-SUCH-KEY')).toEqual({
      ok: false,
      code: 'keyNotFound',
      message: 'License key not found',
      reference: expect.stringMatching(/^\w{10}$/),
    })
    await keyward.license(license.key)
    expect(await keyward.validate(license.key)).toMatchObject({ ok: true, license: { used: true } })
    expect(await connect({ hwid: 'machine-2' }).validate(license.key)).toMatchObject({
      ok: false,
      code: 'hwidMismatch',
    })
    await owner('PATCH', `/licenses/${license._id}/toggle-ban`, { is_banned: true })
    expect(await keyward.validate(license.key)).toMatchObject({
      ok: false,
      code: 'keyBanned',
      details: { expiresAt: expect.any(String) },
    })
  })

  it('report a newer version', async () => {
    await owner('PUT', `/apps/${app._id}`, { name: 'Tally', version: '1.10.0' })
    expect(await connect({ version: '1.9.0' }).init()).toMatchObject({
      updateAvailable: true,
      app: { version: '1.10.0' },
    })
    expect(await connect({ version: '1.10.0' }).init()).toMatchObject({ updateAvailable: false })
  })

  it('reject a wrong or rotated secret, and trust no response about a missing app', async () => {
    expect(await connect({ secret: 'wrong' }).init()).toMatchObject({ ok: false, code: 'appDisabled' })
    await owner('POST', `/apps/${app._id}/rotate-secret`)
    expect(await connect().init()).toMatchObject({ ok: false, code: 'appDisabled' })
    await expect(connect({ appId: 'ZZZZZZZZ' }).init()).rejects.toMatchObject({
      name: 'KeywardNetworkError',
      code: 'unknown_app',
    })
  })

  it("reject another app's key and session", async () => {
    const other = (await owner('POST', '/apps', { name: 'Other' })).app
    const otherKeys = (await owner('GET', `/client/apps/${other.appId}/keys`)).keys
    await expect(connect({ publicKeys: otherKeys }).init()).rejects.toMatchObject({ code: 'unknown_key' })
  })
})
