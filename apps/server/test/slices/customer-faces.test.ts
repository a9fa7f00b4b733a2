// On PostgreSQL in the full run: customers and scopes send the same statements there.
import type { Customer } from '@keyward/contract'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { makeApp, makeLicenses, type Owner, refusal, single } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { eventually } from '../eventually.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { addMember } from '../member-actor.ts'
import { makeShop, makeType, orderOnce, sell } from '../shop-actor.ts'
import { makeWebhook } from '../webhook-actor.ts'

const on = serverForAll({}, { deliversWebhooks: false })
const owner = premiumOwnerForAll(on)

type Caller = Pick<Owner, 'call'>
const missing = `cus_${'0'.repeat(32)}`

let app: { _id: string }
let other: { _id: string }
/** Callers of `app` alone. */
const callers: Record<string, Caller> = {}

beforeAll(async () => {
  app = await makeApp(owner, 'Own')
  other = await makeApp(owner, 'Other')
  const apps = [app._id]
  callers.manager = await addMember(on, owner, { role: 'manager', apps })
  callers.support = await addMember(on, owner, { role: 'support', apps })
  const permissions = ['clients:read', 'clients:write', 'licenses:read', 'licenses:write', 'audit:read']
  callers.key = await makeApiKey(on, owner, { permissions, apps })
})

let people = 100
/** What the other app knows of a person since a month ago. */
let known: { email: string; customer: string; name: string; note: string }
beforeEach(async () => {
  people += 1
  // Letters alone: a word with a digit could be a key, which searches find anywhere.
  const word = [...`${people}`].map((digit) => 'abcdefghij'[Number(digit)]).join('')
  const email = `Vera.Known${people}@Engines.example`
  const [name, note] = [`Vera Byron-${word}`, `pays late, says ${word}`]
  const made = (await owner.call('POST', '/customers', { email, name, note })).json.data.customer
  const body = { app: other._id, expiresAt: on.clock.inDays(90), customer: made._id }
  expect((await owner.call('POST', '/licenses', body)).status).toBe(201)
  known = { email, customer: made._id, name, note }
  const created_at = on.clock.now() - 30 * day
  await on.database.db.updateTable('customers').set({ created_at }).where('id', '=', made._id).execute()
})

const unused = async () => single(await makeLicenses(on, owner, app))._id
const newUser = async () => {
  const user = { username: `user-${crypto.randomUUID()}`, password: 'swordfish', appId: app._id }
  const answer = await owner.call('POST', '/clients/create-direct', { ...user, expiresAt: null })
  return answer.json.data.client._id as string
}

/** Every call by which a caller links something of its own to an address. */
const links: Record<string, (by: Caller, customer: string | null) => ReturnType<Caller['call']>> = {
  'a new license': (by, customer) =>
    by.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(9), customer }),
  'a license': async (by, customer) => by.call('PUT', `/licenses/${await unused()}`, { customer }),
  'a new end user': (by, customer) => {
    const user = { username: `new-${crypto.randomUUID()}`, password: 'swordfish', appId: app._id }
    return by.call('POST', '/clients/create-direct', { ...user, expiresAt: null, customer })
  },
  'an end user': async (by, customer) => by.call('PATCH', `/clients/${await newUser()}`, { customer }),
}
const mayLink = (caller: string, link: string) => caller !== 'support' || link.includes('end user')
const linkedIn = ({ json }: Awaited<ReturnType<Caller['call']>>) =>
  (json.data.license ?? json.data.client) as { _id: string; customer: string }

const read = async (by: Caller, id: string): Promise<{ customer: Customer }> =>
  (await by.call('GET', `/customers/${id}`)).json.data

const cases = ['manager', 'support', 'key'].flatMap((caller) =>
  Object.keys(links)
    .filter((link) => mayLink(caller, link))
    .map((link) => [caller, link] as const),
)

