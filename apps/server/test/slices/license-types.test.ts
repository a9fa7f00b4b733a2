// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import {
  makeApp,
  makeLicenses,
  makeType,
  plainLicense,
  refusal,
  single,
  startProgram,
  wrongFields,
} from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { recount } from '../recount.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const pro = {
  name: 'Pro',
  term: 'first_use',
  duration: { value: 1, unit: 'years' },
  graceDays: 7,
  devices: 3,
  seats: 10,
  seatTimeoutSeconds: 300,
  features: ['pro', 'export'],
  updatesForDays: 365,
  trial: false,
  keyPrefix: 'PRO',
  resellable: true,
}
const noLinks = { buyUrl: null, renewUrl: null, upgrades: [], fallbackAfterMonths: null }
const create = (fields: object) => owner.call('POST', `/apps/${app._id}/license-types`, fields)
const update = (id: string, changes: object) => owner.call('PUT', `/license-types/${id}`, changes)
const list = async () => (await owner.call('GET', `/apps/${app.appId}/license-types`)).json.data.licenseTypes
const sell = async (type: string, more: object = {}) =>
  (await owner.call('POST', '/licenses', { app: app._id, type, ...more })).json.data.license
const licenseOf = async (id: string) =>
  (await owner.call('GET', `/licenses?app=${app._id}&search=${id}`)).json.data.licenses[0]
const use = async (licenseKey: string) =>
  (await startProgram(on, app)).call('POST', '/license', { licenseKey })

test('creates types with every field, and with the defaults of a plain license', async () => {
  const { status, json } = await create(pro)
  expect(status).toBe(201)
  const full = { _id: expect.stringMatching(/^lty_/), ...pro, ...noLinks, createdAt: on.clock.inDays(0) }
  expect(json.data.licenseType).toEqual(full)
  const { graceDays, devices, seats, seatTimeoutSeconds, features, updatesForDays, trial } = plainLicense
  const plain = { graceDays, devices, seats, seatTimeoutSeconds, features, updatesForDays, trial }
  await create({ name: 'Forever', term: 'forever' })
  expect(await list()).toMatchObject([
    full,
    {
      name: 'Forever',
      term: 'forever',
      duration: null,
      ...plain,
      ...noLinks,
      keyPrefix: null,
      resellable: false,
    },
  ])
})

test.each<[string, object, string[]]>([
  ['no name', { name: ' ' }, ['name']],
  ['no term', { term: undefined }, ['term']],
  ['forever with a duration', { term: 'forever' }, ['duration']],
  ['first use without a duration', { duration: null }, ['duration']],
  ['a date without a duration', { term: 'date', duration: undefined }, ['duration']],
  ['too long a duration', { duration: { value: 101, unit: 'years' } }, ['duration.value']],
  ['negative grace', { graceDays: -1 }, ['graceDays']],
  ['91 grace days', { graceDays: 91 }, ['graceDays']],
  ['no devices', { devices: 0 }, ['devices']],
  ['1001 devices', { devices: 1001 }, ['devices']],
  ['no seats', { seats: 0 }, ['seats']],
  ['10,001 seats', { seats: 10_001 }, ['seats']],
  ['a seat timeout of 59 seconds', { seatTimeoutSeconds: 59 }, ['seatTimeoutSeconds']],
  ['a seat timeout of more than a day', { seatTimeoutSeconds: 86_401 }, ['seatTimeoutSeconds']],
  ['65 features', { features: Array.from({ length: 65 }, (_, at) => `f${at}`) }, ['features']],
  ['a feature twice', { features: ['pro', 'pro'] }, ['features']],
  ['updates for no days', { updatesForDays: 0 }, ['updatesForDays']],
  ['a prefix with a space', { keyPrefix: 'A B' }, ['keyPrefix']],
  ['a prefix of 17 characters', { keyPrefix: 'A'.repeat(17) }, ['keyPrefix']],
])('rejects a type with %s', async (_name, change, paths) => {
  expect(wrongFields(await create({ ...pro, ...change }))).toEqual(paths)
})

test('rejects a second type of the same name in an app, in any case', async () => {
  await create(pro)
  expect(refusal(await create({ ...pro, name: 'PRO' }))).toBe('type_name_taken')
  const other = await makeType(owner, app)
  expect(refusal(await update(other._id, { name: 'pro' }))).toBe('type_name_taken')
  await makeType(owner, await makeApp(owner), { name: 'Pro' })
})

test('an app holds at most 100 types, with concurrent calls too', async () => {
  for (let at = 0; at < 97; at += 1) await create({ name: `T${at}`, term: 'forever' })
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) => create({ name: `Last ${at}`, term: 'forever' })),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
  expect(await list()).toHaveLength(100)
  expect(refusal(await create({ name: 'One more', term: 'forever' }))).toBe('license_types_full')
})

