import { type AddedRights, type Grant, limits } from '@keyward/contract'
import { afterEach, expect, test } from 'vitest'
import { day, hour } from '../../src/core/clock.ts'
import { newId } from '../../src/core/ids.ts'
import { makeLicenses, makeType, refusal, registerUser, single, startProgram } from '../actors.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'
import { makeRequest, readFile } from '../offline-machine.ts'
import { recount } from '../recount.ts'
import { times } from '../rounds.ts'
import { allUsed, makeShop, ordersOf, sell } from '../shop-actor.ts'
import { paid } from '../shop-events.ts'

// Let all requests run at once, without the per-account limit.
const on = serverForAll({}, { gateSizes: { requests: { running: 100, waiting: 0 } } })
const owner = ownerForEach(on)
const app = appForEach(owner)
afterEach(async () => {
  const { kept, counted } = await recount(on)
  expect(kept).toEqual(counted)
})

interface Granted {
  grants: Grant[]
  rights: AddedRights[]
  expiresAt: string | null
}

const grantedTo = async (noun: 'license' | 'client', id: string): Promise<Granted> =>
  (await owner.call('GET', `/${noun}s/${id}`)).json.data[noun]

const keyOf = async (name: string, hours: number, features: string[]) => {
  const duration = { value: hours, unit: 'hours' }
  const type = await makeType(owner, app, { name, term: 'first_use', duration, features })
  const body = { app: app._id, type: type._id }
  return (await owner.call('POST', '/licenses', body)).json.data.license
}

test('a license and its end user say why they end when they do, newest first', async () => {
  const { license, user, program } = await registerUser(on, owner, app)
  const first = license.expiresAt
  on.clock.advance(hour)
  await owner.call('PATCH', `/clients/${user._id}/extend`, { days: 3 })
  on.clock.advance(hour)
  const added = single(await makeLicenses(on, owner, app, 1, 10))
  await program.call('POST', '/upgrade', { username: user.username, licenseKey: added.key })
  on.clock.advance(hour)
  await owner.call('PATCH', `/clients/${user._id}/toggle-pause`, { paused: true })
  on.clock.advance(day)
  await owner.call('PATCH', `/clients/${user._id}/toggle-pause`, { paused: false })
  const ofLicense = await grantedTo('license', license._id)
  const ofUser = await grantedTo('client', user._id)
  expect(ofUser.grants).toEqual(ofLicense.grants)
  expect(Date.parse(ofUser.expiresAt ?? '') - Date.parse(first)).toBe(3 * day + 10 * day + day)
  expect(ofUser.grants).toMatchObject([
    { kind: 'pause', until: on.clock.inDays(0), source: { kind: 'person' } },
    { kind: 'time', amount: 10 * day, source: { kind: 'key', _id: added._id, name: added.key.slice(0, 11) } },
    { kind: 'time', amount: 3 * day, source: { kind: 'person', name: expect.any(String) } },
    { kind: 'term', until: first, source: { kind: 'key', _id: license._id } },
  ])
  await owner.call('PATCH', `/licenses/${added._id}/toggle-ban`, { is_banned: true })
  expect((await grantedTo('client', user._id)).grants[1]).toMatchObject({ withdrawnAt: on.clock.inDays(0) })
})

test('an order is named as what a license, and its new end, come from', async () => {
  const type = await makeType(owner, app, { term: 'forever', duration: null })
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type: type._id }])
  const order = `A-${type._id}`
  await sell(on, shop, paid(order))
  await allUsed(on, shop._id)
  const [{ licenses }] = await ordersOf(owner, `search=${order}`)
  const license = single<{ _id: string }>(licenses)
  const source = { kind: 'order', name: order }
  expect((await grantedTo('license', license._id)).grants).toMatchObject([{ kind: 'term', source }])
  const until = on.clock.inDays(30)
  await sell(on, shop, {
    type: 'subscription.renewed',
    timestamp: on.clock.inDays(0),
    data: { order, until },
  })
  await allUsed(on, shop._id)
  expect((await grantedTo('license', license._id)).grants).toMatchObject([
    { kind: 'end', until, source },
    { kind: 'term', until: null, source },
  ])
})

