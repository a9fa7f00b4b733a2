/** @module-tag race */
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { needsLocks } from '../../src/db/open.ts'
import { lockEndUser } from '../../src/modules/end-users/end-users.access.ts'
import { lockLicensesOf } from '../../src/modules/entitlements/license-locks.ts'
import {
  activateKey,
  hashed,
  makeApp,
  makeLicenses,
  makePremium,
  makeType,
  type Owner,
  refusal,
  registerUser,
  single,
  startProgram,
  wrongFields,
} from '../actors.ts'
import { sentParts, setLicense } from '../devices.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'
import { makeRequest, readFile, requestBody, requestOf } from '../offline-machine.ts'
import { recount } from '../recount.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll({}, { gateSizes: { requests: { running: 100, waiting: 0 } } })
const owner: Owner = ownerForEach(on)
const app = appForEach(owner)

const activate = (request: string, more: object = {}, at: { _id: string } = app) =>
  owner.call('POST', `/apps/${at._id}/offline-activations`, { request, ...more })
const deactivate = (code: string, at: { _id: string } = app) =>
  owner.call('POST', `/apps/${at._id}/offline-deactivations`, { code })
const list = async (query = '') =>
  (await owner.call('GET', `/apps/${app._id}/offline-activations${query}`)).json.data
const oneKey = async (days = 30) => single(await makeLicenses(on, owner, app, 1, days))
const devicesOf = async (id: string) => (await owner.call('GET', `/clients/${id}/devices`)).json.data
const clientOf = async (id: string) => (await owner.call('GET', `/clients/${id}`)).json.data.client
const times = <T>(count: number, make: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => make(at)))
const reasonOf = ({ json }: { json: { details?: { reason?: string } } }) => json.details?.reason

/** A machine that runs with a file. */
async function activated(fields: { hwid?: string; days?: number } = {}) {
  const license = await oneKey()
  const request = makeRequest(app, { licenseKey: license.key, hwid: fields.hwid ?? 'pc-1' })
  const answer = await activate(request, fields.days === undefined ? {} : { days: fields.days })
  expect(answer.status).toBe(201)
  const { file, activation, client } = answer.json.data
  return { license, request, activation, client, ...(await readFile(on, app, file)) }
}