test('a license is sold with everything of its type, and keeps it when the type changes', async () => {
  const type = await makeType(owner, app, pro)
  const license = await sell(type._id)
  expect(license.key).toMatch(/^PRO(-[0-9A-Z]{5}){5}$/)
  const { keyPrefix: _, resellable: __, name: ___, ...sold } = pro
  const kept = {
    ...sold,
    expiresAt: null,
    startedAt: null,
    updatesUntil: null,
    type: { _id: type._id, name: 'Pro' },
  }
  expect(license).toMatchObject(kept)
  await update(type._id, { devices: 1, features: [], term: 'forever', duration: null, seats: null })
  expect(await licenseOf(license._id)).toMatchObject(kept)
  expect(await sell(type._id)).toMatchObject({ devices: 1, features: [], term: 'forever', seats: null })
  expect((await use(license.key)).json.data.user).toMatchObject({ expiresAt: on.clock.inDays(365) })
  expect(await licenseOf(license._id)).toMatchObject({ updatesUntil: on.clock.inDays(365), graceDays: 7 })
})

test('a type with a date counts from creation', async () => {
  const type = await makeType(owner, app, {
    term: 'date',
    duration: { value: 10, unit: 'days' },
    updatesForDays: 5,
  })
  expect(await sell(type._id)).toMatchObject({
    term: 'date',
    duration: null,
    expiresAt: on.clock.inDays(10),
    updatesUntil: on.clock.inDays(5),
  })
})

test('a custom key of a type is taken as it is', async () => {
  await owner.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
  const type = await makeType(owner, app, { keyPrefix: 'PRO' })
  expect((await sell(type._id, { key: 'MY-OWN-KEY' })).key).toBe('MY-OWN-KEY')
})

test('applying a change to all changes what sold licenses have, and the term only before the first use', async () => {
  const type = await makeType(owner, app, { graceDays: 2 })
  const [fresh, started, dated] = [await sell(type._id), await sell(type._id), await sell(type._id)]
  await owner.call('PUT', `/licenses/${dated._id}`, { expiresAt: on.clock.inDays(3) })
  const plain = single(await makeLicenses(on, owner, app))
  const { user } = (await use(started.key)).json.data
  const other = await makeType(owner, app)
  const ofOther = await sell(other._id)
  const { json } = await update(type._id, {
    devices: 5,
    seats: 9,
    seatTimeoutSeconds: 60,
    features: ['pro'],
    updatesForDays: 30,
    graceDays: 9,
    term: 'forever',
    duration: null,
    applyTo: 'all',
  })
  expect(json.data).toMatchObject({ changedLicenses: 3, licenseType: { devices: 5, term: 'forever' } })
  const all = {
    devices: 5,
    seats: 9,
    seatTimeoutSeconds: 60,
    features: ['pro'],
    updatesForDays: 30,
    graceDays: 9,
  }
  expect(await licenseOf(fresh._id)).toMatchObject({
    ...all,
    term: 'forever',
    duration: null,
    expiresAt: null,
  })
  expect(await licenseOf(started._id)).toMatchObject({
    ...all,
    term: 'first_use',
    expiresAt: on.clock.inDays(30),
  })
  expect(await licenseOf(dated._id)).toMatchObject({ ...all, term: 'date', expiresAt: on.clock.inDays(3) })
  expect(await licenseOf(plain._id)).toMatchObject({ devices: 1, graceDays: 0 })
  expect(await licenseOf(ofOther._id)).toMatchObject({ devices: 1, graceDays: 0, term: 'first_use' })
  const { clients } = (await owner.call('GET', `/clients?app=${app._id}`)).json.data
  expect(clients).toMatchObject([{ _id: user._id, expiresAt: on.clock.inDays(30), graceDays: 9 }])
  on.clock.advance(38 * day)
  expect((await use(started.key)).json.data.user).toMatchObject({ inGrace: true })
  on.clock.advance(day)
  expect(refusal(await use(started.key))).toBe('noActiveSubs')
  on.clock.advance(-39 * day)
  const { kept, counted } = await recount(on)
  expect(kept).toEqual(counted)
})

test('applying another duration to all changes those that were not started', async () => {
  const type = await makeType(owner, app)
  const [fresh, dated] = [await sell(type._id), await sell(type._id)]
  await update(type._id, { duration: { value: 2, unit: 'months' }, applyTo: 'all' })
  expect(await licenseOf(fresh._id)).toMatchObject({
    duration: { value: 2, unit: 'months' },
    startedAt: null,
  })
  on.clock.advance(2 * day)
  await update(type._id, {
    term: 'date',
    duration: { value: 10, unit: 'days' },
    graceDays: 1,
    applyTo: 'all',
  })
  expect(await licenseOf(dated._id)).toMatchObject({
    term: 'date',
    duration: null,
    expiresAt: on.clock.inDays(8),
  })
  on.clock.advance(-2 * day)
})

