import { describe, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { activateKey, makeLicenses, refusal, registerUser, single, startProgram } from '../actors.ts'
import { type Customer, logIn, openPage, signInBy, signInByKey } from '../customer-actor.ts'
import { setLicense } from '../devices.ts'
import { eventually } from '../eventually.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

describe('a refused sign-in', () => {
  const texts = { keyNotFound: 'Schlüssel unbekannt', keyBanned: 'Gesperrt: {reason}' }
  const write = (more: object = {}) =>
    owner.call('PUT', `/apps/${app._id}/error-messages?locale=de`, { ...texts, ...more })

  test('says why in the language of the request', async () => {
    await openPage(owner, app)
    await write()
    const { license } = await activateKey(on, owner, app)
    await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`, { reason: 'Rückbuchung' })
    const messageOf = async (body: object) => (await logIn(on, app, body)).json.message
    const unknown = { licenseKey: 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA' }
    const banned = { licenseKey: license.key }
    expect(await messageOf({ ...unknown, locale: 'de-AT' })).toBe('Schlüssel unbekannt')
    expect(await messageOf({ ...banned, locale: 'de' })).toBe('Gesperrt: Rückbuchung')
    const english = await messageOf(banned)
    expect(english).not.toBe('Gesperrt: Rückbuchung')
    expect(await messageOf({ ...banned, locale: 'fr' })).toBe(english)
    expect(refusal(await logIn(on, app, { ...banned, locale: 'not a tag!' }))).toBe('invalid_input')
  })

  test('says so of a banned end user', async () => {
    await openPage(owner, app)
    await write({ userBanned: 'Konto gesperrt' })
    const { user } = await registerUser(on, owner, app)
    await owner.call('PATCH', `/clients/${user._id}/toggle-ban`, { reason: 'Shared' })
    const proof = { username: 'alice', password: 'swordfish', locale: 'de' }
    expect((await logIn(on, app, proof)).json.message).toBe('Konto gesperrt')
  })
})

describe('a key that no end user uses yet', () => {
  test('shows why the program refused it, and nothing of what was refused for other keys', async () => {
    await openPage(owner, app)
    const [license, other] = await makeLicenses(on, owner, app, 2)
    const toggleBan = () => owner.call('PATCH', `/licenses/${license!._id}/toggle-ban`, { reason: 'Refund' })
    await toggleBan()
    const start = async (licenseKey: string) => {
      const program = await startProgram(on, app)
      return program.call('POST', '/license', { licenseKey, hwid: 'pc-1' })
    }
    const refused = await start(license!.key.toLowerCase())
    expect(refused.json).toMatchObject({ success: false, reference: expect.any(String) })
    await toggleBan()
    const customer = await signInByKey(on, app, license!.key)
    await eventually(async () => {
      const shown = single<{ refusal: object; client: null }>((await customer.me()).licenses)
      expect(shown).toMatchObject({
        client: null,
        refusal: { code: refusal(refused), reference: refused.json.reference, at: expect.any(String) },
      })
    })
    const unrelated = await signInByKey(on, app, other!.key)
    expect(single((await unrelated.me()).licenses)).toMatchObject({ refusal: null })
  })
})

test('an end user of a floating license is shown as one, whose machines are more than its device limit', async () => {
  await openPage(owner, app)
  const license = single(await makeLicenses(on, owner, app))
  await setLicense(on, license, { seats: 2 })
  for (const hwid of ['pc-1', 'pc-2']) {
    const program = await startProgram(on, app)
    const answer = await program.call('POST', '/license', { licenseKey: license.key, hwid })
    expect(answer.status).toBe(200)
  }
  const customer = await signInByKey(on, app, license.key)
  expect(single((await customer.me()).clients)).toMatchObject({ floating: true, devices: { used: 2 } })
  expect((await customer.call('GET', '/devices')).json.data.devices).toHaveLength(2)
})

test('an end user whose devices are used up for now learns when the next one can be freed', async () => {
  await openPage(owner, app, { customerDevices: 1 })
  const license = single(await makeLicenses(on, owner, app))
  await owner.call('PUT', `/licenses/${license._id}`, { devices: 2 })
  for (const hwid of ['pc-1', 'pc-2']) {
    const program = await startProgram(on, app)
    await program.call('POST', '/license', { licenseKey: license.key, hwid })
  }
  const customer = await signInByKey(on, app, license.key)
  const { devices } = (await customer.call('GET', '/devices')).json.data
  expect((await customer.call('DELETE', `/devices/${devices[0]._id}`)).status).toBe(200)
  const { freed } = single<{ freed: { until: string } }>((await customer.me()).clients)
  expect(freed).toEqual({ used: 1, limit: 1, until: new Date(on.clock.now() + 30 * day).toISOString() })
  const refused = await customer.call('DELETE', `/devices/${devices[1]._id}`)
  expect(refusal(refused)).toBe('device_free_limit')
  expect(refused.json.details.until).toBe(freed.until)
})

test('an end user is shown with what its added keys allow, each until its own end, and with nothing of others', async () => {
  await openPage(owner, app)
  const add = async (username: string, days: number, terms: object) => {
    const key = single(await makeLicenses(on, owner, app, 1, days))
    await owner.call('PUT', `/licenses/${key._id}`, terms)
    const program = await startProgram(on, app)
    await program.call('POST', '/upgrade', { username, licenseKey: key.key })
    return key
  }
  const alice = await registerUser(on, owner, app, 'alice')
  await registerUser(on, owner, app, 'bob')
  const cloud = await add('alice', 10, { features: ['cloud'], devices: 3 })
  await add('bob', 10, { features: ['bobs'] })
  const rights = { features: ['cloud'], devices: 3, seats: null, until: on.clock.inDays(10) }
  const byKey = await signInByKey(on, app, alice.license.key)
  const byPassword = await signInBy(on, app, { username: 'alice', password: 'swordfish' })
  const shown = async ({ me }: Customer) => single<{ rights: object[] }>((await me()).clients).rights
  for (const customer of [byKey, byPassword, await signInByKey(on, app, cloud.key)])
    expect(await shown(customer)).toEqual([rights])
  expect(JSON.stringify(await byKey.me())).not.toContain(cloud.key)
  expect(await shown(await signInBy(on, app, { username: 'bob', password: 'swordfish' }))).toMatchObject([
    { features: ['bobs'] },
  ])

  // A pause moves the end, and a ban takes back what the key allows.
  const pause = () => owner.call('PATCH', `/clients/${alice.user._id}/toggle-pause`)
  await pause()
  on.clock.advance(day / 2)
  expect(await shown(byPassword)).toEqual([{ ...rights, until: on.clock.inDays(10) }])
  await pause()
  expect(await shown(byPassword)).toEqual([{ ...rights, until: on.clock.inDays(10) }])
  const toggleBan = () => owner.call('PATCH', `/licenses/${cloud._id}/toggle-ban`, {})
  await toggleBan()
  expect(await shown(byPassword)).toEqual([])
  await toggleBan()
  on.clock.advance(10 * day)
  const later = await signInBy(on, app, { username: 'alice', password: 'swordfish' })
  expect(await shown(later)).toEqual([])
})
