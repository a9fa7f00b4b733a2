import { expect, test } from 'vitest'
import { makeApp, makePremium, registerUser, signUp } from '../actors.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)

let addresses = 0
const newReseller = (change: Record<string, unknown> = {}) => {
  addresses += 1
  return {
    email: `newReseller${addresses}@example.com`,
    password: 'sell them all',
    app_id: app._id,
    allowed_license_keys: 10,
    ...change,
  }
}

test("returns a new reseller's trimmed credentials once", async () => {
  const made = await owner.call(
    'POST',
    '/resellers',
    newReseller({ email: ' New@Example.com ', password: '  Abc!23  ' }),
  )
  expect(made.status).toBe(201)
  expect(made.json.message).toBe('Reseller account has been created successfully.')
  expect(made.json.data).toEqual({
    _id: expect.stringMatching(/^res_/),
    email: 'New@Example.com',
    password: 'Abc!23',
    app_id: { _id: app._id, name: app.name },
    allowed_license_keys: 10,
  })
  const listed = await owner.call('GET', '/resellers')
  expect(listed.json.data.resellers[0]).toEqual({
    _id: made.json.data._id,
    email: 'New@Example.com',
    app_id: { _id: app._id, name: app.name },
    allowed_license_keys: 10,
    created_licenses: 0,
    remaining_licenses: 10,
    createdAt: expect.any(String),
    active: true,
  })
  const row = await on.database.db
    .selectFrom('resellers')
    .selectAll()
    .where('id', '=', made.json.data._id)
    .executeTakeFirstOrThrow()
  expect(JSON.stringify(row)).not.toContain('Abc!23')
  const audit = await on.database.db.selectFrom('audit').selectAll().execute()
  expect(JSON.stringify(audit)).not.toContain('Abc!23')
})

test("accepts the app's appId and treats another owner's app as missing", async () => {
  expect((await owner.call('POST', '/resellers', newReseller({ app_id: app.appId }))).status).toBe(201)
  const other = await signUp(on)
  await makePremium(on, other)
  const foreign = await other.call('POST', '/resellers', newReseller())
  expect([foreign.status, foreign.json.code]).toEqual([404, 'not_found'])
})

test.each([
  ['a limit of 0', { allowed_license_keys: 0 }, 'allowed_license_keys'],
  ['a limit above 10000', { allowed_license_keys: 10_001 }, 'allowed_license_keys'],
  ['half a license', { allowed_license_keys: 1.5 }, 'allowed_license_keys'],
  ['no limit', { allowed_license_keys: undefined }, 'allowed_license_keys'],
  ['no application', { app_id: undefined }, 'app_id'],
  ['no email', { email: undefined }, 'email'],
  ['an invalid email', { email: 'nobody' }, 'email'],
  ['no password', { password: undefined }, 'password'],
  ['a password of blanks', { password: '         ' }, 'password'],
  ['a short password', { password: ' abc  ' }, 'password'],
  ['an unknown field', { active: false }, 'active'],
])('rejects %s', async (_name, change, path) => {
  const { status, json } = await owner.call('POST', '/resellers', newReseller(change))
  expect([status, json.errors[0].path]).toEqual([400, path])
})

test.each([1, 10_000])('accepts a limit of %i', async (limit) => {
  const { status, json } = await owner.call(
    'POST',
    '/resellers',
    newReseller({ allowed_license_keys: limit }),
  )
  expect([status, json.data.allowed_license_keys]).toEqual([201, limit])
})

test('free owners cannot create resellers', async () => {
  const free = await signUp(on)
  const own = await makeApp(free)
  const { status, json } = await free.call('POST', '/resellers', newReseller({ app_id: own._id }))
  expect([status, json.code]).toEqual([403, 'plan_limit_reached'])
  expect(json.message).toContain('only available for premium subscribers')
})

test('an email is unique among all resellers, in any letter case', async () => {
  const first = newReseller()
  expect((await owner.call('POST', '/resellers', first)).status).toBe(201)
  const other = await signUp(on)
  await makePremium(on, other)
  const second = await other.call('POST', '/resellers', {
    ...first,
    email: first.email.toUpperCase(),
    app_id: (await makeApp(other))._id,
  })
  expect([second.status, second.json.code]).toEqual([409, 'email_taken'])
  expect(second.json.errors).toEqual([
    { path: 'email', message: 'A reseller with this email already exists' },
  ])
})

test('concurrent creations with one email create exactly one reseller', async () => {
  const same = newReseller()
  const answers = await Promise.all(Array.from({ length: 8 }, () => owner.call('POST', '/resellers', same)))
  expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(7).fill(409)])
})

