import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { makeApp, makeLicenses, type Owner, signUp, single, startProgram } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { openPage } from '../customer-actor.ts'
import { eventually } from '../eventually.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { addMember } from '../member-actor.ts'
import { makeShop, makeType as makeSoldType, sell as sellBy } from '../shop-actor.ts'
import { makeWebhook } from '../webhook-actor.ts'

const on = serverForAll({}, { deliversWebhooks: false })
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

let buyers = 0
const newEmail = () => {
  buyers += 1
  return `Buyer${buyers}@engines.example`
}

const sell = async (to: string | null, appId = app._id, by: Pick<Owner, 'call'> = owner) => {
  const body = { app: appId, expiresAt: on.clock.inDays(30), customer: to }
  const { status, json } = await by.call('POST', '/licenses', body)
  expect(status).toBe(201)
  return json.data.license as { _id: string; key: string; customer: string }
}

const read = (id: string, by: Pick<Owner, 'call'> = owner) => by.call('GET', `/customers/${id}`)

test('an address sold to twice is one customer with both licenses', async () => {
  const email = newEmail()
  const first = await sell(email)
  const second = await sell(email.toUpperCase())
  expect(second.customer).toBe(first.customer)
  const { customer, licenses } = (await read(first.customer)).json.data
  expect(customer).toMatchObject({ email, name: null, note: null, licenses: 2 })
  expect(licenses.map(({ _id }: { _id: string }) => _id)).toEqual([second._id, first._id])
})

test('an address with an international domain is one customer in all its forms, and found by each', async () => {
  const first = await sell('Käse@MÜNCHEN.example')
  const forms = ['käse@münchen.example', 'KÄSE@xn--mnchen-3ya.example', 'käse@XN--MNCHEN-3YA.example']
  for (const form of forms) {
    expect([form, (await sell(form)).customer]).toEqual([form, first.customer])
    expect((await owner.call('POST', '/customers', { email: form })).status).toBe(409)
    for (const path of [`/customers?search=`, `/licenses?app=${app._id}&search=`]) {
      const { data } = (await owner.call('GET', path + encodeURIComponent(form))).json
      expect([path, form, data.pagination.total > 0]).toEqual([path, form, true])
    }
  }
  expect((await read(first.customer)).json.data.customer.email).toBe('Käse@münchen.example')
  const part = (await owner.call('GET', `/customers?search=${encodeURIComponent('münch')}`)).json.data
  expect(part.customers).toHaveLength(1)
  await owner.call('DELETE', `/customers/${first.customer}`)
  expect((await read(first.customer)).status).toBe(404)
})

test('a customer is read with the last refusal of its keys and end users', async () => {
  const { _id, key, customer } = await sell(newEmail())
  expect((await read(customer)).json.data.refusal).toBeNull()
  await owner.call('PATCH', `/licenses/${_id}/toggle-ban`, {})
  const body = { appId: app.appId, licenseKey: key }
  const { reference } = (await on.call('POST', '/client/validate', { body })).json.data
  expect(reference).toBeDefined()
  await eventually(async () => expect((await read(customer)).json.data.refusal).toBe(reference))
})

test('32 sales to one address at once make one customer', async () => {
  const email = newEmail()
  const sold = await Promise.all(Array.from({ length: 32 }, () => sell(email)))
  expect(new Set(sold.map(({ customer }) => customer)).size).toBe(1)
})

test('a license changes its customer, and loses it', async () => {
  const license = await sell(newEmail())
  const to = await sell(newEmail())
  const put = async (customer: unknown) =>
    (await owner.call('PUT', `/licenses/${license._id}`, { customer })).json.data.license.customer
  expect(await put(to.customer)).toBe(to.customer)
  expect(await put(null)).toBeNull()
  expect(await put(newEmail())).toMatch(/^cus_/)
  const wrong = await owner.call('PUT', `/licenses/${license._id}`, { customer: 'not@an address' })
  expect([wrong.status, wrong.json.errors[0].path]).toEqual([400, 'customer'])
})

test('a customer of another vendor is like a missing one wherever it is named', async () => {
  const theirs = await signUp(on)
  const { customer } = (await theirs.call('POST', '/customers', { email: newEmail() })).json.data
  const missing = `cus_${'0'.repeat(32)}`
  const license = await sell(null)
  const answers = async (id: string) => {
    const made = { app: app._id, expiresAt: on.clock.inDays(30), customer: id }
    const direct = { username: 'nobody', password: 'secret1', appId: app._id, expiresAt: null, customer: id }
    const sent = await Promise.all([
      owner.call('POST', '/licenses', made),
      owner.call('PUT', `/licenses/${license._id}`, { customer: id }),
      owner.call('POST', '/clients/create-direct', direct),
    ])
    return sent.map(({ status, json }) => ({ status, json }))
  }
  expect(await answers(customer._id)).toEqual(await answers(missing))
})

