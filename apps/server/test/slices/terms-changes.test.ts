// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import {
  activateKey,
  makeLicenses,
  refusal,
  registerUser,
  single,
  startProgram,
  wrongFields,
} from '../actors.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = ownerForEach(on)
const app = appForEach(owner)

const sell = async (term: object) =>
  (await owner.call('POST', '/licenses', { app: app._id, ...term })).json.data.license
const forever = { expiresAt: null }
const thirtyDays = { duration: { value: 30, unit: 'days' } }
const change = (id: string, body: object) => owner.call('PUT', `/licenses/${id}`, body)
const licenseOf = async (id: string) =>
  (await owner.call('GET', `/licenses?app=${app._id}&search=${id}`)).json.data.licenses[0]
const theUser = async (): Promise<object> =>
  single<object>((await owner.call('GET', `/clients?app=${app._id}`)).json.data.clients)
const upgrade = async (username: string, licenseKey: string) =>
  (await startProgram(on, app)).call('POST', '/upgrade', { username, licenseKey })
const setGrace = (id: string, grace: number) =>
  on.database.db
    .updateTable('licenses')
    .set((eb) => ({ grace_days: grace, expires_at: eb('expires_at', '+', grace * day) }))
    .where('id', '=', id)
    .execute()

test('a date on a license that was not started makes it a dated license', async () => {
  const { _id } = await sell(thirtyDays)
  const { json } = await change(_id, { expiresAt: on.clock.inDays(5) })
  expect(json.data.license).toMatchObject({ term: 'date', duration: null, expiresAt: on.clock.inDays(5) })
  on.clock.advance(day)
  const program = await startProgram(on, app)
  const { user } = (await program.call('POST', '/license', { licenseKey: json.data.license.key })).json.data
  expect(user).toMatchObject({ term: 'date', expiresAt: on.clock.inDays(4) })
})

test('a date on a started license keeps its term and first use', async () => {
  const { _id, key } = await sell(thirtyDays)
  await (await startProgram(on, app)).call('POST', '/license', { licenseKey: key })
  const { json } = await change(_id, { expiresAt: on.clock.inDays(5) })
  expect(json.data.license).toMatchObject({
    term: 'first_use',
    startedAt: on.clock.inDays(0),
    expiresAt: on.clock.inDays(5),
  })
  expect(await theUser()).toMatchObject({ expiresAt: on.clock.inDays(5) })
})

test('null makes a used license and its end user last forever, and a date ends both again', async () => {
  const { license } = await registerUser(on, owner, app)
  expect((await change(license._id, forever)).json.data.license).toMatchObject({
    term: 'forever',
    expiresAt: null,
  })
  expect(await theUser()).toMatchObject({ expiresAt: null, status: 'active' })
  await change(license._id, { expiresAt: on.clock.inDays(2) })
  expect(await licenseOf(license._id)).toMatchObject({ term: 'date', expiresAt: on.clock.inDays(2) })
  expect(await theUser()).toMatchObject({ expiresAt: on.clock.inDays(2) })
})

test('a past date ends access now, grace days included', async () => {
  const { license, program } = await registerUser(on, owner, app)
  await setGrace(license._id, 5)
  await change(license._id, { expiresAt: on.clock.inDays(-30) })
  expect(await licenseOf(license._id)).toMatchObject({ status: 'expired', inGrace: false })
  expect(refusal(await program.call('GET', '/session'))).toBe('noActiveSubs')
  const { json } = await change(license._id, { expiresAt: on.clock.inDays(-2) })
  expect(json.data.license).toMatchObject({ status: 'active', inGrace: true, expiresAt: on.clock.inDays(-2) })
})