describe('a request', () => {
  test('redeems an unused key, takes one device and returns the file', async () => {
    const license = await oneKey()
    const nonce = Buffer.from('0011223344556677', 'hex')
    const request = makeRequest(app, { licenseKey: license.key, nonce })
    const { status, json } = await activate(request)
    expect(status).toBe(201)
    const { file, activation, client } = json.data
    const { claims, kids } = await readFile(on, app, file)
    const end = Math.floor(Date.parse(license.expiresAt) / 1000)
    expect(kids).toHaveLength(1)
    expect(claims).toEqual({
      iss: 'keyward',
      aud: app.appId,
      sub: client._id,
      hwid: hashed('pc-1'),
      nonce: '0011223344556677',
      iat: Math.floor(on.clock.now() / 1000),
      exp: end,
      seq: 1,
      features: [],
      username: license.key,
      term: 'date',
      expiresAt: license.expiresAt,
      deactivation: expect.stringMatching(/^KWD1(-[0-9A-HJKMNP-TV-Z]{4}){4}$/),
    })
    const until = new Date(end * 1000).toISOString()
    expect(client).toMatchObject({ username: license.key, offline: { until }, lastLoginAt: null })
    expect(activation).toMatchObject({
      _id: expect.stringMatching(/^ofa_/),
      client: { _id: client._id, username: license.key },
      licenseKey: license.key,
      status: 'active',
      until,
      hwidHash: hashed('pc-1'),
      endedAt: null,
    })
    const { devices, used } = await devicesOf(client._id)
    expect({ used, devices }).toMatchObject({
      used: 1,
      devices: [{ _id: activation.device._id, offline: { until } }],
    })
    expect(await list()).toMatchObject({ activations: [activation], pagination: { total: 1 } })
    expect((await recount(on)).kept).toEqual((await recount(on)).counted)
  })

  test('is read as people type it', async () => {
    const { key } = await oneKey()
    const request = makeRequest(app, { licenseKey: key, nonce: Buffer.alloc(8) })
    const typed = ` ${request.toLowerCase().replaceAll('-', ' – ').replaceAll('0', 'o').replaceAll('1', 'l')}\n`
    expect((await activate(typed.replace('kwrl', 'kwr1'))).status).toBe(201)
  })

  test('finds keys as sign-ins do', async () => {
    const { key } = await oneKey()
    const typed = key.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')
    const { status, json } = await activate(makeRequest(app, { licenseKey: typed }))
    expect({ status, key: json.data?.activation.licenseKey }).toEqual({ status: 201, key })
    const foreign = await activate(makeRequest(app, { licenseKey: 'ключ-鍵-😀' }))
    expect(reasonOf(foreign)).toBe('keyNotFound')
  })

  test.each<[string, (appId: string, key: string) => string]>([
    ['nothing', () => ' '],
    ['rubbish', () => 'KWR1-HELLO-WORLD'],
    ['no prefix', (appId, licenseKey) => makeRequest({ appId }, { licenseKey }).slice(5)],
    ['another app', (_, licenseKey) => makeRequest({ appId: 'ZZZZZZZZ' }, { licenseKey })],
    ['another version', (appId, licenseKey) => makeRequest({ appId }, { licenseKey, version: 2 })],
    ['no key', (appId) => makeRequest({ appId }, { licenseKey: '' })],
    ['blanks around its key', (appId, key) => makeRequest({ appId }, { licenseKey: ` ${key}` })],
    ['a key that is too long', (appId) => makeRequest({ appId }, { licenseKey: 'x'.repeat(101) })],
    [
      'bytes that are no text',
      (appId) => requestOf(appId, Buffer.concat([requestBody({ licenseKey: '' }), Buffer.of(0xff, 0xfe)])),
    ],
    ['a symbol too many', (appId, licenseKey) => `${makeRequest({ appId }, { licenseKey })}00`],
    ['a deactivation code', () => 'KWD1-0000-0000-0000-0000'],
    ['too much text', (appId, licenseKey) => makeRequest({ appId }, { licenseKey }).padEnd(4001, '-0')],
  ])('with %s is rejected on its field, and nothing is taken', async (_, make) => {
    const { key } = await oneKey()
    const answer = await activate(make(app.appId, key))
    expect(refusal(answer)).toBe('invalid_input')
    expect(wrongFields(answer)).toEqual(['request'])
    expect(await list()).toMatchObject({ activations: [] })
  })

  test('with any symbol mistyped is rejected', async () => {
    const { key } = await oneKey()
    const request = makeRequest(app, { licenseKey: key })
    for (let at = 5; at < request.length; at += 7) {
      if (request[at] === '-') continue
      const wrong = request.slice(0, at) + (request[at] === 'A' ? 'B' : 'A') + request.slice(at + 1)
      expect(refusal(await activate(wrong))).toBe('invalid_input')
    }
  })

  test('of a megabyte is refused before it is read', async () => {
    expect(refusal(await activate('K'.repeat(1_000_000)))).toBe('payload_too_large')
  })

  test('repeated returns a file again, the same code, and takes no second device', async () => {
    const { request, activation, claims, client } = await activated()
    on.clock.advance(day)
    const again = (await activate(request)).json.data
    const read = await readFile(on, app, again.file)
    expect(again.activation._id).toBe(activation._id)
    expect(read.claims).toEqual({ ...claims, iat: claims.iat + 86_400, seq: 2 })
    expect((await devicesOf(client._id)).used).toBe(1)
    expect((await list()).activations).toHaveLength(1)
  })

  test('of the same machine replaces the earlier one, whose code says so', async () => {
    const { license, claims, client } = await activated()
    const next = await activate(makeRequest(app, { licenseKey: license.key }))
    expect(next.status).toBe(201)
    expect((await devicesOf(client._id)).used).toBe(1)
    const { activations } = await list()
    expect(activations.map(({ status }: { status: string }) => status)).toEqual(['active', 'replaced'])
    expect(refusal(await deactivate(claims.deactivation))).toBe('offline_code_replaced')
    const { claims: newest } = await readFile(on, app, next.json.data.file)
    expect((await deactivate(newest.deactivation)).json.data.client.offline).toBeNull()
    expect((await list()).activations.map(({ status }: { status: string }) => status)).toEqual([
      'deactivated',
      'deactivated',
    ])
  })

  test('with a shorter file does not hide the earlier file, which may still run', async () => {
    const { license, activation, client } = await activated()
    for (let count = 0; count < 25; count++) {
      await activate(makeRequest(app, { licenseKey: license.key }), { days: 1 })
    }
    expect((await clientOf(client._id)).offline).toEqual({ until: activation.until })
    await owner.call('PATCH', `/clients/${client._id}/reset-hwid`)
    const other = makeRequest(app, { licenseKey: license.key, hwid: 'pc-2' })
    const { file } = (await activate(other, { days: 1 })).json.data
    const { claims } = await readFile(on, app, file)
    const ended = await deactivate(claims.deactivation)
    expect(ended.json.data.client.offline).toEqual({ until: activation.until })
  })

  test('many times from one machine keeps twenty replaced activations', async () => {
    const { license } = await activated()
    for (let count = 0; count < 25; count++) await activate(makeRequest(app, { licenseKey: license.key }))
    expect((await list()).pagination.total).toBe(21)
  })
})