test('a taken address is refused, and lists find by address and name', async () => {
  const [one, two] = [newEmail(), newEmail()]
  const made = await owner.call('POST', '/customers', { email: one, name: 'Grace Hopper', note: 'navy' })
  expect(made.status).toBe(201)
  const again = await owner.call('POST', '/customers', { email: one.toLowerCase() })
  expect([again.status, again.json.code, again.json.errors[0].path]).toEqual([
    409,
    'customer_exists',
    'email',
  ])
  const other = (await owner.call('POST', '/customers', { email: two })).json.data.customer
  const moved = await owner.call('PUT', `/customers/${other._id}`, { email: one })
  expect(moved.json.code).toBe('customer_exists')
  const changed = await owner.call('PUT', `/customers/${other._id}`, { name: 'Alan', note: 'x' })
  expect(changed.json.data.customer).toMatchObject({ email: two, name: 'Alan', note: 'x' })
  const found = async (search: string) => {
    const { customers } = (await owner.call('GET', `/customers?search=${encodeURIComponent(search)}`)).json
      .data
    return customers.map(({ email }: { email: string }) => email)
  }
  expect(await found('grace hop')).toEqual([one])
  expect(await found(two.toUpperCase())).toEqual([two])
  expect(await found('%')).toEqual([])
})

test('an address that a program sends links no customer', async () => {
  const email = newEmail()
  const { customer } = (await owner.call('POST', '/customers', { email })).json.data
  const license = single(await makeLicenses(on, owner, app))
  const program = await startProgram(on, app)
  const body = { username: 'ada', password: 'swordfish', licenseKey: license.key, email }
  expect((await program.call('POST', '/register', body)).status).toBe(200)
  const { customer: mine, clients, licenses } = (await read(customer._id)).json.data
  expect([mine.licenses, clients, licenses]).toEqual([0, [], []])
})

test('members and keys with some apps see and link only customers of these, and erase none', async () => {
  const other = await makeApp(owner, 'Other')
  const [here, there] = [await sell(newEmail()), await sell(newEmail(), other._id)]
  const apps = [app._id]
  const member = await addMember(on, owner, { role: 'manager', apps })
  const permissions = ['clients:read', 'clients:write', 'clients:delete', 'licenses:read', 'licenses:write']
  const key = await makeApiKey(on, owner, { permissions, apps })
  const missing = `cus_${'0'.repeat(32)}`
  for (const caller of [member, key]) {
    expect((await read(here.customer, caller)).status).toBe(200)
    expect((await read(there.customer, caller)).json).toEqual((await read(missing, caller)).json)
    const { customers } = (await caller.call('GET', '/customers')).json.data
    expect(customers.map(({ _id }: { _id: string }) => _id)).toEqual([here.customer])
    const link = { app: app._id, expiresAt: null, customer: there.customer }
    expect((await caller.call('POST', '/licenses', link)).status).toBe(404)
    for (const [method, path, body] of [
      ['POST', '/customers', { email: newEmail() }],
      ['PUT', `/customers/${here.customer}`, { email: newEmail() }],
      ['DELETE', `/customers/${here.customer}`],
      ['GET', `/customers/${here.customer}/export`],
    ] as const) {
      expect((await caller.call(method, path, body)).status, `${method} ${path}`).toBe(403)
    }
    expect((await sell(newEmail(), app._id, caller)).customer).toMatch(/^cus_/)
    await on.database.db
      .updateTable('licenses')
      .set({ customer_id: null })
      .where('id', '<>', here._id)
      .where('app_id', '=', app._id)
      .execute()
  }
  const filtered = (await owner.call('GET', `/customers?app=${other._id}`)).json.data.customers
  expect(filtered.map(({ _id }: { _id: string }) => _id)).toEqual([there.customer])
})

test('naming a customer needs the right to change end users', async () => {
  const key = await makeApiKey(on, owner, { permissions: ['licenses:read', 'licenses:write'] })
  const body = { app: app._id, expiresAt: on.clock.inDays(30), customer: newEmail() }
  const answer = await key.call('POST', '/licenses', body)
  expect([answer.status, answer.json.code]).toEqual([403, 'permission_missing'])
})

