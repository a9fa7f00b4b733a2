// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import {
  activateKey,
  makeApp,
  makeLicenses,
  plainLicense,
  refusal,
  registerUser,
  signUp,
  single,
  startProgram,
  wrongFields,
} from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const create = (body: object) =>
  owner.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(30), ...body })
const total = async () => (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.stats.total
const allowCustomKeys = (of = app) =>
  owner.call('PUT', `/apps/${of._id}`, { settings: { allowCustomLicenseKey: true } })
const clientOf = async (username: string) =>
  single((await owner.call('GET', `/clients?app=${app._id}&search=${username}`)).json.data.clients) as {
    _id: string
    expiresAt: string
    licenseKey: string | null
    status: string
  }

test('a license is read alone as it is listed, used or not', async () => {
  const [unused] = await makeLicenses(on, owner, app)
  const { license } = await activateKey(on, owner, app)
  const { licenses } = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data
  for (const { _id } of [unused!, license]) {
    const answer = await owner.call('GET', `/licenses/${_id}`)
    expect(answer.status).toBe(200)
    const { grants, ...one } = answer.json.data.license
    expect(one).toEqual(licenses.find((row: { _id: string }) => row._id === _id))
    expect(grants).toMatchObject([{ kind: 'term', until: one.expiresAt }])
  }
  expect((await owner.call('GET', `/licenses/lic_${'0'.repeat(32)}`)).status).toBe(404)
})

describe('generating', () => {
  test('returns one license with a key of 25 Crockford characters in groups of five', async () => {
    const { status, json } = await create({ note: ' for Ada ' })
    expect(status).toBe(201)
    expect(json.data.licenses).toEqual([json.data.license])
    expect(json.data.license).toEqual({
      _id: expect.stringMatching(/^lic_/),
      key: expect.stringMatching(/^([0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{5}$/),
      buyReference: expect.stringMatching(/^kwr_[\w-]{36}$/),
      app: { _id: app._id, name: app.name, appId: app.appId },
      status: 'unused',
      used: false,
      usedBy: null,
      usedAt: null,
      added: false,
      banned: false,
      banReason: null,
      note: 'for Ada',
      reseller: null,
      createdAt: on.clock.inDays(0),
      expiresAt: on.clock.inDays(30),
      test: false,
      ...plainLicense,
    })
  })

  test('creates a hundred licenses with different keys', async () => {
    const { json } = await create({ count: 100 })
    expect(new Set(json.data.licenses.map((one: { key: string }) => one.key)).size).toBe(100)
    expect(await total()).toBe(100)
  })

  test.each([
    ['none', { count: 0 }, ['count']],
    ['more than a hundred', { count: 101 }, ['count']],
    ['half a license', { count: 1.5 }, ['count']],
    ['a custom key twice', { key: 'ABCDEF', count: 2 }, ['count']],
    ['no expiry', { expiresAt: undefined }, ['expiresAt']],
    ['an expiry that is not a date', { expiresAt: 'soon' }, ['expiresAt']],
    ['a date that does not exist', { expiresAt: '2027-02-30' }, ['expiresAt']],
    ['an unknown field', { reseller_id: 'x' }, ['reseller_id']],
  ])('rejects %s and creates nothing', async (_what, body, paths) => {
    expect(wrongFields(await create(body))).toEqual(paths)
    expect(await total()).toBe(0)
  })

  test('creates all or nothing at the plan limit', async () => {
    const vendor = await signUp(on)
    const small = await makeApp(vendor)
    await makeLicenses(on, vendor, small, 25)
    const answer = await vendor.call('POST', '/licenses', {
      app: small._id,
      expiresAt: on.clock.inDays(1),
      count: 6,
    })
    expect(refusal(answer)).toBe('plan_limit_reached')
    expect(answer.status).toBe(403)
    expect((await vendor.call('GET', '/licenses')).json.data.stats.total).toBe(25)
    await makeLicenses(on, vendor, small, 5)
    await makeLicenses(on, vendor, await makeApp(vendor, 'Second'), 30)
  })
})

describe('an expiry', () => {
  const today = () => new Date(on.clock.now()).toISOString().slice(0, 10)

  test('as a bare date is the end of that UTC day', async () => {
    expect((await create({ expiresAt: '2030-02-28' })).json.data.license.expiresAt).toBe(
      '2030-02-28T23:59:59.999Z',
    )
  })

  test('accepts today, and rejects yesterday and the current moment on the field', async () => {
    expect((await create({ expiresAt: today() })).status).toBe(201)
    const yesterday = new Date(on.clock.now() - day).toISOString().slice(0, 10)
    for (const expiresAt of [yesterday, on.clock.inDays(0), on.clock.inDays(-1)]) {
      expect(wrongFields(await create({ expiresAt }))).toEqual(['expiresAt'])
    }
  })

  test.each([
    ['2030-01-01T00:30:00+05:30', '2029-12-31T19:00:00.000Z'],
    ['2030-01-01T00:30:00-08:00', '2030-01-01T08:30:00.000Z'],
    ['2030-01-01T00:30:00.5Z', '2030-01-01T00:30:00.500Z'],
  ])('%s is returned as %s', async (expiresAt, answered) => {
    expect((await create({ expiresAt })).json.data.license.expiresAt).toBe(answered)
  })
})

describe('a custom key', () => {
  test('is rejected if the app does not allow it', async () => {
    expect(refusal(await create({ key: 'MY-OWN-KEY' }))).toBe('custom_keys_off')
    expect(await total()).toBe(0)
  })

  test('keeps its spelling, and is unique regardless of case and hyphens', async () => {
    await allowCustomKeys()
    expect((await create({ key: 'My-Own_Key' })).json.data.license.key).toBe('My-Own_Key')
    for (const key of ['My-Own_Key', 'MYOWNKEY', 'my-own-key']) {
      const answer = await create({ key })
      expect(refusal(answer)).toBe('key_taken')
      expect(answer.status).toBe(409)
      expect(answer.json.errors).toEqual([{ path: 'key', message: answer.json.message }])
    }
    const program = await startProgram(on, app)
    expect((await program.call('POST', '/license', { licenseKey: 'myownkey' })).status).toBe(200)
  })

  test('can exist in another app', async () => {
    await allowCustomKeys()
    await create({ key: 'SAME-KEY' })
    const other = await makeApp(owner, 'Other')
    await allowCustomKeys(other)
    expect((await create({ app: other._id, key: 'SAME-KEY' })).status).toBe(201)
  })

  test.each(['short', '-LEADING', 'with space', 'x'.repeat(101), 'schlüssel', '<b>key</b>'])(
    'rejects %j',
    async (key) => {
      await allowCustomKeys()
      expect(wrongFields(await create({ key }))).toEqual(['key'])
    },
  )
})

describe('changing the expiry', () => {
  test('also changes the end user of a used license', async () => {
    const { license, program } = await registerUser(on, owner, app)
    const { status, json } = await owner.call('PUT', `/licenses/${license._id}`, { expiresAt: '2031-01-01' })
    expect(status).toBe(200)
    expect(json.data.license.expiresAt).toBe('2031-01-01T23:59:59.999Z')
    expect((await clientOf('alice')).expiresAt).toBe('2031-01-01T23:59:59.999Z')
    const { user } = (await program.call('GET', '/session')).json.data
    expect(user.expiresAt).toBe('2031-01-01T23:59:59.999Z')
  })

  test('to the past expires the license and its end user now', async () => {
    const { license, program } = await registerUser(on, owner, app)
    const { json } = await owner.call('PUT', `/licenses/${license._id}`, { expiresAt: '2001-01-01' })
    expect(json.data.license).toMatchObject({ expiresAt: on.clock.inDays(0), status: 'expired' })
    expect(await clientOf('alice')).toMatchObject({ expiresAt: on.clock.inDays(0), status: 'expired' })
    expect(refusal(await program.call('GET', '/session'))).toBe('noActiveSubs')
  })
})

describe('an edit that names the values it saw', () => {
  const first = { devices: 1, features: [], note: null }
  const edit = (id: string, body: object) => owner.call('PUT', `/licenses/${id}`, body)

  test.each([
    ['devices', { devices: 5 }],
    ['features', { features: ['pro'] }],
    ['note', { note: 'order 7' }],
  ])('saves nothing after another user has changed the %s', async (name, others) => {
    const license = single(await makeLicenses(on, owner, app))
    const { json } = await edit(license._id, others)
    const late = { devices: 9, features: ['late'], note: 'late', expiresAt: null }
    expect(refusal(await edit(license._id, { ...late, seen: first }))).toBe('license_changed')
    const now = (await owner.call('GET', `/licenses/${license._id}`)).json.data.license
    expect(now).toMatchObject(json.data.license)
    const { [name as keyof typeof first]: _, ...unchanged } = first
    expect((await edit(license._id, { ...late, seen: unchanged })).json.data.license).toMatchObject(late)
    const seen = { devices: 9, features: ['late'], note: 'late' }
    expect((await edit(license._id, { note: '', seen })).json.data.license.note).toBeNull()
    expect((await edit(license._id, { devices: 2, seen: { note: '' } })).status).toBe(200)
  })

  test('succeeds for exactly one of several concurrent editors', async () => {
    const license = single(await makeLicenses(on, owner, app))
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, at) => edit(license._id, { note: `editor ${at}`, seen: first })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
  })

  test.each([
    { devices: 5, features: ['pro'], note: 'order 7' },
    { devices: 5, note: '' },
  ])('succeeds again when its response was lost: %j', async (wanted) => {
    const license = single(await makeLicenses(on, owner, app))
    const { json } = await edit(license._id, { ...wanted, seen: first })
    const again = await edit(license._id, { ...wanted, seen: first })
    expect([again.status, again.json.data?.license]).toEqual([200, json.data.license])
    expect(refusal(await edit(license._id, { ...wanted, devices: 6, seen: first }))).toBe('license_changed')
  })

  test('must change something', async () => {
    const license = single(await makeLicenses(on, owner, app))
    expect(wrongFields(await edit(license._id, { seen: first }))).toEqual(['expiresAt'])
  })
})

describe('a ban', () => {
  test('toggles or is set explicitly, and applies to the next request', async () => {
    const { program, license } = await activateKey(on, owner, app)
    const toggle = async (body?: object) =>
      (await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`, body)).json.data.license
    expect(await toggle()).toMatchObject({ banned: true, status: 'banned', used: true })
    expect(refusal(await program.call('GET', '/session'))).toBe('keyBanned')
    expect(await toggle()).toMatchObject({ banned: false, status: 'active' })
    expect((await program.call('GET', '/session')).status).toBe(200)
    expect((await toggle({ is_banned: false })).banned).toBe(false)
    expect((await toggle({ is_banned: true })).banned).toBe(true)
    expect((await toggle({ is_banned: true })).banned).toBe(true)
  })

  test('takes precedence over expiry in the status; both are counted', async () => {
    const license = single(await makeLicenses(on, owner, app))
    await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`)
    await owner.call('PUT', `/licenses/${license._id}`, { expiresAt: '2001-01-01' })
    const { json } = await owner.call('GET', `/licenses?app=${app._id}`)
    expect(json.data.licenses[0].status).toBe('banned')
    expect(json.data.stats).toEqual({ total: 1, active: 0, unused: 0, expired: 1, banned: 1 })
  })
})

describe('deleting', () => {
  test('frees the place and the key of an unused license', async () => {
    await allowCustomKeys()
    const { _id } = (await create({ key: 'AGAIN-1' })).json.data.license
    expect((await owner.call('DELETE', `/licenses/${_id}`)).status).toBe(200)
    expect(refusal(await owner.call('DELETE', `/licenses/${_id}`))).toBe('not_found')
    expect((await create({ key: 'AGAIN-1' })).status).toBe(201)
  })

  test('expires the end user of a used license, and its session reports it', async () => {
    const { license, program } = await registerUser(on, owner, app)
    expect((await owner.call('DELETE', `/licenses/${license._id}`)).status).toBe(200)
    expect(await clientOf('alice')).toMatchObject({
      expiresAt: on.clock.inDays(0),
      licenseKey: null,
      status: 'expired',
    })
    expect(refusal(await program.call('GET', '/session'))).toBe('noActiveSubs')
  })

  test('deletes all licenses of one app by _id or appId, or of every app', async () => {
    const vendor = await signUp(on)
    const [one, two] = [await makeApp(vendor, 'One'), await makeApp(vendor, 'Two')]
    await makeLicenses(on, vendor, one, 3)
    await makeLicenses(on, vendor, two, 4)
    const { program } = await activateKey(on, vendor, two)
    const left = async () => (await vendor.call('GET', '/licenses')).json.data.stats.total
    expect((await vendor.call('DELETE', `/licenses?app=${one.appId}`)).json.data).toEqual({ deletedCount: 3 })
    expect(await left()).toBe(5)
    expect((await program.call('GET', '/session')).status).toBe(200)
    expect((await vendor.call('DELETE', '/licenses')).json.data).toEqual({ deletedCount: 5 })
    expect(await left()).toBe(0)
    expect(refusal(await program.call('GET', '/session'))).toBe('noActiveSubs')
    expect((await vendor.call('DELETE', '/licenses')).json.data).toEqual({ deletedCount: 0 })
  })

  test('all keeps the licenses of other owners', async () => {
    const otherOwner = await signUp(on)
    await makeLicenses(on, otherOwner, await makeApp(otherOwner), 2)
    await makeLicenses(on, owner, app, 2)
    await owner.call('DELETE', '/licenses')
    expect((await otherOwner.call('GET', '/licenses')).json.data.stats.total).toBe(2)
  })

  test('all rejects a filter in the body instead of deleting everything', async () => {
    await makeLicenses(on, owner, app, 2)
    const answer = await owner.call('DELETE', '/licenses', { app: app._id })
    expect(refusal(answer)).toBe('invalid_input')
    expect(await total()).toBe(2)
  })

  test('all rejects a misspelled filter instead of deleting everything', async () => {
    const before = await total()
    const answer = await owner.call('DELETE', `/licenses?appId=${app._id}`)
    expect(refusal(answer)).toBe('invalid_input')
    expect(await total()).toBe(before)
  })

  test('deletes more licenses than fit one slice', async () => {
    for (let made = 0; made < 6; made += 1) await makeLicenses(on, owner, app, 100)
    const { json } = await owner.call('DELETE', `/licenses?app=${app._id}`)
    expect(json.data).toEqual({ deletedCount: 600 })
    expect(await total()).toBe(0)
  })
})
