// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { beforeEach, describe, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { makeLicenses, refusal, single } from '../actors.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'
import { updatesOn } from '../update-actor.ts'

const on = serverForAll()
const owner = ownerForEach(on)
const app = appForEach(owner)

const { release, makeKey, start, use } = updatesOn(on, owner, app)
const set = (settings: object) => owner.call('PUT', `/apps/${app._id}`, { settings })

beforeEach(async () => {
  await release('1.0.0', 0)
  await release('2.0.0', 5)
  await release('3.0.0', 11)
})

test('a license covers versions that were released before its updates end, and unlisted ones', async () => {
  const { key } = await makeKey()
  for (const version of ['1.0.0', '2.0.0', '9.9.9', 'nightly']) {
    const { json } = await use(version, key)
    expect(json.data.user).toMatchObject({ updatesUntil: on.clock.inDays(10) })
  }
  expect(refusal(await use('3.0.0', key))).toBe('updatesEnded')
})

test('says at sign-in and at each check whether the license covers a newer version', async () => {
  const updateOf = async (version: string, licenseKey: string) => {
    const call = await start(version)
    const signedIn = (await call('POST', '/license', { licenseKey })).json.data.user.updateAvailable
    expect((await call('GET', '/session')).json.data.user.updateAvailable).toBe(signedIn)
    return signedIn
  }
  const limited = (await makeKey()).key
  const endless = (await makeKey({ updates_for_days: null })).key
  await owner.call('PUT', `/apps/${app._id}`, { version: '3.0.0' })
  for (const [version, covered] of [
    ['1.0.0', true],
    ['2.0.0', false],
    ['2.5.0', false],
  ] as const) {
    expect(await updateOf(version, limited)).toBe(covered)
    expect(await updateOf(version, endless)).toBe(true)
  }
  expect(await updateOf('3.0.0', endless)).toBe(false)
  // A version that the app does not list is covered.
  await owner.call('PUT', `/apps/${app._id}`, { version: '2.1.0' })
  expect(await updateOf('2.0.0', limited)).toBe(true)
  const body = { appId: app.appId, secret: app.appSecret, version: '1.0.0' }
  expect((await on.call('POST', '/client/init', { body })).json.data.updateAvailable).toBe(true)
})

test('an older program keeps running after the updates have ended', async () => {
  const { key } = await makeKey()
  await use('1.0.0', key)
  on.clock.advance(20 * day)
  const call = await start('2.0.0')
  expect((await call('POST', '/license', { licenseKey: key })).status).toBe(200)
  expect((await call('GET', '/session')).status).toBe(200)
})

test('a newer program is refused with its next check once its release is listed', async () => {
  const { key } = await makeKey()
  const call = await start('4.0.0')
  expect((await call('POST', '/license', { licenseKey: key })).status).toBe(200)
  const added = await release('4.0.0', 30)
  expect(refusal(await call('GET', '/session'))).toBe('updatesEnded')
  await owner.call('DELETE', `/releases/${added._id}`)
  expect((await call('GET', '/session')).status).toBe(200)
})

