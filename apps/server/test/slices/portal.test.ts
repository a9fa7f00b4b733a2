import { expect, test } from 'vitest'
import {
  activateKey,
  makeApp,
  makeLicenses,
  makePremium,
  plainTerms,
  signUp,
  startProgram,
} from '../actors.ts'
import { eventually } from '../eventually.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { startServer } from '../harness.ts'
import { makeReseller } from '../reseller-actor.ts'

const day = 86_400_000
const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)

const expiresAt = () => on.clock.inDays(30)

test("the profile contains the quota and the app's name, and nothing else about the owner", async () => {
  const reseller = await makeReseller(on, owner, app, 7)
  const { status, json, raw } = await reseller.call('GET', '/profile')
  expect(status).toBe(200)
  expect(json.data.reseller).toEqual({
    _id: reseller._id,
    email: reseller.email,
    app_id: { name: app.name },
    allowed_license_keys: 7,
    created_licenses: 0,
    remaining_licenses: 7,
    active: true,
    createdAt: expect.any(String),
    role: 'Reseller',
  })
  const made = await reseller.call('POST', '/licenses', { count: 1, expiresAt: expiresAt() })
  const listed = await reseller.call('GET', '/licenses')
  for (const text of [raw, made.raw, listed.raw].map(String)) {
    for (const secret of [owner.id, owner.email, app._id, app.appId, app.appSecret]) {
      expect(text).not.toContain(secret)
    }
  }
})

test('returns, lists newest first and counts generated licenses', async () => {
  const reseller = await makeReseller(on, owner, app, 5)
  const end = expiresAt()
  const made = await reseller.call('POST', '/licenses', { count: 2, expiresAt: end })
  expect(made.status).toBe(201)
  expect(made.json.message).toBe('2 license(s) created successfully')
  expect(made.json.data.stats).toEqual({
    total: 2,
    active: 2,
    used: 0,
    available: 2,
    expired: 0,
    remaining: 3,
  })
  const more = await reseller.call('POST', '/licenses', { date_expired: '2026-03-04' })
  const [newest] = more.json.data.licenses
  expect(newest).toEqual({
    _id: expect.stringMatching(/^lic_/),
    key: expect.stringMatching(/^[0-9A-Z]{5}(-[0-9A-Z]{5}){4}$/),
    app: { name: app.name },
    status: 'ACTIVE',
    used: false,
    banned: false,
    usedBy: null,
    note: null,
    createdAt: expect.any(String),
    expiresAt: '2026-03-04T23:59:59.999Z',
    date_expired: '2026-03-04T23:59:59.999Z',
    ...plainTerms,
  })
  const { json } = await reseller.call('GET', '/licenses')
  expect(json.data.licenses).toEqual([newest, ...made.json.data.licenses.toReversed()])
  expect(json.data.pagination).toEqual({ page: 1, limit: 200, total: 3, pages: 1 })
  const second = await reseller.call('GET', '/licenses?limit=2&page=2')
  expect(second.json.data.licenses).toEqual([made.json.data.licenses[0]])
  expect(second.json.data.pagination).toEqual({ page: 2, limit: 2, total: 3, pages: 2 })
})

test('lists 200 licenses per page by default; stats and page count cover all', async () => {
  const reseller = await makeReseller(on, owner, app, 500)
  const made = await reseller.call('POST', '/licenses', { count: 450, expiresAt: on.clock.inDays(2) })
  const newestFirst = made.json.data.licenses.toReversed()
  for (const page of [1, 2, 3]) {
    const { data } = (await reseller.call('GET', `/licenses?page=${page}`)).json
    expect(data.licenses).toEqual(newestFirst.slice((page - 1) * 200, page * 200))
    expect(data.stats).toMatchObject({ total: 450, remaining: 50 })
    expect(data.pagination).toEqual({ page, limit: 200, total: 450, pages: 3 })
  }
  expect((await reseller.call('GET', '/licenses?limit=201')).status).toBe(400)
})