test('changes devices, features and note alone, and nothing else', async () => {
  const { _id } = await sell(thirtyDays)
  const { json } = await change(_id, { devices: 3, features: ['pro', 'export'], note: 'for Ada' })
  expect(json.data.license).toMatchObject({
    devices: 3,
    features: ['pro', 'export'],
    note: 'for Ada',
    term: 'first_use',
    expiresAt: null,
  })
  expect((await change(_id, { note: null })).json.data.license).toMatchObject({ note: null, devices: 3 })
  expect((await change(_id, { devices: -1 })).json.data.license).toMatchObject({ devices: -1 })
})

test.each<[object, string[]]>([
  [{}, ['expiresAt']],
  [{ devices: 0 }, ['devices']],
  [{ devices: -2 }, ['devices']],
  [{ devices: 1001 }, ['devices']],
  [{ features: ['pro', 'pro'] }, ['features']],
  [{ features: ['not a name'] }, ['features.0']],
  [{ features: Array.from({ length: 65 }, (_, at) => `f${at}`) }, ['features']],
  [{ duration: { value: 1, unit: 'days' } }, ['']],
])('rejects the change %j', async (body, paths) => {
  const { _id } = await sell(thirtyDays)
  const answer = await change(_id, body)
  if (paths[0] === '') return expect(refusal(answer)).toBe('invalid_input')
  expect(wrongFields(answer)).toEqual(paths)
})

test('extending leaves out licenses that never expire or were not used', async () => {
  const dated = single(await makeLicenses(on, owner, app))
  const ids = [dated._id, (await sell(forever))._id, (await sell(thirtyDays))._id]
  const { json } = await owner.call('POST', '/licenses/bulk', { action: 'extend', ids, days: 5 })
  expect(json.data).toMatchObject({ changed: 1 })
  expect(json.data.licenses).toMatchObject([
    { expiresAt: on.clock.inDays(35) },
    { term: 'forever', expiresAt: null },
    { term: 'first_use', startedAt: null, expiresAt: null },
  ])
})

test('extending an end user who never expires is a conflict, and bulk leaves them out', async () => {
  const { license, user } = await registerUser(on, owner, app)
  await change(license._id, forever)
  expect(refusal(await owner.call('PATCH', `/clients/${user._id}/extend`, { days: 5 }))).toBe('never_expires')
  const { json } = await owner.call('POST', '/clients/bulk', { action: 'extend', ids: [user._id], days: 5 })
  expect(json.data).toMatchObject({ changed: 0, clients: [{ expiresAt: null }] })
})

test('extending counts from the expiry that people see, and keeps the grace days after it', async () => {
  const license = single(await makeLicenses(on, owner, app))
  await setGrace(license._id, 7)
  const program = await startProgram(on, app)
  const { user } = (await program.call('POST', '/license', { licenseKey: license.key })).json.data
  const extend = async () =>
    (await owner.call('PATCH', `/clients/${user._id}/extend`, { days: 10 })).json.data.client
  expect(await extend()).toMatchObject({ expiresAt: on.clock.inDays(40), graceDays: 7 })
  on.clock.advance(45 * day)
  await on.database.db
    .updateTable('owner_sessions')
    .set({ created_at: on.clock.now(), expires_at: on.clock.now() + day })
    .execute()
  expect(await theUser()).toMatchObject({ inGrace: true })
  expect(await extend()).toMatchObject({ expiresAt: on.clock.inDays(10), inGrace: false })
  expect(await licenseOf(license._id)).toMatchObject({ expiresAt: on.clock.inDays(10), graceDays: 7 })
})

test('extending stops at the end of the year 9999', async () => {
  const license = single(await makeLicenses(on, owner, app))
  await change(license._id, { expiresAt: '9999-12-30' })
  await setGrace(license._id, 90)
  await owner.call('POST', '/licenses/bulk', { action: 'extend', ids: [license._id], days: 3650 })
  expect(await licenseOf(license._id)).toMatchObject({ term: 'date', expiresAt: '9999-12-31T23:59:59.999Z' })
})