test('a type that counts from the first use says until when it holds once that has come', async () => {
  const { user, license } = await registerUser(on, owner, app)
  const until = async () => (await grantedTo('client', user._id)).grants.map((grant) => grant.until)
  const duration = { value: 48, unit: 'hours' }
  const type = await makeType(owner, app, { term: 'first_use', duration })
  await owner.call('PUT', `/licenses/${license._id}`, { type: type._id, end: 'type' })
  expect(await until()).toEqual([on.clock.inDays(2), license.expiresAt])
  const unused = single(await makeLicenses(on, owner, app, 1, 10))
  const ends = async () => (await grantedTo('license', unused._id)).grants.map((grant) => grant.until)
  await owner.call('PUT', `/licenses/${unused._id}`, { type: type._id, end: 'type' })
  expect(await ends()).toEqual([null, unused.expiresAt])
  on.clock.advance(day)
  const program = await startProgram(on, app)
  await program.call('POST', '/license', { licenseKey: unused.key })
  expect(await ends()).toEqual([on.clock.inDays(2), unused.expiresAt])
})

test('the rights of an added key end with the time it gives', async () => {
  const { user } = await registerUser(on, owner, app)
  await owner.call('PATCH', `/clients/${user._id}`, { expiresAt: null })
  const signIn = async () => {
    const program = await startProgram(on, app)
    const answer = await program.call('POST', '/login', { username: user.username, password: 'swordfish' })
    return answer.json.data.user
  }
  const add = async (licenseKey: string) => {
    const program = await startProgram(on, app)
    return (await program.call('POST', '/upgrade', { username: user.username, licenseKey })).status
  }
  const cloud = [await keyOf('Cloud', 24, ['cloud']), await keyOf('Cloud again', 24, ['cloud'])]
  expect(await add(cloud[0].key)).toBe(200)
  expect((await signIn()).features).toEqual(['cloud'])
  const { rights } = await grantedTo('client', user._id)
  expect(rights).toMatchObject([{ license: cloud[0]._id, features: ['cloud'], until: on.clock.inDays(1) }])
  // A further key begins where the first one ends.
  expect(await add(cloud[1].key)).toBe(200)
  expect((await grantedTo('client', user._id)).rights.at(-1)).toMatchObject({ until: on.clock.inDays(2) })
  on.clock.advance(2 * day - hour)
  expect((await signIn()).features).toEqual(['cloud'])
  on.clock.advance(hour)
  const ended = await signIn()
  expect([ended.features, ended.expiresAt]).toEqual([[], null])
  expect((await grantedTo('client', user._id)).rights).toEqual([])
})

test('a lease says when features end that last shorter than the lease', async () => {
  const { user, program } = await registerUser(on, owner, app)
  const [cloud, long] = [await keyOf('Cloud', 24, ['cloud']), await keyOf('Long', 24 * 90, ['long'])]
  for (const { key } of [cloud, long])
    await program.call('POST', '/upgrade', { username: user.username, licenseKey: key })
  await program.call('POST', '/login', { username: user.username, password: 'swordfish', hwid: 'pc-1' })
  const { lease } = (await program.call('POST', '/lease', { hwid: 'pc-1' })).json.data
  const claims = JSON.parse(Buffer.from(lease.split('.')[1], 'base64url').toString())
  const seconds = Math.floor((on.clock.now() + day) / 1000)
  expect(claims).toMatchObject({ features: ['long'], featuresUntil: { cloud: seconds } })
})

test('a file says when features end that last shorter than the file', async () => {
  const [first] = await makeLicenses(on, owner, app)
  const activate = async (days?: number) => {
    const request = makeRequest(app, { licenseKey: first!.key })
    const answer = await owner.call('POST', `/apps/${app._id}/offline-activations`, { request, days })
    const { claims } = await readFile(on, app, answer.json.data.file)
    return { client: answer.json.data.client, claims }
  }
  const { client } = await activate()
  const cloud = await keyOf('Cloud', 48, ['cloud'])
  await owner.call('POST', `/clients/${client._id}/licenses`, { license: cloud._id })
  const seconds = Math.floor((on.clock.now() + 2 * day) / 1000)
  expect((await activate()).claims).toMatchObject({ features: [], featuresUntil: { cloud: seconds } })
  const { claims: shorter } = await activate(1)
  expect([shorter.features, shorter.featuresUntil]).toEqual([['cloud'], undefined])
})

