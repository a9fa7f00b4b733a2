// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { hour } from '../../src/core/clock.ts'
import { activateKey, makeApp, makeLicenses, refusal, registerUser, single, startProgram } from '../actors.ts'
import { logIn, openPage, signInBy, signInByKey } from '../customer-actor.ts'
import { eventually } from '../eventually.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)
const missing = '00000000000000000000000000000000'

const sold = async (email: string) => {
  const body = { app: app._id, expiresAt: on.clock.inDays(30), customer: email }
  return (await owner.call('POST', '/licenses', body)).json.data.license as { _id: string; key: string }
}

describe('where the page is off', () => {
  test('every call answers like that of a missing app, for a right key too', async () => {
    const { license } = await activateKey(on, owner, app)
    const calls = (appId: string) => [
      on.call('GET', `/customer/${appId}`),
      on.call('POST', `/customer/${appId}/login`, { body: { licenseKey: license.key } }),
      on.call('POST', `/customer/${appId}/mail`, { body: { email: 'ada@engines.example' } }),
    ]
    const [off, none] = [await Promise.all(calls(app.appId)), await Promise.all(calls('ZZZZZZZZ'))]
    for (const [at, answer] of off.entries()) {
      expect(refusal(answer)).toBe('not_found')
      expect(answer.raw.toString()).toBe(none[at]?.raw.toString())
    }
  })

  test('sessions from before end', async () => {
    await openPage(owner, app)
    const { license } = await activateKey(on, owner, app)
    const customer = await signInByKey(on, app, license.key)
    expect((await customer.call('GET', '/me')).status).toBe(200)
    await openPage(owner, app, { customerPage: false })
    expect(refusal(await customer.call('GET', '/me'))).toBe('unauthorized')
  })
})

test('shows strangers the name of the app and its vendor, and the color', async () => {
  await openPage(owner, app, { brandColor: '#2563EB' })
  const { json } = await on.call('GET', `/customer/${app.appId}`)
  expect(json.data).toEqual({
    app: { appId: app.appId, name: 'Atlas', brandColor: '#2563eb' },
    ...{ vendor: 'Atlas', support: null, shop: null, logo: null },
    mail: expect.any(Boolean),
  })
})