test('searches and exports keys and usernames of this reseller alone', async () => {
  const [reseller, other] = [await makeReseller(on, owner, app, 200), await makeReseller(on, owner, app, 5)]
  const made = await reseller.call('POST', '/licenses', { count: 130, expiresAt: expiresAt() })
  await other.call('POST', '/licenses', { count: 2, expiresAt: expiresAt() })
  const keys: string[] = made.json.data.licenses.map((license: { key: string }) => license.key).toReversed()
  const program = await startProgram(on, app)
  const licenseKey = keys[3] as string
  await program.call('POST', '/register', { username: 'Odd_Name%', password: 'swordfish', licenseKey })

  const find = async (search: string, more = '') => {
    const { json } = await reseller.call('GET', `/licenses?${new URLSearchParams({ search })}${more}`)
    return json.data
  }
  const keysOf = (rows: { key: string }[]) => rows.map(({ key }) => key)
  for (const search of [licenseKey.slice(6, 14).toLowerCase(), 'odd_name%', '_']) {
    const found = await find(search)
    expect(keysOf(found.licenses)).toEqual([licenseKey])
    expect(found.pagination).toEqual({ page: 1, limit: 200, total: 1, pages: 1 })
    expect(found.stats.total).toBe(130)
  }
  const common = (await find((keys[0] as string)[0] as string)).licenses.length
  const second = await find((keys[0] as string)[0] as string, '&limit=1&page=2')
  expect(second.pagination).toMatchObject({ total: common, pages: common })

  const csv = await reseller.call('GET', '/licenses/export?format=csv')
  expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8')
  expect(csv.headers['content-disposition']).toBe('attachment; filename="licenses-2026-03-04.csv"')
  const [head, ...lines] = String(csv.raw).trimEnd().split('\r\n')
  expect(head).toBe('key,app,status,used,usedBy,createdAt,expiresAt,_id,term,duration,startedAt,banned,note')
  expect(lines.map((line) => line.split(',')[0])).toEqual(keys)
  const json = await reseller.call('GET', '/licenses/export?format=json&search=ODD_NAME')
  expect(json.json).toMatchObject([{ key: licenseKey, usedBy: 'Odd_Name%' }])
  expect((await reseller.call('GET', `/licenses?search=${'x'.repeat(101)}`)).status).toBe(400)
})

test('a note on a key is its reseller’s alone: listed, searched and exported in the portal, and nowhere else', async () => {
  const [reseller, other] = [await makeReseller(on, owner, app, 5), await makeReseller(on, owner, app, 5)]
  const sold = { count: 2, expiresAt: expiresAt(), note: 'Bäckerei ÖHLER' }
  const [first, second] = (await reseller.call('POST', '/licenses', sold)).json.data.licenses
  expect([first.note, second.note]).toEqual(['Bäckerei ÖHLER', 'Bäckerei ÖHLER'])
  const path = `/licenses/${first._id}`
  const saved = await reseller.call('PUT', path, { note: 'Order 7%', seen: { note: first.note } })
  expect(saved.json.data.license).toEqual({ ...first, note: 'Order 7%' })
  const late = await reseller.call('PUT', path, { note: 'Order 8', seen: { note: first.note } })
  expect([late.status, late.json.code]).toEqual([409, 'license_changed'])
  for (const [search, found] of [
    ['öhler', second],
    ['r 7%', first],
  ] as const) {
    const { licenses } = (await reseller.call('GET', `/licenses?${new URLSearchParams({ search })}`)).json
      .data
    expect(licenses.map(({ _id }: { _id: string }) => _id)).toEqual([found._id])
  }
  const exported = await reseller.call('GET', '/licenses/export?format=json')
  expect(exported.json).toMatchObject([{ note: 'Bäckerei ÖHLER' }, { note: 'Order 7%' }])
  expect((await reseller.call('PUT', path, { note: 'x'.repeat(201) })).status).toBe(400)

  for (const id of [first._id, 'lic_00000000000000000000']) {
    const answers = [
      await other.call('GET', `/licenses/${id}`),
      await other.call('PUT', `/licenses/${id}`, { note: 'Mine' }),
    ]
    expect(answers.map(({ status, json }) => [status, json.code])).toEqual([
      [404, 'not_found'],
      [404, 'not_found'],
    ])
  }
  const seen = ['/licenses?search=Order', `/licenses/${first._id}`, '/audit'].map(async (of) =>
    String((await owner.call('GET', of)).raw),
  )
  for (const text of await Promise.all(seen)) expect(text).not.toMatch(/Order 7|ÖHLER/)
  expect((await reseller.call('PUT', path, { note: '' })).json.data.license.note).toBeNull()
  await reseller.call('PUT', path, { note: 'Order 9' })
  await owner.call('DELETE', `/resellers/${reseller._id}`)
  const left = on.database.db.selectFrom('licenses').select('reseller_note').where('id', '=', first._id)
  expect(await left.executeTakeFirst()).toEqual({ reseller_note: null })
})

