// On PostgreSQL in the full run: orders and renewals send the same statements there.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { makeLicenses, type Program, refusal, registerUser, single, startProgram } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { start12, turnOn } from '../compatibility-actor.ts'
import { logIn, openPage, signInBy, signInByKey } from '../customer-actor.ts'
import { eventually } from '../eventually.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { makeRequest } from '../offline-machine.ts'
import { makeReseller } from '../reseller-actor.ts'
import { makeShop, makeType, orderOnce, sell } from '../shop-actor.ts'
import { paid } from '../shop-events.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const read = async (id: string) => (await owner.call('GET', `/licenses/${id}`)).json.data.license
const set = (settings: object) => owner.call('PUT', `/apps/${app._id}`, { settings })
const stop = () => set({ testLicenses: false })

/** The license of an order, as orders show it. */
async function bought(wanted: object = { test: true }): Promise<{ _id: string; key: string }> {
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeType(owner, app._id) }])
  const number = `order-${randomUUID()}`
  expect(await sell(on, shop, paid(number, wanted))).toBe(200)
  const order = await orderOnce(owner, number, { state: 'fulfilled' })
  return single<{ _id: string; key: string }>(order.licenses)
}

const signIn = async (licenseKey: string, more: object = {}) => {
  const program = await startProgram(on, app)
  return { program, answer: await program.call('POST', '/license', { licenseKey, ...more }) }
}
const validate = (licenseKey: string, more: object = {}) =>
  on.call('POST', '/client/validate', { body: { appId: app.appId, licenseKey, ...more } })
const codeOf = async (licenseKey: string, more?: object) =>
  (await validate(licenseKey, more)).json.data.code ?? null

describe('a license of a test order', () => {
  test('says so wherever it is shown, and one of a real order does not', async () => {
    const [license, real] = [await bought(), await bought({})]
    expect((await read(license._id)).test).toBe(true)
    expect((await read(real._id)).test).toBe(false)
    const listed = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data.licenses
    expect(listed.map(({ key, test }: { key: string; test: boolean }) => [key, test])).toEqual([
      [real.key, false],
      [license.key, true],
    ])
    await signIn(license.key)
    const { clients } = (await owner.call('GET', `/clients?app=${app._id}`)).json.data
    expect(clients).toMatchObject([{ licenseKey: license.key, testLicense: true }])
    await openPage(owner, app)
    const me = await (await signInByKey(on, app, license.key)).me()
    expect(me.licenses).toMatchObject([{ key: license.key, test: true }])
  })

  test('stays one when it is changed', async () => {
    const { _id } = await bought()
    const type = await makeType(owner, app._id)
    const edit = { note: 'Tried out', devices: 3, customer: 'ada@engines.example' }
    expect((await owner.call('PUT', `/licenses/${_id}`, edit)).json.data.license.test).toBe(true)
    expect((await owner.call('PUT', `/licenses/${_id}`, { type })).json.data.license.test).toBe(true)
  })

  test('works in a new app', async () => {
    const { key } = await bought()
    expect(await codeOf(key)).toBeNull()
    expect((await signIn(key)).answer.status).toBe(200)
  })
})

