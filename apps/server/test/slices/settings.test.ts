// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { minute } from '../../src/core/clock.ts'
import { activateKey, makeApp, makeLicenses, refusal, signUp, startProgram, wrongFields } from '../actors.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = ownerForEach(on)
const app = appForEach(owner)

test('default to running applications with the lock on, and change one at a time', async () => {
  expect((await owner.call('GET', '/settings')).json.data).toEqual({
    pauseApplications: false,
    hwidLock: true,
    requireSecondFactor: false,
  })
  const paused = await owner.call('PUT', '/settings', { pauseApplications: true })
  expect(paused.json.data).toMatchObject({ pauseApplications: true, hwidLock: true })
  expect(paused.json.message).toBe('Settings updated successfully')
  const unlocked = await owner.call('PUT', '/settings', { hwidLock: false })
  expect(unlocked.json.data).toMatchObject({ pauseApplications: true, hwidLock: false })
  expect((await owner.call('GET', '/settings')).json.data).toEqual(unlocked.json.data)
  expect(wrongFields(await owner.call('PUT', '/settings', {}))).toEqual([''])
  expect(wrongFields(await owner.call('PUT', '/settings', { pause: true }))).toContain('pause')
})

test('pausing all applications rejects new and running programs; resuming restores them', async () => {
  const { program } = await activateKey(on, owner, app)
  await owner.call('PUT', '/settings', { pauseApplications: true })
  expect(refusal(await program.call('GET', '/session'))).toBe('appDisabled')
  const init = await on.call('POST', '/client/init', {
    body: { appId: app.appId, secret: app.appSecret, version: '1.0.0' },
  })
  expect(refusal(init)).toBe('appDisabled')
  await owner.call('PUT', '/settings', { pauseApplications: false })
  expect((await program.call('GET', '/session')).status).toBe(200)
})

test('pausing does not affect programs of other owners', async () => {
  const other = await signUp(on)
  const { program } = await activateKey(on, other, await makeApp(other))
  await owner.call('PUT', '/settings', { pauseApplications: true })
  expect((await program.call('GET', '/session')).status).toBe(200)
})

test.each(['platform', 'app'])('accepts any hardware id while the lock of the %s is off', async (level) => {
  const { license } = await activateKey(on, owner, app, 'pc-1')
  const otherProgram = await startProgram(on, app)
  const signIn = () => otherProgram.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-2' })
  expect(refusal(await signIn())).toBe('hwidMismatch')
  const set = (hwidLock: boolean) =>
    level === 'platform'
      ? owner.call('PUT', '/settings', { hwidLock })
      : owner.call('PUT', `/apps/${app._id}`, { settings: { hwidLock } })
  await set(false)
  expect((await signIn()).status).toBe(200)
  expect((await otherProgram.call('GET', '/session')).status).toBe(200)
  await set(true)
  expect(refusal(await otherProgram.call('GET', '/session'))).toBe('hwidMismatch')
  const again = await startProgram(on, app)
  const home = await again.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-1' })
  expect(home.status).toBe(200)
})

test('a reset deletes apps, licenses, end users and settings, and ends all sessions', async () => {
  const { program } = await activateKey(on, owner, app, 'pc-1')
  await makeLicenses(on, owner, await makeApp(owner, 'Second'), 3)
  await owner.call('PUT', '/settings', { hwidLock: false })
  const signIn = () =>
    on.call('POST', '/auth/login', { body: { email: owner.email, password: owner.password } })
  const otherToken = (await signIn()).json.data.token
  const otherOwner = await signUp(on)
  const kept = await activateKey(on, otherOwner, await makeApp(otherOwner))

  const { status, json } = await owner.call('POST', '/settings/reset')
  expect(status).toBe(200)
  expect(json.message).toBe('Platform data has been reset successfully')
  expect(refusal(await owner.call('GET', '/auth/profile'))).toBe('unauthorized')
  expect(refusal(await on.call('GET', '/auth/profile', { token: otherToken }))).toBe('unauthorized')
  expect(refusal(await program.call('GET', '/session'))).toBe('appDisabled')
  expect((await kept.program.call('GET', '/session')).status).toBe(200)

  const { token, user } = (await signIn()).json.data
  expect(user).toMatchObject({ _id: owner.accountId, email: owner.email, apps: [] })
  const read = async (path: string) => (await on.call('GET', path, { token })).json.data
  expect(await read('/apps')).toMatchObject({ apps: [], count: 0 })
  expect((await read('/licenses')).stats).toEqual({ total: 0, active: 0, unused: 0, expired: 0, banned: 0 })
  expect((await read('/clients')).stats).toEqual({ total: 0, active: 0, banned: 0, expired: 0 })
  expect(await read('/settings')).toEqual({
    pauseApplications: false,
    hwidLock: true,
    requireSecondFactor: false,
  })
})