describe('the end of the file', () => {
  test('is a limit in days, never later than the license with its grace', async () => {
    const short = await activated({ days: 3 })
    expect(short.claims.exp).toBe(short.claims.iat + 3 * 86_400)
    const long = await activated({ days: 3650 })
    expect(long.claims.exp).toBe(Math.floor(Date.parse(long.license.expiresAt) / 1000))
    const type = await makeType(owner, app, { graceDays: 5, features: ['pro'] })
    const made = await owner.call('POST', '/licenses', { app: app._id, type: type._id })
    const { key } = single<{ key: string }>(made.json.data.licenses)
    const { json } = await activate(makeRequest(app, { licenseKey: key }))
    const { claims } = await readFile(on, app, json.data.file)
    expect(claims).toMatchObject({ exp: claims.iat + 35 * 86_400, features: ['pro'], term: 'first_use' })
    expect(Date.parse(claims.expiresAt as string)).toBe(on.clock.now() + 30 * day)
  })

  test('is null for a license that never ends, and shown as such', async () => {
    const type = await makeType(owner, app, { term: 'forever', duration: null })
    const made = await owner.call('POST', '/licenses', { app: app._id, type: type._id })
    const { key } = single<{ key: string }>(made.json.data.licenses)
    const { json } = await activate(makeRequest(app, { licenseKey: key }))
    const { claims } = await readFile(on, app, json.data.file)
    expect(claims).toMatchObject({ exp: null, expiresAt: null, term: 'forever' })
    expect(json.data).toMatchObject({ client: { offline: { until: null } }, activation: { until: null } })
  })

  test.each([0, 3651, 1.5, -1, '7', null])('is not %j days', async (days) => {
    const { key } = await oneKey()
    const answer = await activate(makeRequest(app, { licenseKey: key }), { days })
    expect(wrongFields(answer)).toEqual(['days'])
  })

  test('is later than a ban, and an end user says so until it has passed', async () => {
    const { client, activation } = await activated({ days: 2 })
    const banned = (await owner.call('PATCH', `/clients/${client._id}/toggle-ban`, { is_banned: true })).json
      .data
    expect(banned.client).toMatchObject({ ban: true, offline: { until: activation.until } })
    on.clock.advance(2 * day)
    expect((await clientOf(client._id)).offline).toBeNull()
    expect((await list()).activations[0].status).toBe('ended')
  })

  test('also counts the latest lease', async () => {
    const { program, user } = await activateKey(on, owner, app, 'pc-1')
    expect((await clientOf(user._id)).offline).toBeNull()
    await program.call('POST', '/lease', { hwid: 'pc-1' })
    const until = new Date(Math.floor(on.clock.now() / 1000) * 1000 + 10 * day).toISOString()
    expect((await clientOf(user._id)).offline).toEqual({ until })
  })
})