test('an added key that counts from first use adds its whole duration', async () => {
  const { user } = await registerUser(on, owner, app)
  const added = await sell(thirtyDays)
  on.clock.advance(20 * day)
  const { json } = await upgrade('alice', added.key)
  expect(json.data.user).toMatchObject({ _id: user._id, expiresAt: on.clock.inDays(40), term: 'date' })
  expect(await licenseOf(added._id)).toMatchObject({
    startedAt: on.clock.inDays(0),
    expiresAt: on.clock.inDays(30),
    usedBy: { username: 'alice' },
  })
})

test('an added key that never expires makes its end user last forever', async () => {
  const { license } = await registerUser(on, owner, app)
  const { json } = await upgrade('alice', (await sell(forever)).key)
  expect(json.data.user).toMatchObject({ expiresAt: null, term: 'forever' })
  expect(await licenseOf(license._id)).toMatchObject({ term: 'forever', expiresAt: null })
})

test('a key for an end user who never expires is refused and stays unused', async () => {
  const { license } = await registerUser(on, owner, app)
  await change(license._id, forever)
  const dated = single(await makeLicenses(on, owner, app))
  for (const { _id, key } of [dated, await sell(forever), await sell(thirtyDays)]) {
    expect(refusal(await upgrade('alice', key))).toBe('never_expires')
    expect(await licenseOf(_id)).toMatchObject({ used: false, usedBy: null, startedAt: null })
  }
  expect(await theUser()).toMatchObject({ expiresAt: null })
})

test('an added key in its grace days adds no time and stays unused', async () => {
  await registerUser(on, owner, app)
  const added = single(await makeLicenses(on, owner, app, 1, 1))
  await setGrace(added._id, 30)
  on.clock.advance(2 * day)
  expect(refusal(await upgrade('alice', added.key))).toBe('noActiveSubs')
  expect(await licenseOf(added._id)).toMatchObject({ used: false, status: 'unused', inGrace: true })
})

test('an end user keeps the grace days of the first license through an upgrade', async () => {
  const license = single(await makeLicenses(on, owner, app))
  await setGrace(license._id, 7)
  const program = await startProgram(on, app)
  await program.call('POST', '/register', { username: 'bob', password: 'swordfish', licenseKey: license.key })
  await upgrade('bob', single(await makeLicenses(on, owner, app)).key)
  expect(await theUser()).toMatchObject({ expiresAt: on.clock.inDays(60), graceDays: 7 })
  on.clock.advance(66 * day)
  const next = await startProgram(on, app)
  const { status, json } = await next.call('POST', '/login', { username: 'bob', password: 'swordfish' })
  expect(status).toBe(200)
  expect(json.data.user).toMatchObject({ inGrace: true })
})

test('deleting the license of an end user who never expires ends access now', async () => {
  const { license } = await activateKey(on, owner, app)
  await change(license._id, forever)
  await owner.call('DELETE', `/licenses/${license._id}`)
  expect(await theUser()).toMatchObject({ status: 'expired', expiresAt: on.clock.inDays(0), graceDays: 0 })
})

test('deleting a license with grace days ends its end user now, without grace', async () => {
  const license = single(await makeLicenses(on, owner, app))
  await setGrace(license._id, 7)
  await (await startProgram(on, app)).call('POST', '/license', { licenseKey: license.key })
  await owner.call('DELETE', `/licenses/${license._id}`)
  expect(await theUser()).toMatchObject({ status: 'expired', expiresAt: on.clock.inDays(0), inGrace: false })
})