describe('a reset', () => {
  const reset = (body?: object, from = '10.0.0.1') =>
    on.call('POST', '/settings/reset', { token: owner.token, body: body ?? {}, from })
  const appsLeft = async () => (await owner.call('GET', '/apps')).json.data.count

  test('requires the password once the session is ten minutes old', async () => {
    on.clock.advance(10 * minute)
    expect(refusal(await reset())).toBe('reauthenticate')
    expect(await appsLeft()).toBe(1)
    expect((await reset({ password: owner.password })).status).toBe(200)
    expect(refusal(await owner.call('GET', '/auth/profile'))).toBe('unauthorized')
  })

  test('requires no password in the first ten minutes, which use does not extend', async () => {
    on.clock.advance(10 * minute - 1)
    expect(await appsLeft()).toBe(1)
    on.clock.advance(1)
    expect(refusal(await reset())).toBe('reauthenticate')
    const { email, password } = owner
    const { token } = (await on.call('POST', '/auth/login', { body: { email, password } })).json.data
    on.clock.advance(10 * minute - 1)
    expect((await on.call('POST', '/settings/reset', { token })).status).toBe(200)
  })

  test('with a wrong password changes nothing and reports the field, even in a new session', async () => {
    expect(wrongFields(await reset({ password: 'wrong' }))).toEqual(['password'])
    expect(wrongFields(await reset({ password: '' }))).toEqual(['password'])
    expect(wrongFields(await reset({ password: 7 }))).toEqual(['password'])
    expect(await appsLeft()).toBe(1)
  })
})

test('a reset keeps the audit log and adds itself', async () => {
  await owner.call('POST', '/settings/reset')
  const rows = await on.database.db
    .selectFrom('audit')
    .select('action')
    .where('owner_id', '=', owner.id)
    .execute()
  expect(rows.map((row) => row.action)).toEqual(
    expect.arrayContaining(['owner.registered', 'app.created', 'app.deleted', 'platform.reset']),
  )
})

test('a reset keeps payments and coupon uses', async () => {
  const { json } = await owner.call('POST', '/payments/razorpay/create-order', { couponCode: 'SAVE10' })
  await owner.call('POST', '/payments/razorpay/verify', {
    razorpay_order_id: json.data.orderId,
    razorpay_payment_id: 'pay_mock_kept',
    razorpay_signature: 'mock',
  })
  await owner.call('POST', '/settings/reset')
  const { email, password } = owner
  const { token } = (await on.call('POST', '/auth/login', { body: { email, password } })).json.data
  const { payments } = (await on.call('GET', '/payments/history', { token })).json.data
  expect(payments).toMatchObject([{ paymentId: 'pay_mock_kept', couponCode: 'SAVE10', status: 'paid' }])
})

test('a reset keeps the plan', async () => {
  const until = on.clock.now() + 1000
  await on.database.db
    .updateTable('owners')
    .set({ premium_until: until })
    .where('id', '=', owner.id)
    .execute()
  await owner.call('POST', '/settings/reset')
  const row = await on.database.db
    .selectFrom('owners')
    .select('premium_until')
    .where('id', '=', owner.id)
    .executeTakeFirstOrThrow()
  expect(row.premium_until).toBe(until)
})