describe('the verdict', () => {
  test.each<[string, string, (license: { _id: string; key: string }) => Promise<unknown>]>([
    ['an unknown key', 'keyNotFound', (license) => owner.call('DELETE', `/licenses/${license._id}`)],
    ['a banned key', 'keyBanned', (license) => owner.call('PATCH', `/licenses/${license._id}/toggle-ban`)],
    ['an ended license', 'noActiveSubs', async () => on.clock.advance(day)],
    ['a paused app', 'pausedApp', () => owner.call('PUT', `/apps/${app._id}`, { paused: true })],
    [
      'a blocked machine',
      'hwidBlacklisted',
      () => owner.call('POST', `/apps/${app._id}/blocklist`, { kind: 'hwid', value: 'pc-1' }),
    ],
  ])('refuses %s, names the reason, and takes nothing', async (_, reason, prepare) => {
    const license = await oneKey(1)
    await prepare(license)
    const answer = await activate(makeRequest(app, { licenseKey: license.key }))
    expect(refusal(answer)).toBe('offline_refused')
    expect(reasonOf(answer)).toBe(reason)
    expect(answer.json.errors).toEqual([{ path: 'request', message: answer.json.message }])
    expect((await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients).toEqual([])
    expect(await list()).toMatchObject({ activations: [] })
  })

  test.each([
    ['a banned end user', 'userBanned', 'toggle-ban'],
    ['a paused end user', 'pausedSub', 'toggle-pause'],
  ])('refuses %s', async (_, reason, change) => {
    const { license, user } = await activateKey(on, owner, app)
    await owner.call('PATCH', `/clients/${user._id}/${change}`)
    const answer = await activate(makeRequest(app, { licenseKey: license.key }))
    expect(reasonOf(answer)).toBe(reason)
    expect((await devicesOf(user._id)).used).toBe(0)
  })

  test('refuses a second machine, also while the hardware lock is off, and explains it', async () => {
    const { license } = await activated()
    const second = makeRequest(app, { licenseKey: license.key, hwid: 'pc-2' })
    const answer = await activate(second)
    expect(reasonOf(answer)).toBe('hwidMismatch')
    const { reference } = answer.json.details
    await vi.waitFor(async () => {
      const { status, json } = await owner.call('GET', `/activity/${reference}`)
      expect(status).toBe(200)
      expect(json.data).toMatchObject({
        event: { code: 'hwidMismatch', call: 'offline-activations', address: null },
        explanation: { now: { code: 'hwidMismatch' } },
      })
    })
    await owner.call('PUT', `/apps/${app._id}`, { settings: { hwidLock: false } })
    expect(reasonOf(await activate(second))).toBe('hwidMismatch')
    expect((await list()).activations).toHaveLength(1)
  })

  test('refuses floating licenses, used or not', async () => {
    const unused = await oneKey()
    const { license, user } = await activateKey(on, owner, app, 'pc-1')
    for (const one of [unused, license]) {
      await setLicense(on, one, { seats: 3 })
      expect(refusal(await activate(makeRequest(app, { licenseKey: one.key, hwid: 'pc-2' })))).toBe(
        'offline_floating',
      )
    }
    expect((await devicesOf(user._id)).used).toBe(1)
    expect((await owner.call('GET', `/licenses/${unused._id}`)).json.data.license.used).toBe(false)
  })

  test('accepts the key of an end user with a password, and refuses one that only added time', async () => {
    const { license, user, program } = await registerUser(on, owner, app)
    expect((await activate(makeRequest(app, { licenseKey: license.key }))).json.data.client._id).toBe(
      user._id,
    )
    const added = await oneKey()
    await program.call('POST', '/upgrade', { username: 'alice', licenseKey: added.key })
    expect(reasonOf(await activate(makeRequest(app, { licenseKey: added.key })))).toBe('keyUsed')
  })

  test("leaves the address and the sign-in of the end user's program alone", async () => {
    const { license, user } = await activateKey(on, owner, app, 'pc-1')
    const before = await clientOf(user._id)
    on.clock.advance(day)
    await activate(makeRequest(app, { licenseKey: license.key }))
    expect((await clientOf(user._id)).lastLoginAt).toBe(before.lastLoginAt)
    const row = await on.database.db
      .selectFrom('clients')
      .select(['last_address', 'hwid'])
      .where('id', '=', user._id)
      .executeTakeFirstOrThrow()
    expect(row).toEqual({ last_address: '127.0.0.1', hwid: 'pc-1' })
  })
})

describe('the device', () => {
  test('is the same one when its machine signs in online later', async () => {
    const { license, client, activation } = await activated()
    expect((await clientOf(client._id)).hwid).toBe(`sha256:${hashed('pc-1')}`)
    const program = await startProgram(on, app)
    const online = await program.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-1' })
    expect(online.json.data.user.devices).toEqual({ used: 1, limit: 1 })
    expect((await devicesOf(client._id)).devices).toMatchObject([{ _id: activation.device._id }])
    expect((await clientOf(client._id)).hwid).toBe('pc-1')
    const other = await startProgram(on, app)
    const stranger = await other.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-2' })
    expect(refusal(stranger)).toBe('hwidMismatch')
  })

  test('is blocked with a ban that blocks devices, by its hash', async () => {
    const { client } = await activated()
    const body = { is_banned: true, blockDevices: true }
    await owner.call('PATCH', `/clients/${client._id}/toggle-ban`, body)
    const { key } = await oneKey()
    const program = await startProgram(on, app)
    const answer = await program.call('POST', '/license', { licenseKey: key, hwid: 'pc-1' })
    expect(refusal(answer)).toBe('hwidBlacklisted')
  })

  test('cannot be freed by the program while its file runs, but by the owner', async () => {
    await owner.call('PUT', `/apps/${app._id}`, { settings: { deviceSelfService: true } })
    const { license, client, activation } = await activated({ days: 5 })
    await setLicense(on, license, { devices: 2 })
    const program = await startProgram(on, app)
    await program.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-2' })
    const id = activation.device._id
    const refused = await program.call('DELETE', `/devices/${id}`)
    expect(refusal(refused)).toBe('device_activated_offline')
    expect(refused.json.details.until).toBe(activation.until)
    expect(refused.headers.signature).toBeDefined()
    const other = await registerUser(on, owner, app, 'bob')
    expect(refusal(await other.program.call('DELETE', `/devices/${id}`))).toBe('not_found')
    expect((await owner.call('DELETE', `/clients/${client._id}/devices/${id}`)).status).toBe(200)
    expect((await list()).activations).toMatchObject([{ status: 'freed', device: null }])
    expect((await clientOf(client._id)).offline).toEqual({ until: activation.until })
  })

  test('is not taken over by a machine that claims the same parts while its file runs', async () => {
    const license = await oneKey()
    const parts = sentParts(app, { machine: 'a', board: 'b', disk: 'c', network: 'd' })
    const signIn = async (hwid: string) => {
      const program = await startProgram(on, app)
      return program.call('POST', '/license', { licenseKey: license.key, hwid, device: { parts } })
    }
    await signIn('pc-1')
    await activate(makeRequest(app, { licenseKey: license.key }), { days: 1 })
    expect(refusal(await signIn('pc-9'))).toBe('hwidMismatch')
    on.clock.advance(day)
    expect((await signIn('pc-9')).status).toBe(200)
  })

  test('cannot be freed or taken over while a longer file of the same machine may still run', async () => {
    await owner.call('PUT', `/apps/${app._id}`, { settings: { deviceSelfService: true } })
    const license = await oneKey()
    const parts = sentParts(app, { machine: 'a', board: 'b', disk: 'c', network: 'd' })
    const signIn = async (hwid: string) => {
      const program = await startProgram(on, app)
      const body = { licenseKey: license.key, hwid, device: { parts } }
      return { program, answer: await program.call('POST', '/license', body) }
    }
    await signIn('pc-1')
    const request = () => makeRequest(app, { licenseKey: license.key })
    const { activation } = (await activate(request(), { days: 9 })).json.data
    const shorter = await activate(request(), { days: 1 })
    on.clock.advance(day)
    const { program } = await signIn('pc-1')
    const id = activation.device._id
    const refused = await program.call('DELETE', `/devices/${id}`)
    expect(refusal(refused)).toBe('device_activated_offline')
    expect(refused.json.details.until).toBe(activation.until)
    expect((await devicesOf(shorter.json.data.client._id)).devices).toMatchObject([
      { _id: id, offline: { until: activation.until } },
    ])
    expect(refusal((await signIn('pc-9')).answer)).toBe('hwidMismatch')
    on.clock.advance(8 * day)
    await owner.call('PATCH', `/clients/${activation.client._id}/extend`, { days: 30 })
    const later = await signIn('pc-1')
    expect((await later.program.call('DELETE', `/devices/${id}`)).status).toBe(200)
  })

  test('cannot be freed by the program ever if its file never ends', async () => {
    await owner.call('PUT', `/apps/${app._id}`, { settings: { deviceSelfService: true } })
    const type = await makeType(owner, app, { term: 'forever', duration: null })
    const made = await owner.call('POST', '/licenses', { app: app._id, type: type._id })
    const { key } = single<{ key: string }>(made.json.data.licenses)
    const { activation } = (await activate(makeRequest(app, { licenseKey: key }))).json.data
    const program = await startProgram(on, app)
    await program.call('POST', '/license', { licenseKey: key, hwid: 'pc-1' })
    const refused = await program.call('DELETE', `/devices/${activation.device._id}`)
    expect(refusal(refused)).toBe('device_activated_offline')
    expect(refused.json.details).toEqual({ until: null })
    expect(await list()).toMatchObject({ activations: [{ status: 'active' }] })
  })

  test('can be freed by the program once its file has ended', async () => {
    await owner.call('PUT', `/apps/${app._id}`, { settings: { deviceSelfService: true } })
    const { license, activation } = await activated({ days: 1 })
    on.clock.advance(day)
    const program = await startProgram(on, app)
    await program.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-1' })
    expect((await program.call('DELETE', `/devices/${activation.device._id}`)).status).toBe(200)
  })
})

describe('a deactivation code', () => {
  test('frees the device once, as people type it', async () => {
    const { client, claims, activation, request } = await activated()
    const typed = claims.deactivation.toLowerCase().replaceAll('-', '  ').replaceAll('0', 'o')
    const { status, json } = await deactivate(typed)
    expect(status).toBe(200)
    expect(json.data).toMatchObject({
      activation: { _id: activation._id, status: 'deactivated', device: null, endedAt: expect.any(String) },
      client: { _id: client._id, offline: null, hwid: null },
    })
    expect((await devicesOf(client._id)).used).toBe(0)
    expect(refusal(await deactivate(claims.deactivation))).toBe('offline_code_used')
    const replay = await activate(request)
    expect(refusal(replay)).toBe('offline_request_used')
    expect(replay.json.errors).toMatchObject([{ path: 'request' }])
    expect((await devicesOf(client._id)).used).toBe(0)
    expect((await recount(on)).kept).toEqual((await recount(on)).counted)
  })

  test('frees no device that was bound after the owner had freed it', async () => {
    const { client, claims, license } = await activated()
    await owner.call('PATCH', `/clients/${client._id}/reset-hwid`)
    const program = await startProgram(on, app)
    await program.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-1' })
    expect((await deactivate(claims.deactivation)).json.data.client.offline).toBeNull()
    expect((await devicesOf(client._id)).used).toBe(1)
  })

  test('makes room for the next machine', async () => {
    const { license, claims } = await activated()
    await deactivate(claims.deactivation)
    expect((await activate(makeRequest(app, { licenseKey: license.key, hwid: 'pc-2' }))).status).toBe(201)
  })

  test.each([
    '',
    'KWD1',
    'KWD1-0000-0000-0000-000',
    'KWD1-0000-0000-0000-000U',
    'x'.repeat(101),
    'KWR1-00000',
  ])('is not %j', async (code) => {
    const answer = await deactivate(code)
    expect(refusal(answer)).toBe('invalid_input')
    expect(wrongFields(answer)).toEqual(['code'])
  })

  test('of another app or guessed frees nothing', async () => {
    const { claims, client } = await activated()
    const other = await makeApp(owner, 'Other')
    for (const answer of [
      await deactivate(claims.deactivation, other),
      await deactivate('KWD1-0000-0000-0000-0000'),
    ]) {
      expect(wrongFields(answer)).toEqual(['code'])
    }
    expect((await devicesOf(client._id)).used).toBe(1)
  })

  test('is stored nowhere in clear', async () => {
    const { claims } = await activated()
    const rows = await on.database.db.selectFrom('offline_activations').selectAll().execute()
    const audit = await on.database.db.selectFrom('audit').selectAll().execute()
    const bare = claims.deactivation.replaceAll('-', '')
    for (const text of [JSON.stringify(rows), JSON.stringify(audit)]) {
      expect(text).not.toContain(claims.deactivation)
      expect(text).not.toContain(bare)
    }
  })
})

describe('concurrent', () => {
  test('requests of 32 machines take the last place once', async () => {
    const license = await oneKey()
    const answers = await times(32, (at) =>
      activate(makeRequest(app, { licenseKey: license.key, hwid: `pc-${at}` })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(answers.filter(({ status }) => status !== 201).map(reasonOf))).toEqual(
      new Set(['hwidMismatch']),
    )
    const { activations } = await list()
    expect(activations).toHaveLength(1)
    expect((await devicesOf(activations[0].client._id)).used).toBe(1)
    expect((await recount(on)).kept).toEqual((await recount(on)).counted)
  })

  test('copies of one request make one activation', async () => {
    const license = await oneKey()
    const request = makeRequest(app, { licenseKey: license.key })
    const answers = await times(32, () => activate(request))
    expect(answers.map(({ status }) => status)).toEqual(Array(32).fill(201))
    const { activations } = await list()
    expect(activations).toHaveLength(1)
    expect((await devicesOf(activations[0].client._id)).used).toBe(1)
    const files = await Promise.all(answers.map(({ json }) => readFile(on, app, json.data.file)))
    expect(new Set(files.map(({ claims }) => claims.deactivation)).size).toBe(1)
    expect(new Set(files.map(({ claims }) => claims.seq)).size).toBe(32)
  })

  test('requests wait for a change that has locked the license, without a deadlock', async () => {
    const { license, client } = await activated()
    const { waiting } = await on.database.db.transaction().execute(async (tx) => {
      const { owner_id: ownerId } = await tx
        .selectFrom('clients')
        .select('owner_id')
        .where('id', '=', client._id)
        .executeTakeFirstOrThrow()
      await lockLicensesOf(tx, { ownerId }, [client._id])
      const waiting = activate(makeRequest(app, { licenseKey: license.key }))
      await setTimeout(300)
      if (needsLocks(tx)) await sql`set local lock_timeout = '300ms'`.execute(tx)
      await lockEndUser(tx, { ownerId }, client._id)
      return { waiting }
    })
    expect((await waiting).status).toBe(201)
  })

  test('uses of one code free one device', async () => {
    const { claims, client, license } = await activated()
    await setLicense(on, license, { devices: 2 })
    await activate(makeRequest(app, { licenseKey: license.key, hwid: 'pc-2' }))
    const answers = await times(32, () => deactivate(claims.deactivation))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await devicesOf(client._id)).used).toBe(1)
  })
})