test('filters by app, state and email, returns pages, and counts all resellers', async () => {
  const listing = await signUp(on)
  await makePremium(on, listing)
  const [one, two] = [await makeApp(listing, 'One'), await makeApp(listing, 'Two')]
  const a = await makeReseller(on, listing, one)
  const b = await makeReseller(on, listing, two)
  await listing.call('PUT', `/resellers/${b._id}`, { active: false })
  const ids = async (query: string) => {
    const { json } = await listing.call('GET', `/resellers${query}`)
    return json.data.resellers.map((reseller: { _id: string }) => reseller._id)
  }
  expect(await ids('')).toEqual([b._id, a._id])
  expect(await ids(`?app=${one._id}`)).toEqual([a._id])
  expect(await ids(`?app=${two.appId}`)).toEqual([b._id])
  expect(await ids('?active=true')).toEqual([a._id])
  expect(await ids('?active=false')).toEqual([b._id])
  expect((await listing.call('GET', '/resellers?active=maybe')).status).toBe(400)
  const paged = await listing.call('GET', '/resellers?limit=1&page=2')
  expect(paged.json.data.resellers.map((reseller: { _id: string }) => reseller._id)).toEqual([a._id])
  expect(paged.json.data.pagination).toEqual({ page: 2, limit: 1, total: 2, pages: 2 })
  expect((await owner.call('GET', `/resellers?app=${one._id}`)).status).toBe(404)
  expect(await ids(`?search=${a.email.slice(2, -6).toUpperCase()}`)).toEqual([a._id])
  expect(await ids('?search=nobody')).toEqual([])
  expect(await ids('?search=%25')).toEqual([])
  await a.call('POST', '/licenses', { count: 3, expiresAt: on.clock.inDays(3) })
  for (const query of ['', '?limit=1', '?search=nobody', '?active=false', `?app=${two._id}`]) {
    const { stats } = (await listing.call('GET', `/resellers${query}`)).json.data
    expect(stats).toEqual({ total: 2, active: 1, licenses: 3 })
  }
  const { pagination } = (await listing.call('GET', '/resellers?search=nobody')).json.data
  expect(pagination).toEqual({ page: 1, limit: 200, total: 0, pages: 0 })
  expect((await listing.call('GET', '/resellers?limit=201')).status).toBe(400)
})

test('a limit below the existing count leaves zero remaining, never less', async () => {
  const reseller = await makeReseller(on, owner, app, 5)
  await reseller.call('POST', '/licenses', { count: 3, expiresAt: on.clock.inDays(9) })
  const { status, json } = await owner.call('PUT', `/resellers/${reseller._id}`, { licenseLimit: 0 })
  expect(status).toBe(200)
  expect(json.data.reseller).toMatchObject({
    allowed_license_keys: 0,
    created_licenses: 3,
    remaining_licenses: 0,
  })
  for (const body of [{ licenseLimit: -1 }, { licenseLimit: 10_001 }, {}, { email: 'x@example.com' }]) {
    expect((await owner.call('PUT', `/resellers/${reseller._id}`, body)).status).toBe(400)
  }
})

test('suspending ends the sessions, rejects sign-in like an unknown account, and is reversible', async () => {
  const reseller = await makeReseller(on, owner, app)
  const credentials = { email: reseller.email, password: reseller.password }
  const signIn = () => on.call('POST', '/resellers/auth/login', { body: credentials })
  const suspends = await Promise.all(
    [1, 2].map(() => owner.call('PUT', `/resellers/${reseller._id}`, { active: false })),
  )
  expect(suspends.map((answer) => [answer.status, answer.json.data.reseller.active])).toEqual([
    [200, false],
    [200, false],
  ])
  expect((await reseller.call('GET', '/profile')).status).toBe(401)
  const refused = await signIn()
  const unknown = await on.call('POST', '/resellers/auth/login', {
    body: { ...credentials, email: 'nobody@example.com' },
  })
  expect(refused.status).toBe(401)
  expect(refused.raw).toEqual(unknown.raw)
  await owner.call('PUT', `/resellers/${reseller._id}`, { active: true })
  expect((await reseller.call('GET', '/profile')).status).toBe(401)
  expect((await signIn()).status).toBe(200)
})

test('no session survives a suspension concurrent with sign-ins', async () => {
  const reseller = await makeReseller(on, owner, app)
  const credentials = { email: reseller.email, password: reseller.password }
  const [, ...signIns] = await Promise.all([
    owner.call('PUT', `/resellers/${reseller._id}`, { active: false }),
    ...Array.from({ length: 6 }, () => on.call('POST', '/resellers/auth/login', { body: credentials })),
  ])
  for (const { status, json } of signIns) {
    if (status !== 200) continue
    expect((await on.call('GET', '/resellers/auth/profile', { token: json.data.token })).status).toBe(401)
  }
  const left = await on.database.db
    .selectFrom('reseller_sessions')
    .select('id')
    .where('reseller_id', '=', reseller._id)
    .execute()
  expect(left).toEqual([])
})

