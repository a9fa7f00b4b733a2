// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { messageDefaults } from '@keyward/contract'
import { describe, expect, test } from 'vitest'
import { hour } from '../../src/core/clock.ts'
import { createSeal } from '../../src/core/crypto.ts'
import {
  activateKey,
  makeApp,
  makeLicenses,
  makePremium,
  refusal,
  registerUser,
  signUp,
  startProgram,
  wrongFields,
} from '../actors.ts'
import { eventually } from '../eventually.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import type { Answer } from '../harness.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const defaults = {
  hwidLock: true,
  allowCustomLicenseKey: false,
  requireHwid: false,
  requireActivation: false,
  deviceTolerance: true,
  deviceSelfService: false,
  deviceCooldownHours: 168,
  usernameMin: 3,
  blockVpn: false,
  vpnAllowed: [],
  checkHash: false,
  checkPasswords: false,
  testLicenses: true,
  minimumVersion: null,
  publicUpdates: false,
  customerPage: false,
  customerDevices: 3,
  brandColor: null,
  buyUrl: null,
  rememberDays: 30,
  leaseHours: 72,
  graceHours: 168,
  activityDays: 365,
}

test('a new app has an 8-character id, a 32-character secret, version 1.0.0 and the default settings', async () => {
  const { status, json } = await owner.call('POST', '/apps', { name: '  Borealis ' })
  expect(status).toBe(201)
  expect(json.message).toBe('App created successfully')
  expect(json.data.app).toEqual({
    _id: expect.stringMatching(/^app_/),
    name: 'Borealis',
    appId: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{8}$/),
    appSecret: expect.stringMatching(/^[A-Za-z0-9]{32}$/),
    version: '1.0.0',
    paused: false,
    createdAt: new Date(on.clock.now()).toISOString(),
    sdklessInitAt: null,
    settings: defaults,
  })
})

test("every endpoint accepts an app's _id and its appId", async () => {
  for (const id of [app._id, app.appId]) {
    expect((await owner.call('GET', `/apps/${id}`)).json.data.app._id).toBe(app._id)
    expect((await owner.call('PUT', `/apps/${id}`, { name: `by ${id}` })).json.data.app.name).toBe(`by ${id}`)
    expect((await owner.call('GET', `/apps/${id}/stats`)).status).toBe(200)
    expect((await owner.call('GET', `/apps/${id}/deletion-preview`)).status).toBe(200)
    expect((await owner.call('GET', `/apps/${id}/error-messages`)).status).toBe(200)
    expect((await owner.call('PUT', `/apps/${id}/error-messages`, { keyUsed: id })).status).toBe(200)
    expect((await owner.call('DELETE', `/apps/${id}/error-messages`)).status).toBe(200)
    expect((await owner.call('POST', `/apps/${id}/rotate-secret`)).json.data.app._id).toBe(app._id)
    expect((await owner.call('GET', `/licenses?app=${id}`)).status).toBe(200)
    expect((await owner.call('GET', `/clients?app=${id}`)).status).toBe(200)
    expect((await owner.call('GET', `/activity/days?app=${id}`)).status).toBe(200)
    await makeLicenses(on, owner, { _id: id })
    const client = { username: `u-${id}`, password: 'secret1', appId: id, expiresAt: on.clock.inDays(1) }
    expect((await owner.call('POST', '/clients/create-direct', client)).json.data.client.app._id).toBe(
      app._id,
    )
  }
  expect((await owner.call('DELETE', `/apps/${app.appId}`)).status).toBe(200)
  expect((await owner.call('GET', `/apps/${app._id}`)).status).toBe(404)
})