test('the file is signed with every key that is not revoked', async () => {
  await owner.call('POST', `/apps/${app._id}/signing-keys`)
  const { json } = await owner.call('GET', `/apps/${app._id}/signing-keys`)
  const kids = json.data.signingKeys.map(({ kid }: { kid: string }) => kid)
  const { key } = await oneKey()
  const request = makeRequest(app, { licenseKey: key })
  const both = await readFile(on, app, (await activate(request)).json.data.file)
  expect(both.kids.toSorted()).toEqual(kids.toSorted())
  const next = kids[0]
  await owner.call('POST', `/apps/${app._id}/signing-keys/${next}/revoke`)
  const one = await readFile(on, app, (await activate(request)).json.data.file)
  expect(one.kids).toEqual(kids.filter((kid: string) => kid !== next))
})

test('activations and deactivations appear in the activity log', async () => {
  const { client, claims } = await activated()
  await deactivate(claims.deactivation)
  await vi.waitFor(async () => {
    const { events } = (await owner.call('GET', `/activity?client=${client._id}`)).json.data
    const kinds = events.map(({ kind }: { kind: string }) => kind)
    expect(kinds).toEqual(['end_user.deactivated_offline', 'end_user.activated_offline'])
  })
})

describe('the list', () => {
  test('is paged, newest first, and filtered by end user', async () => {
    const made = []
    for (let count = 0; count < 5; count++) {
      made.unshift((await activated()).activation)
      on.clock.advance(1)
    }
    const ids = async (query: string) =>
      (await list(query)).activations.map(({ _id }: { _id: string }) => _id)
    const all = made.map(({ _id }) => _id)
    expect(await ids('?limit=2')).toEqual(all.slice(0, 2))
    expect(await ids('?limit=2&page=2')).toEqual(all.slice(2, 4))
    expect(await ids('?limit=2&page=3')).toEqual(all.slice(4))
    expect(await ids('?limit=2&page=4')).toEqual([])
    expect(await ids(`?client=${made[2].client._id}`)).toEqual([all[2]])
  })

  test('of a foreign end user is not found, and a reseller sees none', async () => {
    const missing = await owner.call('GET', `/apps/${app._id}/offline-activations?client=usr_0`)
    expect(refusal(missing)).toBe('not_found')
    await makePremium(on, owner)
    const reseller = await makeReseller(on, owner, app)
    for (const [method, path, body] of [
      ['GET', 'offline-activations', undefined],
      ['POST', 'offline-activations', { request: 'KWR1' }],
      ['POST', 'offline-deactivations', { code: 'KWD1' }],
    ] as const) {
      const call = on.call(method, `/apps/${app._id}/${path}`, { token: reseller.token, body })
      expect(refusal(await call)).toBe('unauthorized')
    }
  })
})

