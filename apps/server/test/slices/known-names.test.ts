// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { beforeAll, expect, test } from 'vitest'
import { makeApp, makeLicenses, makePremium, makeType, signUp, single, startProgram } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { addMember } from '../member-actor.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)

interface Hit {
  _id: string
  match?: { field: string; text: string }
}
interface Caller {
  call(method: string, path: string): Promise<{ status: number; json: { data: Record<string, Hit[]> } }>
}

async function find(list: 'licenses' | 'clients', text: string, caller: Caller = owner, more = '') {
  const answer = await caller.call('GET', `/${list}?search=${encodeURIComponent(text)}${more}`)
  expect(answer.status).toBe(200)
  return (answer.json.data[list] as Hit[]).map(({ _id, match }) => ({ _id, match }))
}

const email = 'Ada.Lovelace@Engines.example'
const device = 'ANALYTICAL-ENGINE 7'
let license: { _id: string; key: string }
let user: { _id: string }
let reseller: Awaited<ReturnType<typeof makeReseller>>
let sold: { _id: string; key: string }
let typed: { _id: string }
let buyer: { _id: string }

async function register(username: string, key: string, more: object = {}) {
  const program = await startProgram(on, app)
  const body = { username, password: 'swordfish', licenseKey: key, ...more }
  const { status, json } = await program.call('POST', '/register', body)
  expect(status).toBe(200)
  return json.data.user as { _id: string }
}

beforeAll(async () => {
  license = single(await makeLicenses(on, owner, app))
  user = await register('ada', license.key, { email, hwid: 'pc-1', device: { name: device } })
  reseller = await makeReseller(on, owner, app)
  const made = await reseller.call('POST', '/licenses', { expiresAt: on.clock.inDays(30), count: 1 })
  expect(made.status).toBe(201)
  sold = single<{ _id: string; key: string }>(
    (await owner.call('GET', '/licenses?limit=1')).json.data.licenses,
  )
  buyer = await register('grace', sold.key)
  const type = await makeType(owner, app, { name: 'Studio Édition' })
  const ofType = await owner.call('POST', '/licenses', { app: app._id, type: type._id })
  expect(ofType.status).toBe(201)
  typed = ofType.json.data.license
})

test.each(['lovelace@eng', 'ADA.LOVELACE@ENGINES.EXAMPLE'])(
  'an end user and its license are found by the e-mail address, typed as %s',
  async (text) => {
    const match = { field: 'email', text: email }
    expect(await find('clients', text)).toMatchObject([{ _id: user._id, match: { field: 'email' } }])
    const hits = await find('licenses', text)
    expect(
      hits.map((hit) => ({ ...hit, match: { ...hit.match, text: hit.match?.text.toLowerCase() } })),
    ).toEqual([{ _id: license._id, match: { ...match, text: email.toLowerCase() } }])
  },
)

test('an end user and its license are found by the name of a device, until it is freed', async () => {
  const match = { field: 'device', text: device }
  expect(await find('clients', 'engine 7')).toEqual([{ _id: user._id, match }])
  expect(await find('licenses', 'analytical-')).toEqual([{ _id: license._id, match }])
  const other = single(await makeLicenses(on, owner, app))
  const late = await register('late', other.key, { hwid: 'pc-2', device: { name: 'SHORT-LIVED' } })
  expect(await find('clients', 'short-lived')).toHaveLength(1)
  expect((await owner.call('DELETE', `/clients/${late._id}`)).status).toBe(200)
  expect(await find('clients', 'short-lived')).toEqual([])
  expect(await find('licenses', 'short-lived')).toEqual([])
})

test('licenses and their end users are found by the address of the reseller', async () => {
  const match = { field: 'reseller', text: reseller.email }
  expect(await find('licenses', reseller.email)).toEqual([{ _id: sold._id, match }])
  expect(await find('clients', reseller.email.toUpperCase())).toEqual([{ _id: buyer._id, match }])
})