test('applying to all while licenses are used leaves license and end user with one end', async () => {
  const type = await makeType(owner, app)
  const { json } = await owner.call('POST', '/licenses', { app: app._id, type: type._id, count: 12 })
  const keys: string[] = json.data.licenses.map(({ key }: { key: string }) => key)
  await Promise.all([
    update(type._id, { graceDays: 30, duration: { value: 60, unit: 'days' }, applyTo: 'all' }),
    ...keys.map(use),
  ])
  const { licenses } = (await owner.call('GET', `/licenses?app=${app._id}`)).json.data
  const { clients } = (await owner.call('GET', `/clients?app=${app._id}`)).json.data
  expect(clients).toHaveLength(12)
  for (const client of clients) {
    const license = licenses.find(({ key }: { key: string }) => key === client.licenseKey)
    expect([on.clock.inDays(30), on.clock.inDays(60)]).toContain(license.expiresAt)
    expect(client).toMatchObject({ expiresAt: license.expiresAt, graceDays: 30 })
    expect(license.graceDays).toBe(30)
  }
})

test('deleting a type keeps its licenses as they were sold', async () => {
  const type = await makeType(owner, app, pro)
  const license = await sell(type._id)
  const { status } = await owner.call('DELETE', `/license-types/${type._id}`)
  expect(status).toBe(200)
  expect(await list()).toEqual([])
  expect(await licenseOf(license._id)).toMatchObject({ ...license, type: null })
  expect((await use(license.key)).status).toBe(200)
  expect(refusal(await owner.call('POST', '/licenses', { app: app._id, type: type._id }))).toBe('not_found')
})

test("rejects another app's type, and a type beside an expiry or a duration", async () => {
  const type = await makeType(owner, await makeApp(owner))
  expect(refusal(await owner.call('POST', '/licenses', { app: app._id, type: type._id }))).toBe('not_found')
  const own = await makeType(owner, app)
  for (const more of [
    { expiresAt: '2999-01-01' },
    { expiresAt: null },
    { duration: { value: 1, unit: 'days' } },
  ]) {
    const answer = await owner.call('POST', '/licenses', { app: app._id, type: own._id, ...more })
    expect(wrongFields(answer)).toEqual(['expiresAt'])
  }
})

test('a reseller sees and sells only the types that may be resold', async () => {
  const reseller = await makeReseller(on, owner, app)
  const open = await makeType(owner, app, { ...pro, resellable: true })
  const internal = await makeType(owner, app, { name: 'Internal' })
  const foreign = await makeType(owner, await makeApp(owner), { ...pro, resellable: true })
  const { licenseTypes } = (await reseller.call('GET', '/license-types')).json.data
  const { resellable: _, ...shown } = pro
  expect(licenseTypes).toEqual([{ _id: open._id, ...shown }])
  const sold = await reseller.call('POST', '/licenses', { count: 2, type: open._id })
  expect(sold.status).toBe(201)
  expect(sold.json.data.licenses).toMatchObject(
    [1, 2].map(() => ({
      key: expect.stringMatching(/^PRO-/),
      status: 'ACTIVE',
      term: 'first_use',
      duration: { value: 1, unit: 'years' },
      expiresAt: null,
      date_expired: null,
    })),
  )
  for (const { _id } of [internal, foreign, { _id: 'lty_00000000000000000000000000000000' }]) {
    expect(refusal(await reseller.call('POST', '/licenses', { type: _id }))).toBe('not_found')
  }
  expect((await reseller.call('GET', '/licenses')).json.data.stats).toMatchObject({ total: 2, available: 2 })
})

test.each<object>([
  { expiresAt: null },
  { date_expired: null },
  { duration: { value: 1, unit: 'days' } },
  { type: 'lty_1', expiresAt: '2999-01-01' },
  {},
])('a reseller who sends %j is rejected', async (body) => {
  const reseller = await makeReseller(on, owner, app)
  expect(refusal(await reseller.call('POST', '/licenses', body))).toBe('invalid_input')
  expect((await reseller.call('GET', '/licenses')).json.data.stats.total).toBe(0)
})

test('deleting an app deletes its types', async () => {
  const gone = await makeApp(owner)
  const type = await makeType(owner, gone)
  await owner.call('DELETE', `/apps/${gone._id}`)
  expect(refusal(await update(type._id, { devices: 2 }))).toBe('not_found')
})