test('deleting a reseller ends its sessions and keeps its licenses and end users', async () => {
  const reseller = await makeReseller(on, owner, app)
  const { json } = await reseller.call('POST', '/licenses', { count: 2, expiresAt: on.clock.inDays(9) })
  const [first] = json.data.licenses
  expect((await owner.call('GET', `/licenses?search=${first.key}`)).json.data.licenses[0].reseller).toEqual({
    _id: reseller._id,
    email: reseller.email,
  })
  const removed = await owner.call('DELETE', `/resellers/${reseller._id}`)
  expect([removed.status, removed.json.message]).toEqual([200, 'Reseller has been permanently deleted.'])
  expect((await reseller.call('GET', '/profile')).status).toBe(401)
  const { licenses } = (await owner.call('GET', `/licenses?search=${first.key}`)).json.data
  expect(licenses).toMatchObject([{ _id: first._id, reseller: null, status: 'unused' }])
  expect((await owner.call('DELETE', `/resellers/${reseller._id}`)).status).toBe(404)
})

test("treats another owner's reseller like a missing one", async () => {
  const reseller = await makeReseller(on, owner, app)
  const other = await signUp(on)
  for (const [method, body] of [
    ['PUT', { active: false }],
    ['DELETE', undefined],
  ] as const) {
    const foreign = await other.call(method, `/resellers/${reseller._id}`, body)
    const missing = await other.call(method, '/resellers/res_0', body)
    expect([foreign.status, foreign.raw]).toEqual([404, missing.raw])
  }
  expect((await reseller.call('GET', '/profile')).status).toBe(200)
})

test('tokens of owners, resellers and programs work only for their own endpoints', async () => {
  const reseller = await makeReseller(on, owner, app)
  const { program } = await registerUser(on, owner, app, 'doorkeeper')
  const status = async (path: string, token: string) => (await on.call('GET', path, { token })).status
  expect(await status('/resellers', reseller.token)).toBe(401)
  expect(await status('/resellers/dashboard/data', reseller.token)).toBe(401)
  expect(await status('/resellers/dashboard/data', owner.token)).toBe(200)
  expect(await status('/resellers/auth/profile', owner.token)).toBe(401)
  expect(await status('/resellers/auth/profile', program.session)).toBe(401)
})

test('the owner keeps all licenses of a deleted reseller, also thousands', async () => {
  const resoldApp = await makeApp(owner)
  const [gone, other] = [await makeReseller(on, owner, resoldApp), await makeReseller(on, owner, resoldApp)]
  for (const [reseller, licenses] of [
    [gone, 1500],
    [other, 3],
  ] as const) {
    const made = Array.from({ length: licenses }, (_, at) => ({
      id: `lic_${reseller._id}_${at}`,
      owner_id: owner.id,
      app_id: resoldApp._id,
      reseller_id: reseller._id,
      key: `${reseller._id}-${at}`,
      key_normalized: `${reseller._id}${at}`.toUpperCase(),
      expires_at: 4_000_000_000_000,
      created_at: 1,
    }))
    while (made.length > 0) {
      await on.database.db.insertInto('licenses').values(made.splice(0, 500)).execute()
    }
  }
  const deleting = owner.call('DELETE', `/resellers/${gone._id}`)
  const { status } = await deleting
  expect(status).toBe(200)
  expect((await gone.call('GET', '/licenses')).status).toBe(401)
  expect((await owner.call('GET', `/licenses?app=${resoldApp._id}`)).json.data.pagination.total).toBe(1503)
  const { resellers } = (await owner.call('GET', `/resellers?app=${resoldApp._id}`)).json.data
  expect(resellers).toMatchObject([{ _id: other._id, created_licenses: 3 }])
  const kept = await on.database.db
    .selectFrom('licenses')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('app_id', '=', resoldApp._id)
    .where('reseller_id', 'is not', null)
    .executeTakeFirstOrThrow()
  expect(Number(kept.n)).toBe(3)
})

test('a reseller whose licenses are being released can sign in and sell no more', async () => {
  const resoldApp = await makeApp(owner)
  const reseller = await makeReseller(on, owner, resoldApp, 10_000)
  await on.database.db
    .updateTable('resellers')
    .set({ license_count: 101 })
    .where('id', '=', reseller._id)
    .execute()
  const answers = await Promise.all([
    owner.call('DELETE', `/resellers/${reseller._id}`),
    ...Array.from({ length: 20 }, () => reseller.call('POST', '/licenses', { expiresAt: '2036-01-01' })),
  ])
  expect(answers[0]?.status).toBe(200)
  const left = await on.database.db
    .selectFrom('licenses')
    .select('reseller_id')
    .where('app_id', '=', resoldApp._id)
    .execute()
  expect(left.every((license) => license.reseller_id === null)).toBe(true)
  expect((await on.call('POST', '/resellers/auth/login', { body: reseller })).status).toBe(400)
})