describe('where such licenses do not work', () => {
  test('every call with one is refused as banned with that reason, and it works again afterwards', async () => {
    await owner.call('PUT', `/apps/${app._id}/error-messages`, { keyBanned: 'No: {reason}' })
    await openPage(owner, app)
    const { user } = await registerUser(on, owner, app, 'alice')
    const { key } = await bought()
    const program = await startProgram(on, app)
    const account = { username: 'bob', password: 'swordfish', licenseKey: key }
    const activate = () =>
      owner.call('POST', `/apps/${app._id}/offline-activations`, {
        request: makeRequest(app, { licenseKey: key }),
      })
    const refused = {
      signInByKey: () => program.call('POST', '/license', { licenseKey: key }),
      register: () => program.call('POST', '/register', account),
      upgrade: () => program.call('POST', '/upgrade', { username: user.username, licenseKey: key }),
      customer: () => logIn(on, app, { licenseKey: key }),
    }
    await stop()
    for (const [name, call] of Object.entries(refused)) {
      const answer = await call()
      expect([name, refusal(answer)]).toEqual([name, 'keyBanned'])
      expect(answer.json.message).toBe('No: This license is from a test order')
    }
    expect(await codeOf(key)).toBe('keyBanned')
    expect(await codeOf(key, { hwid: 'pc-1', activate: true })).toBe('keyBanned')
    expect((await activate()).json).toMatchObject({
      code: 'offline_refused',
      details: { reason: 'keyBanned' },
      message: 'The license is banned, or it is of a test order, which the app does not accept',
    })
    expect(await owner.call('GET', `/clients?app=${app._id}`)).toMatchObject({
      json: { data: { clients: [{ username: 'alice' }] } },
    })

    await set({ testLicenses: true })
    expect(await codeOf(key)).toBeNull()
    expect((await activate()).status).toBe(201)
    expect((await refused.customer()).status).toBe(200)
  })

  test('who runs with one is stopped at the next call, and goes on afterwards', async () => {
    await openPage(owner, app)
    const { key } = await bought()
    const body = { licenseKey: key, hwid: 'pc-1', remember: true }
    const { program, answer } = await signIn(key, body)
    const customer = await signInByKey(on, app, key)
    const { deviceToken } = answer.json.data
    const calls = (by: Program) => ({
      session: () => by.call('GET', '/session'),
      lease: () => by.call('POST', '/lease', { hwid: 'pc-1' }),
      resume: async () =>
        (await startProgram(on, app)).call('POST', '/resume', { deviceToken, hwid: 'pc-1' }),
      again: async () => (await signIn(key, body)).answer,
    })
    await stop()
    for (const [name, call] of Object.entries(calls(program)))
      expect([name, refusal(await call())]).toEqual([name, 'keyBanned'])
    expect(refusal(await customer.call('GET', '/me'))).toBe('unauthorized')
    await set({ testLicenses: true })
    for (const [name, call] of Object.entries(calls(program)))
      expect([name, (await call()).status]).toEqual([name, 200])
    expect((await customer.me()).clients).toMatchObject([{ refusedNow: null }])
  })

  test('an account with a password is refused, and its customer sees it', async () => {
    await openPage(owner, app)
    const { key } = await bought()
    const program = await startProgram(on, app)
    const account = { username: 'bob', password: 'swordfish' }
    expect((await program.call('POST', '/register', { ...account, licenseKey: key })).status).toBe(200)
    await stop()
    expect(refusal(await program.call('POST', '/login', account))).toBe('keyBanned')
    const customer = await signInBy(on, app, account)
    expect(await customer.me()).toMatchObject({
      licenses: [{ key, test: true, status: 'banned' }],
      clients: [{ refusedNow: 'keyBanned' }],
    })
  })

  test('a key that was added to an account is refused alone, and the account goes on', async () => {
    const { program, user } = await registerUser(on, owner, app, 'alice')
    const { key } = await bought()
    const { status } = await program.call('POST', '/upgrade', { username: 'alice', licenseKey: key })
    expect(status).toBe(200)
    await stop()
    expect(await codeOf(key)).toBe('keyBanned')
    expect((await program.call('GET', '/session')).json.data.user._id).toBe(user._id)
  })

  test('licenses of real orders, and those that were generated, work', async () => {
    const { key } = await bought({})
    const generated = single(await makeLicenses(on, owner, app))
    await stop()
    expect(await codeOf(key)).toBeNull()
    expect((await signIn(key)).answer.status).toBe(200)
    expect((await signIn(generated.key)).answer.status).toBe(200)
  })

  test('programs with the libraries of another system are refused, too', async () => {
    const settings = await turnOn(owner, app)
    const { key } = await bought()
    await stop()
    const program = await start12(on, settings)
    const answer = await program.call('license', { key })
    expect(answer).toMatchObject({ success: false, message: 'License key is banned' })
  })

  test('the vendor reads why, and no click that would not help is offered', async () => {
    const { key } = await bought()
    await stop()
    const { answer } = await signIn(key)
    const explained = await eventually(async () => {
      const found = await owner.call('GET', `/activity/${answer.json.reference}`)
      expect(found.status).toBe(200)
      return found.json.data.explanation
    })
    expect(explained).toMatchObject({
      title: 'The license was of a test order',
      why: 'A setting of this application stops licenses of test orders.',
      fix: null,
      now: { code: 'keyBanned' },
    })
    await set({ testLicenses: true })
    const later = await owner.call('GET', `/activity/${answer.json.reference}`)
    expect(later.json.data.explanation.now.code).toBeNull()
  })
})

test('only those who may change the settings of the app can stop them', async () => {
  const settings = { testLicenses: false }
  const change = (by: { call: typeof owner.call }) => by.call('PUT', `/apps/${app._id}`, { settings })
  const seller = await makeApiKey(on, owner, { permissions: ['licenses:read', 'licenses:write'] })
  expect(refusal(await change(seller))).toBe('permission_missing')
  const reseller = await makeReseller(on, owner, app)
  const asReseller = await on.call('PUT', `/apps/${app._id}`, { token: reseller.token, body: { settings } })
  expect(asReseller.status).toBe(401)
  const manager = await makeApiKey(on, owner, { permissions: ['apps:read', 'apps:write'] })
  expect((await change(manager)).json.data.app.settings.testLicenses).toBe(false)
})