test.each(cases)(
  'a %s of one app who links %s by address sees nothing of the other app',
  async (name, link) => {
    const by = callers[name]!
    const typed = known.email.toLowerCase()
    const answer = await links[link]!(by, typed)
    expect(answer.status, JSON.stringify(answer.json)).toBeLessThan(300)
    const { customer: id } = linkedIn(answer)
    expect(id).toMatch(/^cus_/)
    expect(id).not.toBe(known.customer)
    const { customer } = await read(by, id)
    expect(customer).toMatchObject({ _id: id, email: typed, name: null, note: null, orders: 0 })
    expect(customer.createdAt).toBe(new Date(on.clock.now()).toISOString())
    expect((await by.call('GET', `/customers/${known.customer}`)).json).toEqual(
      (await by.call('GET', `/customers/${missing}`)).json,
    )
    const put = await by.call('PUT', `/customers/${known.customer}`, { note: 'Mine' })
    expect(put.json).toEqual((await by.call('PUT', `/customers/${missing}`, { note: 'Mine' })).json)
    const { customers } = (await by.call('GET', '/customers')).json.data
    expect(customers[0]).toEqual(customer)
    for (const text of [known.name, known.note, known.email]) {
      const found = (await by.call('GET', `/customers?search=${encodeURIComponent(text)}`)).json.data
      expect(found.customers.map(({ _id }: Customer) => _id)).toEqual(text === known.email ? [id] : [])
    }
    // The vendor sees one person with both.
    const whole = await read(owner, known.customer)
    expect(whole.customer).toMatchObject({ _id: known.customer, name: known.name, note: known.note })
    expect((await read(owner, id)).customer).toEqual(whole.customer)
  },
)

const idsIn = /(cus|lic|usr|sor|aud)_[0-9a-f]{32}/g

/** Everything that a caller reads after it has linked an address, without what differs between any two people. */
async function everythingRead(by: Caller, email: string, otherName: string): Promise<string> {
  const first = linkedIn(await links['a new license']!(by, email))
  const second = linkedIn(await links['an end user']!(by, email))
  const again = linkedIn(await links['a license']!(by, first.customer))
  const parts: unknown[] = [first.customer === second.customer, again.customer === first.customer]
  const get = async (path: string) => {
    const { status, json, raw } = await by.call('GET', path)
    parts.push(path, status, json ?? raw?.toString())
  }
  await get(`/customers/${first.customer}`)
  await get('/customers?limit=1')
  await get(`/customers?app=${app._id}&limit=1`)
  for (const search of [email, email.slice(0, -8), otherName, email.toUpperCase()]) {
    await get(`/customers?search=${encodeURIComponent(search)}`)
    await get(`/licenses?search=${encodeURIComponent(search)}`)
    await get(`/clients?search=${encodeURIComponent(search)}`)
  }
  await get(`/orders?customer=${first.customer}`)
  await get(`/audit?subject=${first.customer}`)
  await get(`/audit?about=${first._id}`)
  const put = await by.call('PUT', `/customers/${first.customer}`, { name: 'Mine', note: 'Our note' })
  parts.push(put.json)
  await get(`/customers?search=${encodeURIComponent('mine')}`)
  // Nothing is left in the app: the next link begins anew.
  for (const { _id } of [first, second, again]) {
    const path = _id.startsWith('usr_') ? ['PATCH', `/clients/${_id}`] : ['PUT', `/licenses/${_id}`]
    parts.push((await by.call(path[0]!, path[1]!, { customer: null })).json)
  }
  await get(`/customers/${first.customer}`)
  const anew = linkedIn(await links['a new license']!(by, email))
  parts.push(anew.customer === first.customer)
  await get(`/customers/${anew.customer}`)
  await by.call('PUT', `/licenses/${anew._id}`, { customer: null })
  const names = new Map<string, string>()
  const nameOf = (id: string) => {
    const name = names.get(id) ?? `${id.slice(0, 4)}${names.size}`
    names.set(id, name)
    return name
  }
  return JSON.stringify(parts)
    .replace(/"stats":\{[^}]*\}/g, '')
    .replaceAll(email, 'EMAIL')
    .replaceAll(encodeURIComponent(email), 'EMAIL')
    .replaceAll(encodeURIComponent(email.slice(0, -8)), 'PART')
    .replaceAll(email.toLowerCase(), 'email')
    .replaceAll(encodeURIComponent(email.toUpperCase()), 'UPPER')
    .replace(/user-[0-9a-f-]{36}/g, 'NAME')
    .replace(/\b[0-9A-Z]{5}(-[0-9A-Z]{5}){4}\b/g, 'KEY')
    .replace(/\bkwr_[\w-]{36}/g, 'REFERENCE')
    .replace(idsIn, nameOf)
}

