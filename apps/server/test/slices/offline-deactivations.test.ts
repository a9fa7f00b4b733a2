// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import {
  hashed,
  makeApp,
  makeType,
  refusal,
  registerUser,
  single,
  startProgram,
  wrongFields,
} from '../actors.ts'
import { sentParts, setLicense } from '../devices.ts'
import { eventually } from '../eventually.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'
import { offlineActor } from '../offline-actor.ts'
import { makeRequest } from '../offline-machine.ts'
import { recount } from '../recount.ts'
import { times } from '../rounds.ts'

const on = serverForAll({}, { gateSizes: { requests: { running: 100, waiting: 0 } } })
const owner = ownerForEach(on)
const app = appForEach(owner)
const { activate, deactivate, list, oneKey, devicesOf, clientOf, activated } = offlineActor(on, owner, app)

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

  test('is never stored in clear text', async () => {
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

test('concurrent uses of one code free one device', async () => {
  const { claims, client, license } = await activated()
  await setLicense(on, license, { devices: 2 })
  await activate(makeRequest(app, { licenseKey: license.key, hwid: 'pc-2' }))
  const answers = await times(32, () => deactivate(claims.deactivation))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect((await devicesOf(client._id)).used).toBe(1)
})

test('activations and deactivations appear in the activity log', async () => {
  const { client, claims } = await activated()
  await deactivate(claims.deactivation)
  await eventually(async () => {
    const { events } = (await owner.call('GET', `/activity?client=${client._id}`)).json.data
    const kinds = events.map(({ kind }: { kind: string }) => kind)
    expect(kinds).toEqual(['end_user.deactivated_offline', 'end_user.activated_offline'])
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