test('shows the devices of a key and why it was refused last, without what the owner wrote', async () => {
  const reseller = await makeReseller(on, owner, app, 5)
  const [used, unused] = (await reseller.call('POST', '/licenses', { count: 2, expiresAt: expiresAt() })).json
    .data.licenses
  expect((await reseller.call('GET', `/licenses/${unused._id}`)).json.data).toEqual({
    license: unused,
    devices: null,
    refusal: null,
  })
  const signIn = async (licenseKey: string, hwid: string) =>
    (await startProgram(on, app)).call('POST', '/license', { licenseKey, hwid })
  expect((await signIn(used.key, 'pc-1')).status).toBe(200)
  const { reference } = (await signIn(used.key, 'pc-2')).json
  await owner.call('PATCH', `/licenses/${unused._id}/toggle-ban`, { reason: 'only for the owner' })
  await signIn(unused.key, 'pc-3')
  const shown = async ({ _id }: { _id: string }) => {
    const { json, raw } = await reseller.call('GET', `/licenses/${_id}`)
    expect(json.data.refusal).not.toBeNull()
    expect(String(raw)).not.toContain('only for the owner')
    return json.data
  }
  const refusal = { message: 'Hardware ID mismatch', code: 'hwidMismatch', reference, solved: false }
  expect(await eventually(() => shown(used))).toMatchObject({ devices: { used: 1, limit: 1 }, refusal })
  expect(await eventually(() => shown(unused))).toMatchObject({
    devices: null,
    refusal: { code: 'keyBanned', message: 'License key is banned', solved: false },
  })
  const [{ _id: user }] = (await owner.call('GET', `/clients?search=${used.key}`)).json.data.clients
  await owner.call('PATCH', `/clients/${user}/reset-hwid`)
  expect(await shown(used)).toMatchObject({ devices: { used: 0 }, refusal: { reference, solved: true } })
})

test('marks a license that the owner has banned, and hides the reason', async () => {
  const reseller = await makeReseller(on, owner, app, 2)
  const made = await reseller.call('POST', '/licenses', { count: 2, expiresAt: expiresAt() })
  const { _id } = made.json.data.licenses[0]
  await owner.call('PATCH', `/licenses/${_id}/toggle-ban`, { reason: 'only for the owner' })
  const listed = await reseller.call('GET', '/licenses')
  const bans = listed.json.data.licenses.map((license: { banned: boolean }) => license.banned)
  expect(bans).toEqual([false, true])
  expect(listed.json.data.licenses[1]).toMatchObject({ _id, status: 'ACTIVE', used: false })
  const exported = await reseller.call('GET', '/licenses/export?format=json')
  expect(exported.json).toMatchObject([{ banned: false }, { banned: true }])
  for (const { raw } of [listed, exported]) expect(String(raw)).not.toContain('only for the owner')
})

test('shows and finds no key of others whose user has added a license of the reseller', async () => {
  const reseller = await makeReseller(on, owner, app, 1)
  const made = await reseller.call('POST', '/licenses', { count: 1, expiresAt: expiresAt() })
  const [{ _id, key }] = made.json.data.licenses
  const { license, user } = await activateKey(on, owner, app)
  expect((await owner.call('POST', `/clients/${user._id}/licenses`, { license: _id })).status).toBe(200)
  const listed = await reseller.call('GET', '/licenses')
  expect(listed.json.data.licenses).toMatchObject([{ key, used: true, usedBy: key }])
  expect(String(listed.raw)).not.toContain(license.key)
  const found = await reseller.call('GET', `/licenses?search=${license.key.slice(0, 5)}`)
  expect(found.json.data.licenses).toEqual([])
})