test.each(['manager', 'key'])(
  'what a %s of one app reads does not tell whether an address is known elsewhere',
  async (name) => {
    const by = callers[name]!
    const stranger = `Vera.Never${people}@Engines.example`
    expect(stranger.length).toBe(known.email.length)
    expect(await everythingRead(by, known.email, known.name)).toBe(
      await everythingRead(by, stranger, known.name),
    )
  },
)

test('a shop of one app links a buyer without showing what another app knows of it', async () => {
  const by = callers.manager!
  const type = await makeType(owner, app._id)
  const shop = await makeShop(by, app._id, [{ product: 'pro', type }])
  const number = `face-${people}`
  const email = known.email.toLowerCase()
  const data = { order: number, email, name: 'V. Known', lines: [{ product: 'pro', quantity: 1 }] }
  expect(await sell(on, shop, { type: 'order.paid', data })).toBe(200)
  const seen = await orderOnce(by, number, { state: 'fulfilled' })
  expect(seen.customer).not.toBe(known.customer)
  expect((await read(by, seen.customer)).customer).toMatchObject({
    ...{ email, name: 'V. Known', note: null, licenses: 1, orders: 1 },
  })
  const [own] = (await by.call('GET', `/orders?customer=${seen.customer}`)).json.data.orders
  expect(own.order).toBe(number)
  expect((await by.call('GET', `/orders?customer=${known.customer}`)).json.data.orders).toEqual([])
  expect((await read(owner, known.customer)).customer).toMatchObject({
    name: known.name,
    licenses: 2,
    orders: 1,
  })
  const [whole] = (await owner.call('GET', `/orders?customer=${known.customer}`)).json.data.orders
  expect(whole.customer).toBe(known.customer)
})

test('texts that one app writes stay there; the vendor reads all and changes each where it stands', async () => {
  const by = callers.manager!
  const email = `Quiet${people}@Engines.example`
  const { customer: whole } = (await owner.call('POST', '/customers', { email })).json.data
  const { customer: id } = linkedIn(await links['a new license']!(by, email))
  const elsewhere = await addMember(on, owner, { role: 'manager', apps: [other._id] })
  const sold = await elsewhere.call('POST', '/licenses', { app: other._id, expiresAt: null, customer: email })
  const there = sold.json.data.license.customer
  expect((await by.call('PUT', `/customers/${id}`, { name: 'Quiet One', note: 'Ours' })).status).toBe(200)
  const texts = async (reader: Caller, of: string) => {
    const { name, note } = (await read(reader, of)).customer
    return [name, note]
  }
  expect(await texts(by, id)).toEqual(['Quiet One', 'Ours'])
  expect(await texts(elsewhere, there)).toEqual([null, null])
  expect(await texts(owner, whole._id)).toEqual(['Quiet One', 'Ours'])
  const found = (await owner.call('GET', `/customers?search=quiet%20one`)).json.data.customers
  expect(found.map(({ _id }: Customer) => _id)).toContain(whole._id)
  const put = { name: 'Quiet One', note: 'Ours, and more' }
  expect((await owner.call('PUT', `/customers/${whole._id}`, put)).json.data.customer).toMatchObject(put)
  expect(await texts(by, id)).toEqual(['Quiet One', 'Ours, and more'])
  expect(await texts(elsewhere, there)).toEqual([null, null])
  await owner.call('PUT', `/customers/${whole._id}`, { note: null })
  expect(await texts(by, id)).toEqual(['Quiet One', null])
  expect(await texts(owner, whole._id)).toEqual(['Quiet One', null])
  const told = JSON.parse((await owner.call('GET', `/customers/${whole._id}/export`)).raw.toString())
  expect(told.apps).toMatchObject([
    { app: app._id, email, name: 'Quiet One', note: null },
    { app: other._id },
  ])
})