test('lists apps newest first, 200 per page unless a limit is sent', async () => {
  const vendor = await signUp(on)
  const [first, second] = [await makeApp(vendor, 'First'), await makeApp(vendor, 'Second')]
  const all = await vendor.call('GET', '/apps')
  expect(all.json.data.count).toBe(2)
  expect(all.json.data.apps.map((one: { _id: string }) => one._id)).toEqual([second._id, first._id])
  const page = await vendor.call('GET', '/apps?limit=1&page=2')
  expect(page.json.data.apps.map((one: { _id: string }) => one._id)).toEqual([first._id])
  expect(page.json.data.pagination).toEqual({ page: 2, limit: 1, total: 2, pages: 2 })
  expect(all.json.data.pagination).toEqual({ page: 1, limit: 200, total: 2, pages: 1 })
  expect(wrongFields(await vendor.call('GET', '/apps?limit=201'))).toEqual(['limit'])
})

test('lists and profile return at most 200 apps, and search finds the rest', async () => {
  const vendor = await signUp(on)
  const first = await makeApp(vendor, '50 % Öl_Tank')
  const row = await on.database.db
    .selectFrom('apps')
    .selectAll()
    .where('id', '=', first._id)
    .executeTakeFirstOrThrow()
  const seal = createSeal(on.config.secretKey ?? '')
  const { seq: _, ...shared } = row
  const more = Array.from({ length: 204 }, (_, at) => {
    const id = `${first._id}${at}`
    const secret_sealed = seal.seal(first.appSecret, `apps.secret:${id}`)
    return { ...shared, id, app_id: `${row.app_id}${at}`.slice(-8), name: `App ${at}`, secret_sealed }
  })
  await on.database.db.insertInto('apps').values(more).execute()
  const idsOf = (answer: Answer) => answer.json.data.apps.map((one: { _id: string }) => one._id)
  const all = await vendor.call('GET', '/apps')
  expect(idsOf(all)).toHaveLength(200)
  expect(all.json.data).toMatchObject({
    count: 205,
    pagination: { page: 1, limit: 200, total: 205, pages: 2 },
  })
  expect(idsOf(await vendor.call('GET', '/apps?page=2'))).toHaveLength(5)
  const last = await vendor.call('GET', '/apps?limit=1&page=205')
  expect(idsOf(last)).toEqual([first._id])
  expect(last.json.data).toMatchObject({ count: 205, pagination: { total: 205, pages: 205 } })
  for (const search of ['50 %', 'öl_t', 'ÖL', first.appId, first.appId.toLowerCase(), first._id]) {
    const found = await vendor.call('GET', `/apps?search=${encodeURIComponent(search)}`)
    expect({ search, ids: idsOf(found) }).toEqual({ search, ids: [first._id] })
    expect(found.json.data).toMatchObject({ count: 205, pagination: { total: 1, pages: 1 } })
  }
  for (const search of ['5_ %', '%%', 'nothing']) {
    const found = await vendor.call('GET', `/apps?search=${encodeURIComponent(search)}`)
    expect(found.json.data).toMatchObject({ apps: [], count: 205, pagination: { total: 0, pages: 0 } })
  }
  const { user } = (await vendor.call('GET', '/auth/profile')).json.data
  expect(user.appCount).toBe(205)
  expect(user.apps).toHaveLength(200)
})

describe('changing an app', () => {
  test('keeps omitted fields', async () => {
    const put = (body: unknown) => owner.call('PUT', `/apps/${app._id}`, body)
    await put({ settings: { hwidLock: false } })
    await put({ settings: { allowCustomLicenseKey: true } })
    await put({ settings: { deviceCooldownHours: 24 } })
    await put({ version: '1.2.10' })
    const { json } = await put({ paused: true })
    expect(json.data.app).toEqual({
      ...app,
      version: '1.2.10',
      paused: true,
      settings: { ...defaults, hwidLock: false, allowCustomLicenseKey: true, deviceCooldownHours: 24 },
    })
  })

  test.each([
    ['a version that is not x.y.z', { version: '1.0' }, ['version']],
    ['an empty name', { name: ' ' }, ['name']],
    ['an empty body', {}, ['']],
    ['an unknown field', { name: 'A', appSecret: 'mine' }, ['appSecret']],
    ['a cooldown of no hours', { settings: { deviceCooldownHours: 0 } }, ['settings.deviceCooldownHours']],
    ['an unknown setting', { settings: { vpn: true } }, ['settings.vpn']],
    ['a string for a boolean', { paused: 'yes' }, ['paused']],
  ])('rejects %s', async (_what, body, paths) => {
    expect(wrongFields(await owner.call('PUT', `/apps/${app._id}`, body))).toEqual(paths)
  })
})