test('a customer comes with the devices of all its end users and its mails, for callers who may know of them', async () => {
  const email = newEmail()
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeSoldType(owner, app._id) }])
  const data = { order: `M-${buyers}`, email, lines: [{ product: 'pro', quantity: 2 }] }
  expect(await sellBy(on, shop, { type: 'order.paid', data })).toBe(200)
  const order = await eventually(async () => {
    const [found] = (await owner.call('GET', `/orders?app=${app._id}`)).json.data.orders
    expect(found).toMatchObject({ state: 'fulfilled', mail: 'failed' })
    return found
  })
  for (const [at, { key }] of order.licenses.entries()) {
    const program = await startProgram(on, app)
    const body = { username: `mail-${buyers}-${at}`, password: 'swordfish', licenseKey: key }
    expect((await program.call('POST', '/register', { ...body, hwid: `pc-${at}` })).status).toBe(200)
  }
  const { clients } = (await read(order.customer)).json.data
  await openPage(owner, app)
  const linked = await owner.call('PUT', `/clients/${clients[0]._id}/password`, { mail: true })
  expect(linked.json.code).toBe('mail_off')
  await on.database.db
    .insertInto('mails')
    .values({
      ...{ id: `mai_${'a'.repeat(32)}`, owner_id: owner.id, account_id: null, reseller_id: null },
      ...{ customer_id: order.customer, lane: 'x', state: 'sent' as const, sealed: null, due_at: null },
      ...{ expires_at: 1, created_at: on.clock.now() + 1, kept_until: on.clock.now() + 1000 },
    })
    .execute()
  const [link, keys] = [
    { _id: expect.any(String), order: null, license: null, state: 'sent', createdAt: expect.any(String) },
    { order: { _id: order._id, order: data.order }, state: 'failed' },
  ]
  const answer = await read(order.customer)
  expect(answer.json.data.mails).toMatchObject([link, keys])
  expect(
    answer.json.data.devices.map(({ client }: { client: { username: string } }) => client.username).sort(),
  ).toEqual([`mail-${buyers}-0`, `mail-${buyers}-1`])
  for (const { key } of order.licenses) expect(JSON.stringify(answer.json.data.mails)).not.toContain(key)
  const told = JSON.parse((await owner.call('GET', `/customers/${order.customer}/export`)).raw.toString())
  expect(told.mails).toEqual(answer.json.data.mails)

  const mailsOf = async (caller: Pick<Owner, 'call'>) =>
    (await read(order.customer, caller)).json.data.mails.map((mail: { order: object | null }) => mail.order)
  const member = await addMember(on, owner, { role: 'manager', apps: [app._id] })
  expect(await mailsOf(member)).toEqual([keys.order])
  const clerk = await makeApiKey(on, owner, { permissions: ['clients:read'] })
  expect(await mailsOf(clerk)).toEqual([null])
  // The customer has something in another app as well; the order is none of a member of that app alone.
  const other = await makeApp(owner, 'Other')
  await sell(order.customer, other._id)
  const elsewhere = await addMember(on, owner, { role: 'manager', apps: [other._id] })
  const seen = (await read(order.customer, elsewhere)).json.data
  expect([seen.mails, seen.devices, seen.clients]).toEqual([[], [], []])
})

test('an export contains all that is known of a person, and nothing of others', async () => {
  const email = newEmail()
  const license = await sell(email)
  await sell(newEmail())
  const program = await startProgram(on, app)
  expect((await program.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-1' })).status).toBe(200)
  const answer = await owner.call('GET', `/customers/${license.customer}/export`)
  expect(answer.headers['content-disposition']).toContain(`customer-${license.customer}`)
  const told = JSON.parse(answer.raw.toString())
  expect(told).toMatchObject({
    customer: { email },
    licenses: [{ key: license.key }],
    orders: [],
    clients: [{ username: license.key, hwid: 'pc-1', devices: [{ _id: expect.stringMatching(/^dev_/) }] }],
    mails: [],
  })
  expect(answer.raw.toString()).not.toContain(`buyer${buyers}@`)
})

/** Every row of every table, as text; SQLite's search indexes have no content but groups of three letters. */
async function everything(): Promise<string> {
  const { db, dialect } = on.database
  const { rows: tables } =
    dialect === 'postgres'
      ? await sql<{
          name: string
        }>`select tablename as name from pg_tables where schemaname = 'public'`.execute(db)
      : await sql<{ name: string }>`select name from sqlite_master
          where type = 'table' and name not like '%_search%'`.execute(db)
  expect(tables.length).toBeGreaterThan(40)
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await sql`select * from ${sql.table(name)}`.execute(db)
      return rows.map((row) => `${name} ${JSON.stringify(row)}`).join('\n')
    }),
  )
  return texts.join('\n').toLowerCase()
}