test('stats separate used, available and expired licenses', async () => {
  const reseller = await makeReseller(on, owner, app, 4)
  const short = await reseller.call('POST', '/licenses', {
    expiresAt: new Date(on.clock.now() + 60_000).toISOString(),
  })
  const long = await reseller.call('POST', '/licenses', { count: 2, expiresAt: expiresAt() })
  const program = await startProgram(on, app)
  const licenseKey = long.json.data.licenses[0].key
  await program.call('POST', '/register', { username: 'buyer', password: 'swordfish', licenseKey })
  on.clock.advance(120_000)
  const { json } = await reseller.call('GET', '/licenses')
  expect(json.data.stats).toEqual({ total: 3, active: 2, used: 1, available: 1, expired: 1, remaining: 1 })
  const byKey = (key: string) => json.data.licenses.find((license: { key: string }) => license.key === key)
  expect(byKey(licenseKey)).toMatchObject({ status: 'ACTIVE', used: true, usedBy: 'buyer' })
  expect(byKey(short.json.data.licenses[0].key)).toMatchObject({
    status: 'EXPIRED',
    used: false,
    usedBy: null,
  })
})

test.each([
  ['no expiry', { count: 1 }, 'expiresAt'],
  ['yesterday', { count: 1, expiresAt: '2026-03-03' }, 'expiresAt'],
  ['a moment ago', { count: 1, date_expired: '2026-03-04T00:00:00Z' }, 'date_expired'],
  ['two different expiries', { expiresAt: '2027-01-01', date_expired: '2027-01-02' }, 'date_expired'],
  ['a count of zero', { count: 0, expiresAt: '2027-01-01' }, 'count'],
  ['half a license', { count: 1.5, expiresAt: '2027-01-01' }, 'count'],
  ['more than any quota', { count: 10_001, expiresAt: '2027-01-01' }, 'count'],
  ['an app', { count: 1, expiresAt: '2027-01-01', app: 'x' }, 'app'],
])('rejects %s', async (_name, body, path) => {
  const reseller = await makeReseller(on, owner, app)
  const { status, json } = await reseller.call('POST', '/licenses', body)
  expect([status, json.errors[0].path]).toEqual([400, path])
})

test('generates nothing beyond the quota', async () => {
  const reseller = await makeReseller(on, owner, app, 3)
  const refused = await reseller.call('POST', '/licenses', { count: 4, expiresAt: expiresAt() })
  expect([refused.status, refused.json.code]).toEqual([403, 'quota_reached'])
  expect(refused.json.errors).toEqual([
    { path: 'count', message: 'You can generate at most 3 more license(s)' },
  ])
  expect((await reseller.call('GET', '/licenses')).json.data.stats.total).toBe(0)
})

test('sixteen concurrent requests never exceed the quota', async () => {
  const reseller = await makeReseller(on, owner, app, 10)
  const answers = await Promise.all(
    Array.from({ length: 16 }, () =>
      reseller.call('POST', '/licenses', { count: 3, expiresAt: expiresAt() }),
    ),
  )
  const statuses = answers.map((answer) => answer.status)
  expect(statuses.filter((status) => status === 201)).toHaveLength(3)
  expect(statuses.filter((status) => status === 403)).toHaveLength(13)
  expect((await reseller.call('GET', '/licenses')).json.data.stats).toMatchObject({ total: 9, remaining: 1 })
})

test('generates a whole quota of ten thousand in one request', async () => {
  const reseller = await makeReseller(on, owner, app, 10_000)
  const made = await reseller.call('POST', '/licenses', { count: 10_000, expiresAt: expiresAt() })
  expect(made.status).toBe(201)
  expect(new Set(made.json.data.licenses.map((license: { key: string }) => license.key)).size).toBe(10_000)
  expect((await reseller.call('GET', '/profile')).json.data.reseller.remaining_licenses).toBe(0)
  expect((await reseller.call('DELETE', '/licenses')).json.data.deletedCount).toBe(10_000)
})