describe('nothing is left dangling', () => {
  const rowsOf = (appId: string) =>
    on.database.db.selectFrom('offline_activations').selectAll().where('app_id', '=', appId).execute()

  test('after an end user is deleted', async () => {
    const { client, claims } = await activated()
    await owner.call('DELETE', `/clients/${client._id}`)
    expect(await rowsOf(app._id)).toEqual([])
    expect(wrongFields(await deactivate(claims.deactivation))).toEqual(['code'])
  })

  test('after an app is deleted', async () => {
    await activated()
    await owner.call('DELETE', `/apps/${app._id}`)
    expect(await rowsOf(app._id)).toEqual([])
  })

  test('after a license is deleted, whose machine is still listed and can be deactivated', async () => {
    const { license, claims } = await activated()
    await owner.call('DELETE', `/licenses/${license._id}`)
    expect((await list()).activations).toMatchObject([{ licenseKey: null, status: 'active' }])
    expect((await deactivate(claims.deactivation)).status).toBe(200)
  })

  test('after a reset of many end users', async () => {
    const { client } = await activated()
    await owner.call('POST', '/clients/bulk', { action: 'reset-hwid', ids: [client._id] })
    expect((await list()).activations).toMatchObject([{ status: 'freed', device: null }])
    const request = makeRequest(app, { licenseKey: client.username, hwid: 'pc-2' })
    expect((await activate(request)).status).toBe(201)
  })
})