test('32 callers change the end of one end user at once, and each of them counts once', async () => {
  const { license, user } = await registerUser(on, owner, app)
  const before = Date.parse((await grantedTo('client', user._id)).expiresAt ?? '')
  const keys = await makeLicenses(on, owner, app, 9, 10)
  const programs = await times(9, () => startProgram(on, app))
  const calls = [
    ...Array.from({ length: 9 }, () => () => owner.call('PATCH', `/clients/${user._id}/extend`, { days: 1 })),
    ...[license, license, license].map(
      ({ _id }) =>
        () =>
          extend('licenses', _id),
    ),
    ...[user, user].map(
      ({ _id }) =>
        () =>
          extend('clients', _id),
    ),
    ...keys.map(({ key }, at) => () => {
      const body = { username: user.username, licenseKey: key }
      return programs[at]!.call('POST', '/upgrade', body)
    }),
    // The same key again.
    ...programs.map((program) => () => {
      const body = { username: user.username, licenseKey: keys[0]?.key }
      return program.call('POST', '/upgrade', body)
    }),
  ]
  const answers = await times(calls.length, (at) => calls[at]!())
  expect(answers.filter(({ status }) => status >= 300).map(refusal)).toEqual(programs.map(() => 'keyUsed'))
  const after = Date.parse((await grantedTo('client', user._id)).expiresAt ?? '')
  expect((after - before) / day).toBe(9 + 3 + 2 + 9 * 10)
  await times(keys.length, (at) =>
    owner.call('PATCH', `/licenses/${keys[at]!._id}/toggle-ban`, { is_banned: true }),
  )
  expect(Date.parse((await grantedTo('client', user._id)).expiresAt ?? '') - before).toBe(14 * day)
  await times(keys.length, (at) =>
    owner.call('PATCH', `/licenses/${keys[at]!._id}/toggle-ban`, { is_banned: false }),
  )
  expect(Date.parse((await grantedTo('client', user._id)).expiresAt ?? '')).toBe(after)
})

const extend = (noun: string, id: string) =>
  owner.call('POST', `/${noun}/bulk`, { action: 'extend', ids: [id], days: 1 })

test('the grants of a license stay bounded, however often it is changed', async () => {
  const { license, user } = await registerUser(on, owner, app)
  const key = single(await makeLicenses(on, owner, app, 1, 10))
  await (await startProgram(on, app)).call('POST', '/upgrade', {
    username: user.username,
    licenseKey: key.key,
  })
  const { expiresAt: before } = await grantedTo('client', user._id)
  const own = { owner_id: owner.id, app_id: app._id, license_id: license._id }
  const insert = (rows: object[]) =>
    on.database.db
      .insertInto('grants')
      .values(rows.map((row) => ({ ...own, ...row, id: newId('gra') })) as never)
      .execute()
  const now = on.clock.now()
  await insert([{ kind: 'period', at: now, until: now + 1, source_kind: 'order', source_id: 'sor_1' }])
  // What stays is the same the second time.
  for (let round = 0; round < 2; round += 1) {
    const at = on.clock.now()
    const one = { kind: 'time', moved_ms: hour, source_kind: 'person' }
    await insert(Array.from({ length: 2 * limits.grantsMax }, (_, ms) => ({ ...one, at: at + ms })))
    on.clock.advance(hour)
    expect((await extend('clients', user._id)).json.data.changed).toBe(1)
  }
  const stored = await on.database.db
    .selectFrom('grants')
    .selectAll()
    .where('license_id', '=', license._id)
    .execute()
  expect(stored.length).toBeLessThan(limits.grantsMax + 5)
  const after = await grantedTo('client', user._id)
  expect(Date.parse(after.expiresAt ?? '') - Date.parse(before ?? '')).toBe(
    2 * (2 * limits.grantsMax * hour + day),
  )
  expect(after.grants).toHaveLength(limits.grantsMax)
  await owner.call('PATCH', `/licenses/${key._id}/toggle-ban`, { is_banned: true })
  const { expiresAt: banned } = await grantedTo('client', user._id)
  expect(Date.parse(after.expiresAt ?? '') - Date.parse(banned ?? '')).toBe(10 * day)
})
