// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { activateKey, makeType, refusal, registerUser, single, wrongFields } from '../actors.ts'
import { setLicense } from '../devices.ts'
import { eventually } from '../eventually.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'
import { offlineActor } from '../offline-actor.ts'
import { makeRequest, readFile } from '../offline-machine.ts'

const on = serverForAll()
const owner = ownerForEach(on)
const app = appForEach(owner)
const { activate, list, oneKey, devicesOf, clientOf, activated } = offlineActor(on, owner, app)
const reasonOf = ({ json }: { json: { details?: { reason?: string } } }) => json.details?.reason

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
    await eventually(async () => {
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