test('after rotation only the new secret opens the app', async () => {
  const { json } = await owner.call('POST', `/apps/${app._id}/rotate-secret`)
  const rotated = json.data.app
  expect(rotated.appSecret).not.toBe(app.appSecret)
  await startProgram(on, rotated)
  const old = await on.call('POST', '/client/init', {
    body: { appId: app.appId, secret: app.appSecret, version: '1.0.0' },
  })
  expect(refusal(old)).toBe('appDisabled')
  expect((await owner.call('GET', `/apps/${app._id}`)).json.data.app.appSecret).toBe(rotated.appSecret)
})

test('rotating the secret ends all program sessions of that app and of no other', async () => {
  const { program } = await registerUser(on, owner, app)
  const signedOut = await startProgram(on, app)
  const otherProgram = (await registerUser(on, owner, await makeApp(owner, 'Bystander'))).program
  const rotated = (await owner.call('POST', `/apps/${app._id}/rotate-secret`)).json.data.app
  expect(refusal(await program.call('GET', '/session'))).toBe('sessionUnauthed')
  const signIn = { username: 'alice', password: 'swordfish' }
  expect(refusal(await signedOut.call('POST', '/login', signIn))).toBe('sessionUnauthed')
  const updated = await startProgram(on, rotated)
  expect((await updated.call('POST', '/login', signIn)).status).toBe(200)
  await owner.call('PUT', `/apps/${app._id}`, { name: 'Renamed' })
  expect((await updated.call('GET', '/session')).status).toBe(200)
  expect((await otherProgram.call('GET', '/session')).status).toBe(200)
})

describe('error messages', () => {
  const path = () => `/apps/${app._id}/error-messages`

  test('start with the defaults, change one at a time, and reset', async () => {
    expect((await owner.call('GET', path())).json.data.errorMessages).toEqual(messageDefaults)
    await owner.call('PUT', path(), { keyUsed: 'Taken!' })
    const { json } = await owner.call('PUT', path(), { keyBanned: 'No.' })
    expect(json.data.errorMessages).toEqual({ ...messageDefaults, keyUsed: 'Taken!', keyBanned: 'No.' })
    expect((await owner.call('GET', path())).json.data.errorMessages).toEqual(json.data.errorMessages)
    expect((await owner.call('DELETE', path())).json.data.errorMessages).toEqual(messageDefaults)
    expect((await owner.call('GET', path())).json.data.errorMessages).toEqual(messageDefaults)
  })

  test('can be replaced all at once', async () => {
    const answer = await owner.call('PUT', path(), { ...messageDefaults, pausedApp: 'Zzz' })
    expect(answer.json.data.errorMessages).toEqual({ ...messageDefaults, pausedApp: 'Zzz' })
  })

  test('reject an unknown key, an empty text and a text over the limit, and change nothing', async () => {
    for (const body of [{ nope: 'x' }, { keyUsed: ' ' }, { keyUsed: 'x'.repeat(301) }, { keyUsed: 7 }]) {
      const answer = await owner.call('PUT', path(), { keyBanned: 'No.', ...body })
      expect(wrongFields(answer)).toEqual(Object.keys(body))
    }
    expect((await owner.call('GET', path())).json.data.errorMessages).toEqual(messageDefaults)
  })

  test('are stored as plain text: markup and code come back unchanged', async () => {
    const text = '<b>"\'; drop table apps;-- \\ %s {{x}} ünï 🔑</b>'
    const { json } = await owner.call('PUT', path(), { keyUsed: text })
    expect(json.data.errorMessages.keyUsed).toBe(text)
  })
})