test("generates nothing after the owner's premium ended, until it is renewed", async () => {
  const premiumOwner = await signUp(on)
  await makePremium(on, premiumOwner)
  const reseller = await makeReseller(on, premiumOwner, await makeApp(premiumOwner))
  const { db } = on.database
  const until = (premium_until: number) =>
    db.updateTable('owners').set({ premium_until }).where('id', '=', premiumOwner.id).execute()
  await until(on.clock.now())
  const refused = await reseller.call('POST', '/licenses', { count: 1, expiresAt: expiresAt() })
  expect([refused.status, refused.json.code]).toEqual([403, 'plan_limit_reached'])
  expect(refused.json.message).not.toMatch(/premium|plan/i)
  expect((await reseller.call('GET', '/licenses')).status).toBe(200)
  await until(on.clock.now() + day)
  expect((await reseller.call('POST', '/licenses', { count: 1, expiresAt: expiresAt() })).status).toBe(201)
})

test('licenses of resellers count toward the limit of the app', async () => {
  const premiumOwner = await signUp(on)
  await makePremium(on, premiumOwner)
  const own = await makeApp(premiumOwner)
  const reseller = await makeReseller(on, premiumOwner, own, 30)
  await reseller.call('POST', '/licenses', { count: 30, expiresAt: expiresAt() })
  await on.database.db
    .updateTable('owners')
    .set({ premium_until: null })
    .where('id', '=', premiumOwner.id)
    .execute()
  const refused = await premiumOwner.call('POST', '/licenses', { app: own._id, expiresAt: expiresAt() })
  expect([refused.status, refused.json.code]).toEqual([403, 'plan_limit_reached'])
})

test('a reseller deletes only its own licenses and expires their end users', async () => {
  const [reseller, colleague] = [await makeReseller(on, owner, app), await makeReseller(on, owner, app)]
  await makeLicenses(on, owner, app, 2)
  const { json } = await reseller.call('POST', '/licenses', { count: 3, expiresAt: expiresAt() })
  await colleague.call('POST', '/licenses', { count: 1, expiresAt: expiresAt() })
  const program = await startProgram(on, app)
  const licenseKey = json.data.licenses[0].key
  await program.call('POST', '/register', { username: 'second', password: 'swordfish', licenseKey })
  const before = (await owner.call('GET', '/licenses')).json.data.stats.total

  const deleted = await reseller.call('DELETE', '/licenses')
  expect([deleted.json.data.deletedCount, deleted.json.message]).toEqual([
    3,
    'Successfully deleted 3 license(s)',
  ])
  expect((await owner.call('GET', '/licenses')).json.data.stats.total).toBe(before - 3)
  expect((await colleague.call('GET', '/licenses')).json.data.stats.total).toBe(1)
  expect((await reseller.call('GET', '/profile')).json.data.reseller.remaining_licenses).toBe(10)
  const { clients } = (await owner.call('GET', '/clients?search=second')).json.data
  expect(clients).toMatchObject([{ status: 'expired', expiresAt: new Date(on.clock.now()).toISOString() }])
})

test('a session ends at logout and is extended by use', async () => {
  const reseller = await makeReseller(on, owner, app)
  const other = await on.call('POST', '/resellers/auth/login', {
    body: { email: reseller.email.toUpperCase(), password: ` ${reseller.password} ` },
  })
  expect(other.json.data.reseller.email).toBe(reseller.email)
  for (let days = 0; days < 40; days += 20) {
    on.clock.advance(20 * day)
    expect((await reseller.call('GET', '/profile')).status).toBe(200)
  }
  expect((await on.call('GET', '/resellers/auth/profile', { token: other.json.data.token })).status).toBe(401)
  expect((await reseller.call('POST', '/logout')).status).toBe(200)
  expect((await reseller.call('GET', '/profile')).status).toBe(401)
})

test('counts only failed sign-ins and blocks after ten per account', async () => {
  const strict = await startServer({ RATE_LIMITS: 'on' })
  try {
    const boss = await signUp(strict)
    await makePremium(strict, boss)
    const { email, password } = await makeReseller(strict, boss, await makeApp(boss))
    const signIn = (body: unknown) => strict.call('POST', '/resellers/auth/login', { body })
    for (let count = 0; count < 10; count += 1) {
      const refused = await signIn({ email, password: 'wrong one' })
      expect([refused.status, refused.json.message]).toEqual([401, 'Invalid email or password'])
      if (count < 9) expect((await signIn({ email, password })).status).toBe(200)
    }
    const waiting = await signIn({ email, password })
    expect(waiting.status).toBe(429)
    expect(Number(waiting.headers['retry-after'])).toBeGreaterThan(0)
  } finally {
    await strict.close()
  }
})