test('licenses are found by the name of their type', async () => {
  const match = { field: 'type', text: 'Studio Édition' }
  expect(await find('licenses', 'studio é')).toEqual([{ _id: typed._id, match }])
})

test('the reference of a refusal finds its license and its end user', async () => {
  const program = await startProgram(on, app)
  const body = { username: 'ada', password: 'not this' }
  const refused = await program.call('POST', '/login', body)
  const { reference } = refused.json as unknown as { reference: string }
  expect(reference).toMatch(/^[0-9A-Z]{10}$/)
  await expect.poll(() => find('licenses', reference)).toHaveLength(1)
  const match = { field: 'reference', text: reference }
  expect(await find('licenses', reference.toLowerCase())).toEqual([{ _id: license._id, match }])
  expect(await find('clients', reference)).toEqual([{ _id: user._id, match }])
})

test('the reference of a refused key finds the license that no end user has, and other texts of its length still find keys', async () => {
  const unused = single(await makeLicenses(on, owner, app))
  await owner.call('PATCH', `/licenses/${unused._id}/toggle-ban`, { is_banned: true })
  const program = await startProgram(on, app)
  const refused = await program.call('POST', '/license', { licenseKey: unused.key.toLowerCase() })
  const { reference } = refused.json as unknown as { reference: string }
  expect(reference).toMatch(/^[0-9A-Z]{10}$/)
  await expect.poll(() => find('licenses', reference)).toHaveLength(1)
  const match = { field: 'reference', text: reference }
  expect(await find('licenses', reference)).toEqual([{ _id: unused._id, match }])
  expect(await find('clients', reference)).toEqual([])
  const part = unused.key.replaceAll('-', '').slice(0, 10)
  expect(await find('licenses', part)).toEqual([
    { _id: unused._id, match: { field: 'key', text: unused.key } },
  ])
  const stranger = await signUp(on)
  expect(await find('licenses', reference, stranger)).toEqual([])
})

test('rows show what was found in keys, notes and usernames, and nothing without a search', async () => {
  expect(await find('licenses', license.key.slice(0, 9))).toEqual([
    { _id: license._id, match: { field: 'key', text: license.key } },
  ])
  expect(await find('clients', license.key.slice(0, 9))).toEqual([
    { _id: user._id, match: { field: 'key', text: license.key } },
  ])
  expect(await find('clients', 'grac')).toEqual([
    { _id: buyer._id, match: { field: 'username', text: 'grace' } },
  ])
  for (const hit of await find('licenses', '')) expect(hit.match).toBeUndefined()
})

test('a caller finds no license by what it may not read', async () => {
  const key = await makeApiKey(on, owner, { permissions: ['licenses:read'] })
  for (const text of ['lovelace@eng', 'analytical-', reseller.email]) {
    expect(await find('licenses', text, key)).toEqual([])
  }
  expect(await find('licenses', 'studio é', key)).toHaveLength(1)
  const clients = await makeApiKey(on, owner, { permissions: ['clients:read'] })
  expect(await find('clients', 'lovelace@eng', clients)).toHaveLength(1)
  expect(await find('clients', reseller.email, clients)).toEqual([])
})

test('neither a stranger nor a member with another app finds anything', async () => {
  const stranger = await signUp(on)
  await makeLicenses(on, stranger, await makeApp(stranger))
  const other = await makeApp(owner, 'Other')
  const member = await addMember(on, owner, { role: 'manager', apps: [other._id] })
  for (const text of ['lovelace@eng', 'analytical-', reseller.email, 'studio é']) {
    for (const list of ['licenses', 'clients'] as const) {
      expect(await find(list, text, stranger)).toEqual([])
      expect(await find(list, text, member)).toEqual([])
      expect(await find(list, text, owner, `&app=${other._id}`)).toEqual([])
    }
  }
})