test('counts the licenses left on the plan, with end users who have none', async () => {
  const vendor = await signUp(on)
  const own = await makeApp(vendor)
  const left = async () => (await vendor.call('GET', `/apps/${own._id}/stats`)).json.data.stats.licensesLeft
  expect(await left()).toBe(30)
  await makeLicenses(on, vendor, own, 4)
  await vendor.call('POST', '/clients/create-direct', {
    username: 'direct',
    password: 'swordfish',
    appId: own._id,
    expiresAt: on.clock.inDays(5),
  })
  expect(await left()).toBe(25)
  await makePremium(on, vendor)
  expect(await left()).toBeNull()
})

test('those are online who are signed in and whose program called lately', async () => {
  const own = await makeApp(owner, 'Online')
  const online = async () =>
    (await owner.call('GET', `/apps/${own._id}/stats`)).json.data.stats.onlineClients as number
  expect(await online()).toBe(0)
  const { program } = await registerUser(on, owner, own, 'first')
  const second = await registerUser(on, owner, own, 'second')
  const again = await startProgram(on, own)
  await again.call('POST', '/login', { username: 'first', password: 'swordfish' })
  await startProgram(on, own)
  expect(await online()).toBe(2)

  expect((await second.program.call('POST', '/logout')).status).toBe(200)
  expect(await online()).toBe(1)

  on.clock.advance(2 * hour + 1)
  expect(await online()).toBe(0)
  expect((await program.call('GET', '/session')).status).toBe(200)
  await eventually(async () => expect(await online()).toBe(1))

  expect((await owner.call('POST', `/apps/${own._id}/rotate-secret`)).status).toBe(200)
  expect(await online()).toBe(0)
})

describe('deleting an app', () => {
  test('previews real counts, then deletes everything in the app and nothing else', async () => {
    const other = await makeApp(owner, 'Other')
    const kept = await activateKey(on, owner, other)
    const { program } = await registerUser(on, owner, app)
    await makeLicenses(on, owner, app, 4)
    const banned = (await makeLicenses(on, owner, app, 1))[0]?._id
    await owner.call('PATCH', `/licenses/${banned}/toggle-ban`)

    const preview = await owner.call('GET', `/apps/${app._id}/deletion-preview`)
    expect(preview.json.data.willDelete).toEqual({ resellers: 0, licenses: 6, endUsers: 1 })
    expect((await owner.call('GET', `/apps/${app._id}/stats`)).json.data.stats).toEqual({
      totalLicenses: 6,
      activeLicenses: 1,
      unusedLicenses: 5,
      expiredLicenses: 0,
      bannedLicenses: 1,
      totalResellers: 0,
      totalClients: 1,
      onlineClients: 1,
      licensesLeft: null,
    })

    expect((await owner.call('DELETE', `/apps/${app._id}`)).status).toBe(200)
    expect((await owner.call('GET', `/apps/${app._id}`)).status).toBe(404)
    expect(refusal(await program.call('GET', '/session'))).toBe('appDisabled')
    for (const table of [
      'licenses',
      'clients',
      'client_sessions',
      'license_counts',
      'client_counts',
    ] as const) {
      const rows = await on.database.db.selectFrom(table).selectAll().where('app_id', '=', app._id).execute()
      expect(rows).toEqual([])
    }
    expect((await kept.program.call('GET', '/session')).status).toBe(200)
    expect((await owner.call('GET', `/apps/${other._id}/stats`)).json.data.stats.totalLicenses).toBe(1)
  })

  test('frees its place on the free plan', async () => {
    const vendor = await signUp(on)
    const first = await makeApp(vendor)
    await makeApp(vendor)
    const third = () => vendor.call('POST', '/apps', { name: 'Third' })
    expect(refusal(await third())).toBe('plan_limit_reached')
    await vendor.call('DELETE', `/apps/${first._id}`)
    expect((await third()).status).toBe(201)
  })
})