test('what the vendor links to an app by itself is the customer itself there', async () => {
  const body = { app: app._id, expiresAt: null, customer: known.email }
  expect((await owner.call('POST', '/licenses', body)).json.data.license.customer).toBe(known.customer)
  const { customer } = await read(callers.support!, known.customer)
  expect(customer).toMatchObject({ name: known.name, note: known.note, licenses: 1 })
  // A key that may not read customers shows none to others.
  const blind = await makeApiKey(on, owner, { permissions: ['licenses:write', 'clients:write'] })
  const third = await makeApp(owner, 'Third')
  await blind.call('POST', '/licenses', { ...body, app: third._id })
  const member = await addMember(on, owner, { role: 'support', apps: [third._id] })
  const [seen] = (await member.call('GET', '/customers')).json.data.customers
  expect(seen).toMatchObject({ name: null, note: null })
  expect(seen._id).not.toBe(known.customer)
})

test('who has two apps sees one customer, under one id everywhere', async () => {
  const by = callers.manager!
  const { customer: face } = linkedIn(await links['a new license']!(by, known.email))
  const both = await addMember(on, owner, { role: 'manager', apps: [app._id, other._id] })
  const { customers } = (await both.call('GET', `/customers?search=${encodeURIComponent(known.email)}`)).json
    .data
  expect(customers).toMatchObject([{ _id: known.customer, name: known.name, licenses: 2 }])
  expect((await read(both, face)).customer).toEqual(customers[0])
  const { licenses } = (await both.call('GET', `/licenses?search=${encodeURIComponent(known.email)}`)).json
    .data
  expect(licenses.map(({ customer }: { customer: string }) => customer)).toEqual([
    known.customer,
    known.customer,
  ])
})

test('records, webhooks and exports of an app name a customer as its people see it', async () => {
  const by = callers.manager!
  const typed = known.email.toLowerCase()
  const license = await unused()
  await makeWebhook(by, { events: ['*'], apps: [app._id] })
  const put = await by.call('PUT', `/licenses/${license}`, { customer: typed })
  const { customer: id } = linkedIn(put)
  await by.call('PUT', `/licenses/${license}`, { customer: null })
  await by.call('PUT', `/licenses/${license}`, { customer: typed })
  const { records } = (await by.call('GET', `/audit?about=${license}`)).json.data
  expect(JSON.stringify(records)).not.toContain(known.customer)
  expect(JSON.stringify(records)).not.toContain(known.email)
  const all = (await owner.call('GET', `/audit?about=${license}`)).json.data.records
  expect(JSON.stringify(all)).toContain(known.customer)
  const csv = (await by.call('GET', `/licenses/export?format=csv&app=${app._id}`)).raw.toString()
  expect(csv).toContain(typed)
  expect(csv).not.toContain(known.email)
  const json = (await by.call('GET', `/licenses/export?format=json&app=${app._id}`)).raw.toString()
  expect(json).not.toContain(known.customer)
  expect(id).toMatch(/^cus_/)
})

test('an id of a customer of another app links nothing, and 32 links at once make one face', async () => {
  const by = callers.manager!
  for (const link of Object.values(links)) {
    expect(refusal(await link(by, known.customer))).toBe(refusal(await link(by, missing)))
  }
  const made = await Promise.all(Array.from({ length: 32 }, () => links['a new license']!(by, known.email)))
  expect(new Set(made.map((answer) => linkedIn(answer).customer)).size).toBe(1)
  await eventually(async () => {
    const faces = await on.database.db
      .selectFrom('customer_faces')
      .select('id')
      .where('customer_id', '=', known.customer)
      .execute()
    expect(faces).toHaveLength(2)
  })
})