test('banning or deleting an added key that never expires returns to the end before it', async () => {
  const { license, user } = await registerUser(on, owner, app)
  const dated = single(await makeLicenses(on, owner, app))
  await upgrade('alice', dated.key)
  const added = await sell(forever)
  await upgrade('alice', added.key)
  const toggle = (id: string) => owner.call('PATCH', `/licenses/${id}/toggle-ban`)
  expect(await theUser()).toMatchObject({ expiresAt: null })
  await toggle(added._id)
  expect(await theUser()).toMatchObject({ expiresAt: on.clock.inDays(60) })
  expect(await licenseOf(license._id)).toMatchObject({ term: 'date', expiresAt: on.clock.inDays(60) })
  await toggle(added._id)
  expect(await theUser()).toMatchObject({ expiresAt: null })
  expect(await licenseOf(license._id)).toMatchObject({ term: 'forever', expiresAt: null })
  await toggle(dated._id)
  expect(await theUser()).toMatchObject({ expiresAt: null })
  await toggle(dated._id)
  await owner.call('DELETE', `/licenses/${added._id}`)
  expect(await theUser()).toMatchObject({ _id: user._id, expiresAt: on.clock.inDays(60) })
})

test('an added key whose own end the owner changes still takes back what it gave, no more', async () => {
  await registerUser(on, owner, app)
  const dated = single(await makeLicenses(on, owner, app))
  await upgrade('alice', dated.key)
  await change(dated._id, forever)
  const toggle = (id: string) => owner.call('PATCH', `/licenses/${id}/toggle-ban`)
  for (const days of [30, 60]) {
    await toggle(dated._id)
    expect(await theUser()).toMatchObject({ expiresAt: on.clock.inDays(days) })
  }
  const added = await sell(forever)
  await upgrade('alice', added.key)
  await toggle(dated._id)
  expect(await theUser()).toMatchObject({ expiresAt: null })
  await change(added._id, { expiresAt: on.clock.inDays(5) })
  await owner.call('DELETE', `/licenses/${added._id}`)
  expect(await theUser()).toMatchObject({ expiresAt: on.clock.inDays(30) })
})

test('deleting an end user leaves the time of an added key in one license only', async () => {
  const { license, user } = await registerUser(on, owner, app)
  const dated = single(await makeLicenses(on, owner, app))
  await upgrade('alice', dated.key)
  await upgrade('alice', (await sell(forever)).key)
  on.clock.advance(10 * day)
  await owner.call('DELETE', `/clients/${user._id}`)
  expect(await licenseOf(license._id)).toMatchObject({ used: false, expiresAt: on.clock.inDays(30) })
  expect(await licenseOf(dated._id)).toMatchObject({ used: false, expiresAt: on.clock.inDays(20) })
})

test('deleting a paused end user keeps the time that the pause kept', async () => {
  const { license, user } = await registerUser(on, owner, app)
  await owner.call('PATCH', `/clients/${user._id}/toggle-pause`)
  on.clock.advance(10 * day)
  await owner.call('DELETE', `/clients/${user._id}`)
  expect(await licenseOf(license._id)).toMatchObject({ used: false, expiresAt: on.clock.inDays(30) })
})

test('an end user whose clock had started counts from first use again after a key that never expires is gone', async () => {
  const first = await sell(thirtyDays)
  const program = await startProgram(on, app)
  await program.call('POST', '/register', { username: 'alice', password: 'swordfish', licenseKey: first.key })
  const added = await sell(forever)
  await upgrade('alice', added.key)
  expect(await licenseOf(first._id)).toMatchObject({ term: 'forever', duration: null, expiresAt: null })
  await owner.call('DELETE', `/licenses/${added._id}`)
  expect(await licenseOf(first._id)).toMatchObject({
    term: 'first_use',
    duration: { value: 30, unit: 'days' },
    expiresAt: on.clock.inDays(30),
  })
})

test('an app says when a program that names no SDK last opened a session', async () => {
  const readApp = async () => (await owner.call('GET', `/apps/${app._id}`)).json.data.app
  const body = { appId: app.appId, secret: app.appSecret, version: '1.0.0' }
  await on.call('POST', '/client/init', { body: { ...body, sdk: 'keyward-js/1.2.0' } })
  expect(await readApp()).toMatchObject({ sdklessInitAt: null })
  await on.call('POST', '/client/init', { body })
  await expect.poll(async () => (await readApp()).sdklessInitAt).toBe(on.clock.inDays(0))
})