describe('a license key', () => {
  test('opens its license and the devices of its end user, and no name, address, order or password', async () => {
    await openPage(owner, app)
    const { license, program } = await registerUser(on, owner, app)
    await program.call('POST', '/login', { username: 'alice', password: 'swordfish', hwid: 'pc-1' })
    const customer = await signInByKey(on, app, license.key)
    const me = await customer.me()
    expect(me).toMatchObject({ kind: 'license', email: null, name: null, orders: null })
    expect(single(me.licenses)).toMatchObject({ _id: license._id, key: license.key, status: 'active' })
    expect(single(me.clients)).toMatchObject({
      username: null,
      hasPassword: false,
      devices: { used: 1, limit: 1 },
      refusal: null,
      refusedNow: null,
    })
    expect((await customer.call('GET', '/devices')).json.data.devices).toHaveLength(1)
    const changed = await customer.call('PUT', '/password', { newPassword: 'secret2' })
    expect(refusal(changed)).toBe('customer_key_session')
    expect(JSON.stringify(me)).not.toContain('alice')
  })

  test('opens nothing of other licenses of the app', async () => {
    await openPage(owner, app)
    const { license } = await activateKey(on, owner, app, 'pc-1')
    const other = await activateKey(on, owner, app, 'pc-2')
    const customer = await signInByKey(on, app, license.key)
    const { devices } = (await owner.call('GET', `/clients/${other.user._id}/devices`)).json.data
    const foreign = await customer.call('DELETE', `/devices/${single<{ _id: string }>(devices)._id}`)
    const absent = await customer.call('DELETE', `/devices/dev_${missing}`)
    expect(refusal(foreign)).toBe('not_found')
    expect(foreign.raw.toString()).toBe(absent.raw.toString())
    expect((await customer.me()).licenses).toHaveLength(1)
  })

  test('of another app is unknown', async () => {
    const second = await makeApp(owner, 'Second')
    await openPage(owner, app)
    await openPage(owner, second)
    const { license } = await activateKey(on, owner, second)
    expect(refusal(await logIn(on, app, { licenseKey: license.key }))).toBe('keyNotFound')
  })

  test('is refused with the reason of its ban, and its sessions end', async () => {
    await openPage(owner, app)
    const { license } = await activateKey(on, owner, app)
    const customer = await signInByKey(on, app, license.key)
    await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`, { reason: 'Chargeback' })
    expect(refusal(await customer.call('GET', '/me'))).toBe('unauthorized')
    await owner.call('PUT', `/apps/${app._id}/error-messages`, { keyBanned: 'Locked: {reason}' })
    const refused = await logIn(on, app, { licenseKey: license.key })
    expect(refusal(refused)).toBe('keyBanned')
    expect(refused.json.message).toBe('Locked: Chargeback')
  })

  test('ends its sessions when its end user is banned, until the ban is lifted', async () => {
    await openPage(owner, app)
    const { license, user } = await activateKey(on, owner, app)
    const customer = await signInByKey(on, app, license.key)
    const toggle = () => owner.call('PATCH', `/clients/${user._id}/toggle-ban`, {})
    await toggle()
    for (const path of ['/me', '/devices'])
      expect(refusal(await customer.call('GET', path))).toBe('unauthorized')
    await toggle()
    expect((await customer.call('GET', '/me')).status).toBe(200)
  })

  test('of a deleted license ends its sessions', async () => {
    await openPage(owner, app)
    const license = single(await makeLicenses(on, owner, app))
    const customer = await signInByKey(on, app, license.key)
    await owner.call('DELETE', `/licenses/${license._id}`)
    expect(refusal(await customer.call('GET', '/me'))).toBe('unauthorized')
  })
})

describe('a session', () => {
  test('ends after 24 hours, however often it is used, and at a sign-out', async () => {
    await openPage(owner, app)
    const { license } = await activateKey(on, owner, app)
    const [first, second] = [await signInByKey(on, app, license.key), await signInByKey(on, app, license.key)]
    await second.call('POST', '/logout')
    expect(refusal(await second.call('GET', '/me'))).toBe('unauthorized')
    on.clock.advance(24 * hour - 1)
    expect((await first.call('GET', '/me')).status).toBe(200)
    on.clock.advance(1)
    expect(refusal(await first.call('GET', '/me'))).toBe('unauthorized')
  })

  test('is stored as a hash', async () => {
    await openPage(owner, app)
    const { license } = await activateKey(on, owner, app)
    const { token } = await signInByKey(on, app, license.key)
    const rows = await on.database.db.selectFrom('customer_sessions').selectAll().execute()
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toContain(token)
  })

  test('is one of at most twenty', async () => {
    await openPage(owner, app)
    const { license } = await activateKey(on, owner, app)
    const first = await signInByKey(on, app, license.key)
    for (let at = 0; at < 20; at += 1) {
      on.clock.advance(1)
      await signInByKey(on, app, license.key)
    }
    expect(refusal(await first.call('GET', '/me'))).toBe('unauthorized')
  })
})

describe('a password', () => {
  test('opens its end user', async () => {
    await openPage(owner, app)
    const { license, user } = await registerUser(on, owner, app)
    const customer = await signInBy(on, app, { username: 'Alice', password: 'swordfish' })
    const me = await customer.me()
    expect(me).toMatchObject({ kind: 'end_user', email: null, orders: null, mustChoosePassword: null })
    expect(single(me.clients)).toMatchObject({ _id: user._id, username: 'alice', hasPassword: true })
    expect(single(me.licenses)).toMatchObject({ _id: license._id, client: user._id })
  })

  test('is refused in the same way for unknown names', async () => {
    await openPage(owner, app)
    await registerUser(on, owner, app)
    const wrong = await logIn(on, app, { username: 'alice', password: 'wrong' })
    const unknown = await logIn(on, app, { username: 'nobody', password: 'wrong' })
    expect(refusal(wrong)).toBe('customer_login_failed')
    expect(wrong.raw.toString()).toBe(unknown.raw.toString())
  })

  test('ends the other sessions, those of programs and remembered sign-ins when it is changed', async () => {
    await openPage(owner, app)
    const { program } = await registerUser(on, owner, app)
    const proof = { username: 'alice', password: 'swordfish' }
    const [changing, other] = [await signInBy(on, app, proof), await signInBy(on, app, proof)]
    const change = (currentPassword: string) =>
      changing.call('PUT', '/password', { currentPassword, newPassword: 'secret2' })
    expect(refusal(await change('wrong'))).toBe('invalid_input')
    expect((await change('swordfish')).status).toBe(200)
    expect((await changing.call('GET', '/me')).status).toBe(200)
    expect(refusal(await other.call('GET', '/me'))).toBe('unauthorized')
    expect(refusal(await program.call('GET', '/session'))).toBe('sessionUnauthed')
    expect(refusal(await logIn(on, app, proof))).toBe('customer_login_failed')
    expect((await logIn(on, app, { ...proof, password: 'secret2' })).status).toBe(200)
  })

  test('that the vendor sets ends sessions, and so do a ban and a deletion', async () => {
    await openPage(owner, app)
    const { user } = await registerUser(on, owner, app)
    const first = await signInBy(on, app, { username: 'alice', password: 'swordfish' })
    await owner.call('PUT', `/clients/${user._id}/password`, { password: 'secret2' })
    expect(refusal(await first.call('GET', '/me'))).toBe('unauthorized')
    const proof = { username: 'alice', password: 'secret2' }
    const second = await signInBy(on, app, proof)
    await owner.call('PATCH', `/clients/${user._id}/toggle-ban`, { reason: 'Shared' })
    expect(refusal(await second.call('GET', '/me'))).toBe('unauthorized')
    expect(refusal(await logIn(on, app, proof))).toBe('userBanned')
    await owner.call('PATCH', `/clients/${user._id}/toggle-ban`)
    const third = await signInBy(on, app, proof)
    await owner.call('DELETE', `/clients/${user._id}`)
    expect(refusal(await third.call('GET', '/me'))).toBe('unauthorized')
  })

  test('is changed once by 16 concurrent callers who know the old one', async () => {
    await openPage(owner, app)
    await registerUser(on, owner, app)
    const proof = { username: 'alice', password: 'swordfish' }
    const customers = await Promise.all(Array.from({ length: 16 }, () => signInBy(on, app, proof)))
    const answers = await Promise.all(
      customers.map((customer, at) =>
        customer.call('PUT', '/password', { currentPassword: 'swordfish', newPassword: `secret${at}` }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const open = await Promise.all(customers.map((customer) => customer.call('GET', '/me')))
    expect(open.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})

test('shows why the program was refused last, in the text of the app, and whether it still would be', async () => {
  await openPage(owner, app)
  const { license, user } = await activateKey(on, owner, app, 'pc-1')
  const refused = async () => {
    const program = await startProgram(on, app)
    return program.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-2' })
  }
  const { reference } = (await refused()).json
  await owner.call('PUT', `/apps/${app._id}/error-messages?locale=de`, { hwidMismatch: 'Anderes Gerät' })
  const customer = await signInByKey(on, app, license.key)
  const shown = async () => single((await customer.call('GET', '/me?locale=de-AT')).json.data.clients)
  await eventually(async () =>
    expect(await shown()).toMatchObject({
      refusal: { code: 'hwidMismatch', message: 'Anderes Gerät', reference, solved: false },
      refusedNow: null,
    }),
  )
  const device = single<{ _id: string }>((await customer.call('GET', '/devices')).json.data.devices)
  expect((await customer.call('DELETE', `/devices/${device._id}`)).status).toBe(200)
  expect(await shown()).toMatchObject({ refusal: { reference, solved: true }, refusedNow: null })
  await owner.call('PATCH', `/clients/${user._id}/toggle-pause`)
  expect(await shown()).toMatchObject({ refusal: { reference, solved: false }, refusedNow: 'pausedSub' })
})

test('lists nothing of a customer for its key, and all for nobody else', async () => {
  await openPage(owner, app)
  const [first, second] = [await sold('ada@engines.example'), await sold('ada@engines.example')]
  const me = await (await signInByKey(on, app, first.key)).me()
  expect(JSON.stringify(me)).not.toContain('ada@')
  expect(JSON.stringify(me)).not.toContain(second.key)
})

describe('devices', () => {
  const bound = async (count: number, settings: object) => {
    await openPage(owner, app, settings)
    const license = single(await makeLicenses(on, owner, app))
    await owner.call('PUT', `/licenses/${license._id}`, { devices: count })
    for (let at = 0; at < count; at += 1) {
      const program = await startProgram(on, app)
      await program.call('POST', '/license', { licenseKey: license.key, hwid: `pc-${at}` })
    }
    const customer = await signInByKey(on, app, license.key)
    const list = async () => (await customer.call('GET', '/devices')).json.data.devices as { _id: string }[]
    return { license, customer, list }
  }

  test('stay where the vendor does not let customers free them', async () => {
    const { customer, list } = await bound(1, { customerDevices: 0 })
    const { _id } = single(await list())
    expect(refusal(await customer.call('DELETE', `/devices/${_id}`))).toBe('device_self_service_off')
    expect(await list()).toHaveLength(1)
  })

  test('give their place away at once, whatever their lease', async () => {
    const { license, customer, list } = await bound(1, { customerDevices: 1 })
    const before = await startProgram(on, app)
    await before.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-0' })
    expect((await before.call('POST', '/lease', { hwid: 'pc-0' })).json).toMatchObject({ success: true })
    const { _id } = single(await list())
    expect((await customer.call('DELETE', `/devices/${_id}`)).json).toMatchObject({ success: true })
    const program = await startProgram(on, app)
    const next = await program.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-new' })
    expect(next.json).toMatchObject({ success: true })
  })

  // Last: the clock outlasts the session of the owner.
  test('are freed for another machine, so many within 30 days as the app allows', async () => {
    const { license, customer, list } = await bound(3, { customerDevices: 2 })
    const devices = await list()
    expect(devices).toHaveLength(3)
    const answers = await Promise.all(devices.map(({ _id }) => customer.call('DELETE', `/devices/${_id}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409])
    const refused = answers.find(({ status }) => status === 409)
    expect(refused && refusal(refused)).toBe('device_free_limit')
    expect(await list()).toHaveLength(1)
    expect(single((await customer.me()).clients)).toMatchObject({
      devices: { used: 1, limit: 3 },
      freed: { used: 2, limit: 2, until: refused?.json.details.until },
    })
    const program = await startProgram(on, app)
    const back = await program.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-new' })
    expect(back.status).toBe(200)
    on.clock.advance(30 * 24 * hour)
    const later = await signInByKey(on, app, license.key)
    expect(single((await later.me()).clients)).toMatchObject({ freed: { used: 0, limit: 2, until: null } })
  })
})