test('an erased person is in no row of any table; its licenses stay, and others keep what they have', async () => {
  const email = newEmail()
  await makeWebhook(owner, { events: ['*'] })
  const license = await sell(email)
  const unused = await sell(email)
  await owner.call('PUT', `/licenses/${unused._id}`, { note: `For ${email}, by invoice` })
  await owner.call('PUT', `/customers/${license.customer}`, { name: 'Ada Byron-King', note: 'Likes engines' })
  const program = await startProgram(on, app, { from: '203.0.113.77' })
  const registered = { username: 'ada-byron', password: 'swordfish', licenseKey: license.key, email }
  expect((await program.call('POST', '/register', { ...registered, hwid: 'engine-pc' })).status).toBe(200)
  const { clients } = (await read(license.customer)).json.data
  expect(clients).toMatchObject([{ username: 'ada-byron' }])
  await owner.call('PATCH', `/clients/${clients[0]._id}`, { customer: license.customer })
  // An address that a stranger typed, and one that is the name of a stranger.
  const strange = single(await makeLicenses(on, owner, app))
  const stranger = await startProgram(on, app)
  const theirs = { username: email, password: 'swordfish', licenseKey: strange.key, email }
  expect((await stranger.call('POST', '/register', theirs)).status).toBe(200)
  await program.call('POST', '/login', { username: email, password: 'wrong password' })
  await program.call('POST', '/login', { username: 'ada-byron', password: 'wrong password' })
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeSoldType(owner, app._id) }])
  const data = { order: 'A-1', email, name: 'Ada Byron-King', lines: [{ product: 'pro', quantity: 1 }] }
  expect(await sellBy(on, shop, { type: 'order.paid', data })).toBe(200)
  const orders = async () => (await owner.call('GET', `/orders?app=${app._id}`)).json.data.orders
  await eventually(async () => expect(await orders()).toMatchObject([{ state: 'fulfilled', email }]))
  expect((await read(license.customer)).json.data.customer).toMatchObject({ licenses: 3, orders: 1 })
  const kept = await sell(newEmail())
  // A delivery that was made before.
  await on.database.db
    .updateTable('webhook_deliveries')
    .set({ body: JSON.stringify({ email }), request: email, response: `ok ada-byron` })
    .where('event', '=', 'end_user.registered')
    .execute()
  const named = [email.toLowerCase(), 'ada-byron', 'byron-king', 'likes engines', 'engine-pc', '203.0.113.77']
  await eventually(async () => {
    const before = await everything()
    for (const text of named) expect(before).toContain(text)
    expect(before).toMatch(/^activity .*ada-byron/m)
  })
  expect((await owner.call('DELETE', `/customers/${license.customer}`)).status).toBe(200)
  const after = await everything()
  for (const text of named) {
    expect(after.split('\n').filter((row) => row.includes(text))).toEqual([])
  }
  expect((await read(license.customer)).status).toBe(404)
  for (const { _id, key } of [license, unused]) {
    const { license: left } = (await owner.call('GET', `/licenses/${_id}`)).json.data
    expect(left).toMatchObject({ key, customer: null, note: null, used: false })
  }
  expect(await orders()).toMatchObject([{ order: 'A-1', email: null, customer: null, licenses: [{}] }])
  expect((await read(kept.customer)).json.data.licenses).toMatchObject([{ _id: kept._id }])
  const still = (await owner.call('GET', `/licenses/${strange._id}`)).json.data.license
  expect(still).toMatchObject({ used: true, usedBy: { username: expect.stringMatching(/^erased-/) } })
  expect((await stranger.call('GET', '/session')).status).toBe(200)
})

test('two erasures at once erase once, and a repeated one finds nothing', async () => {
  const { customer } = await sell(newEmail())
  const erase = () => owner.call('DELETE', `/customers/${customer}`)
  const answers = await Promise.all([erase(), erase()])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
  expect((await erase()).status).toBe(404)
})

test('a reset deletes all customers', async () => {
  const vendor = await signUp(on)
  await vendor.call('POST', '/customers', { email: newEmail() })
  expect((await vendor.call('POST', '/settings/reset', { password: vendor.password })).status).toBe(200)
  const left = await on.database.db
    .selectFrom('customers')
    .select('id')
    .where('owner_id', '=', vendor.id)
    .execute()
  expect(left).toEqual([])
})