describe('a refusal of a new key', () => {
  test('binds, starts and takes nothing', async () => {
    const license = await makeKey()
    expect(refusal(await use('3.0.0', license.key))).toBe('updatesEnded')
    const call = await start('3.0.0')
    const registration = { username: 'alice', password: 'swordfish', licenseKey: license.key }
    expect(refusal(await call('POST', '/register', registration))).toBe('updatesEnded')
    const { licenses } = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data
    expect(licenses).toMatchObject([{ used: false }])
    expect((await owner.call('GET', `/clients?app=${app._id}`)).json.data.stats.total).toBe(0)
    expect((await use('2.0.0', license.key)).status).toBe(200)
  })

  test('comes after the license itself, before the device', async () => {
    const license = await makeKey()
    const call = await start('2.0.0')
    await call('POST', '/license', { licenseKey: license.key, hwid: 'pc-1' })
    const newer = await start('3.0.0')
    const body = { licenseKey: license.key, hwid: 'pc-2' }
    expect(refusal(await newer('POST', '/license', body))).toBe('updatesEnded')
    await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`)
    expect(refusal(await newer('POST', '/license', body))).toBe('keyBanned')
  })
})

test('updates of a license from its first use count from then', async () => {
  const { key } = await makeKey({
    term: 'first_use',
    duration_value: 60,
    duration_unit: 'days',
    started_at: null,
  })
  on.clock.advance(5 * day)
  const { json } = await use('3.0.0', key)
  expect(json.data.user).toMatchObject({ updatesUntil: on.clock.inDays(10) })
})

test('a license without an end of updates covers all versions', async () => {
  const license = single(await makeLicenses(on, owner, app))
  expect((await use('3.0.0', license.key)).json.data.user).toMatchObject({ updatesUntil: null })
})

describe('the oldest version that may run', () => {
  test('refuses older ones at sign-in and with their next check, and names what the license may use', async () => {
    const endless = (await makeKey({ updates_for_days: null })).key
    const limited = (await makeKey()).key
    on.clock.advance(12 * day)
    const call = await start('1.0.0')
    expect((await call('POST', '/license', { licenseKey: endless })).status).toBe(200)
    expect((await set({ minimumVersion: '3.0.0' })).status).toBe(200)
    const checked = await call('GET', '/session')
    expect(checked.json).toMatchObject({
      code: 'versionTooOld',
      message: 'This version is no longer supported',
    })
    expect(checked.json.details.release).toEqual({ version: '3.0.0', url: null })
    expect(refusal(await use('2.0.0', endless))).toBe('versionTooOld')
    const refused = await use('1.0.0', limited)
    expect(refused.json).toMatchObject({ code: 'versionTooOld', details: { release: { version: '2.0.0' } } })
    // The newest version that the license covers, unlisted newer ones, and those that are not three numbers.
    for (const version of ['2.0.0', '3.5.0', 'nightly'])
      expect((await use(version, limited)).status).toBe(200)
    expect((await use('3.0.0', endless)).status).toBe(200)
    await set({ minimumVersion: null })
    expect((await call('GET', '/session')).status).toBe(200)
  })

  test('refuses no security fix, which every license covers, also after its removal', async () => {
    const security = {
      severity: 'high',
      affects: [{ from: '1.0.0', before: '2.0.1' }],
      summary: 'A file runs code',
    }
    const { key } = await makeKey()
    on.clock.advance(20 * day)
    const { _id } = await release('2.0.1', 0, { security, link: 'https://example.com/2.0.1' })
    await set({ minimumVersion: '3.0.0' })
    expect((await use('2.0.1', key)).status).toBe(200)
    const refused = (await use('3.0.0', key)).json
    expect(refused).toMatchObject({
      code: 'updatesEnded',
      details: { release: { version: '2.0.1', url: 'https://example.com/2.0.1' } },
    })
    expect((await owner.call('DELETE', `/releases/${_id}`)).status).toBe(200)
    expect((await use('2.0.1', key)).status).toBe(200)
  })
})

test('says how many devices a minimum would refuse, by version and license', async () => {
  const renewed = { updates_until: on.clock.now() + 30 * day }
  const changes = [{}, {}, { updates_for_days: null }, renewed]
  const keys = await Promise.all(changes.map((change) => makeKey(change)))
  const versions = ['1.0.0', '2.0.0', '2.0.0', '2.0.0']
  on.clock.advance(12 * day)
  for (const [at, version] of versions.entries()) {
    await (await start(version))('POST', '/license', { licenseKey: keys[at]?.key, hwid: `pc-${at}` })
  }
  const count = async (minimumVersion: string) =>
    (await owner.call('GET', `/apps/${app._id}/versions/refused?minimumVersion=${minimumVersion}`)).json.data
      .devices
  // 2.0.0 is the newest release for the second license, but not for the third and the renewed one.
  expect([await count('1.0.0'), await count('2.0.0'), await count('3.0.0')]).toEqual([0, 1, 3])
  await set({ minimumVersion: '3.0.0' })
  const used = await Promise.all(
    versions.map(async (version, at) => refusal(await use(version, keys[at]?.key ?? ''))),
  )
  expect(used.filter((code) => code === 'versionTooOld')).toHaveLength(3)
})

test('tells each program on an affected version which one repairs it', async () => {
  on.clock.advance(12 * day)
  const { key } = await makeKey()
  const call = await start('2.0.0')
  await call('POST', '/license', { licenseKey: key, hwid: 'pc-1' })
  expect((await call('GET', '/session')).json.data.advisory).toBe(null)
  const fix = (severity: string, before: string, summary: string) => ({
    ...{ severity, affects: [{ from: '2.0.0', before }], summary, advisory: 'https://example.com/cve' },
  })
  await release('2.0.1', 0, { security: fix('critical', '2.0.1', 'A file runs code') })
  await release('2.0.2', 0, { security: fix('low', '2.0.2', 'A file is read') })
  const advisory = {
    ...{
      version: '2.0.2',
      severity: 'critical',
      summary: 'A file runs code',
      url: 'https://example.com/cve',
    },
  }
  expect((await call('GET', '/session')).json.data.advisory).toEqual(advisory)
  const init = async (version: string) =>
    (await on.call('POST', '/client/init', { body: { appId: app.appId, secret: app.appSecret, version } }))
      .json
  expect((await init('2.0.0')).data.advisory).toEqual(advisory)
  expect((await init('2.0.1')).data.advisory).toMatchObject({ severity: 'low', version: '2.0.2' })
  for (const version of ['1.0.0', '2.0.2', 'nightly']) expect((await init(version)).data.advisory).toBe(null)
  const { clients } = (await owner.call('GET', `/clients?app=${app._id}`)).json.data
  await owner.call('PATCH', `/clients/${clients[0]._id}/toggle-ban`)
  expect((await call('GET', '/session')).json).toMatchObject({ code: 'userBanned', details: { advisory } })
})
