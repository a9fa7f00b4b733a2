// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { makeLicenses, refusal, registerUser, single } from '../actors.ts'
import { openPage, signInBy, signInByKey } from '../customer-actor.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { makeRequest, readFile } from '../offline-machine.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

test('a machine that is never online runs with the file that its customer gets, and takes a device', async () => {
  await openPage(owner, app)
  const license = single(await makeLicenses(on, owner, app))
  const customer = await signInByKey(on, app, license.key)
  const request = makeRequest(app, { licenseKey: license.key, hwid: 'pc-1' })
  const { status, json } = await customer.call('POST', '/offline-activations', { request })
  expect(status).toBe(201)
  expect((await readFile(on, app, json.data.file)).claims).toMatchObject({ deactivation: expect.any(String) })
  expect(json.data.until).toBe(license.expiresAt)
  const device = single((await customer.call('GET', '/devices')).json.data.devices as { _id: string }[])
  expect(device).toMatchObject({ offline: true, offlineUntil: license.expiresAt })
  const freed = await customer.call('DELETE', `/devices/${device._id}`)
  expect(refusal(freed)).toBe('device_activated_offline')
  const second = makeRequest(app, { licenseKey: license.key, hwid: 'pc-2' })
  const refused = await customer.call('POST', '/offline-activations', { request: second })
  expect(refusal(refused)).toBe('offline_refused')
  expect(refused.json.details.reason).toBe('hwidMismatch')
})

test('a key alone makes no file for an end user with a password, and the password does', async () => {
  await openPage(owner, app)
  const { license } = await registerUser(on, owner, app)
  const request = makeRequest(app, { licenseKey: license.key, hwid: 'pc-1' })
  const byKey = await signInByKey(on, app, license.key)
  const refused = await byKey.call('POST', '/offline-activations', { request })
  expect(refusal(refused)).toBe('offline_refused')
  expect(refused.json.details.reason).toBe('keyUsed')
  expect((await byKey.call('GET', '/devices')).json.data.devices).toEqual([])
  const byPassword = await signInBy(on, app, { username: 'alice', password: 'swordfish' })
  expect((await byPassword.call('POST', '/offline-activations', { request })).status).toBe(201)
})