test.each(['licenses', 'clients'])('an export of %s holds what the same search finds', async (list) => {
  const path = `/${list}/export?format=csv&search=lovelace%40eng`
  const { status, raw } = await owner.call('GET', path)
  const body = raw.toString()
  expect(status).toBe(200)
  expect(body).toContain(list === 'licenses' ? license.key : 'ada')
  expect(body.trim().split('\n')).toHaveLength(2)
})

test('a text that names many types and resellers finds each of their rows once, newest first', async () => {
  const vendor = await signUp(on)
  await makePremium(on, vendor)
  const store = await makeApp(vendor, 'Store')
  const reseller = await makeReseller(on, vendor, store)
  const typeNames = ['A', 'B', 'C'].map((letter) => `${reseller.email} ${letter}`)
  const kinds: { _id: string }[] = []
  for (const name of typeNames) kinds.push(await makeType(vendor, store, { name, resellable: true }))
  const made: { _id: string; key: string }[] = []
  for (let at = 0; at < 9; at += 1) {
    const seller = at % 2 === 0 ? { reseller: reseller._id } : {}
    const body = { app: store._id, type: kinds[at % 3]?._id, ...seller }
    made.push((await vendor.call('POST', '/licenses', body)).json.data.license)
    await makeLicenses(on, vendor, store)
  }
  const users: string[] = []
  for (const [first, second] of [
    [made[0], made[4]],
    [made[8], made[1]],
  ]) {
    const program = await startProgram(on, store)
    const username = `buyer ${users.length}`
    const body = { username, password: 'swordfish', licenseKey: first?.key }
    users.push((await program.call('POST', '/register', body)).json.data.user._id)
    const upgrade = { username, licenseKey: second?.key }
    expect((await program.call('POST', '/upgrade', upgrade)).status).toBe(200)
  }
  const text = encodeURIComponent(reseller.email)
  const read = async (list: 'licenses' | 'clients', more: string) => {
    const { json } = await vendor.call('GET', `/${list}?search=${text}&${more}`)
    return [json.data[list].map(({ _id }: { _id: string }) => _id), json.data.pagination.total]
  }
  const newest = made.map(({ _id }) => _id).toReversed()
  expect(await read('licenses', '')).toEqual([newest, 9])
  expect(await read('licenses', 'limit=4&page=2')).toEqual([newest.slice(4, 8), 9])
  expect(await read('licenses', 'sort=oldest&limit=5')).toEqual([newest.toReversed().slice(0, 5), 9])
  const used = [made[8], made[4], made[1], made[0]].map((one) => one?._id)
  expect(await read('licenses', 'status=active')).toEqual([used, 4])
  expect(await read('licenses', 'status=banned')).toEqual([[], 0])
  expect(await read('clients', '')).toEqual([users.toReversed(), 2])
  expect(await read('clients', 'sort=oldest&limit=1')).toEqual([users.slice(0, 1), 2])
  expect(await read('clients', 'status=banned')).toEqual([[], 0])
})

test('rows that are compared one by one are found by the same texts', async () => {
  const small = await makeApp(owner, 'Small')
  const make = async (of: { _id: string; appId: string; appSecret: string }, username: string) => {
    const { _id, key } = single(await makeLicenses(on, owner, of as typeof app))
    const program = await startProgram(on, of)
    const { status } = await program.call('POST', '/register', {
      username,
      password: 'swordfish',
      licenseKey: key,
      email: `${username}@crowded.example`,
      hwid: username,
      device: { name: `Crowded Desk of ${username}` },
    })
    expect(status).toBe(200)
    return _id
  }
  for (const username of ['one', 'two', 'three']) await make(app, username)
  const id = await make(small, 'four')
  for (const text of ['crowded.example', 'crowded desk']) {
    expect((await find('licenses', text, owner, `&app=${small._id}`)).map((hit) => hit._id)).toEqual([id])
    expect(await find('clients', text, owner, `&app=${small._id}`)).toHaveLength(1)
    expect(await find('licenses', text)).toHaveLength(4)
  }
})
