// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { limits } from '@keyward/contract'
import { expect, test } from 'vitest'
import { allApps } from '../../src/core/actor.ts'
import { day } from '../../src/core/clock.ts'
import { newId } from '../../src/core/ids.ts'
import { countFound, toWalk } from '../../src/db/lists/records.ts'
import { tidyAudit } from '../../src/modules/audit/audit.retention.ts'
import { makeApp, makeLicenses, type Owner, refusal, registerUser, single, wrongFields } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { appForEach, ownerForEach, premiumOwnerForAll, serverForAll, tidyUp } from '../fixtures.ts'
import { ctxOf } from '../harness.ts'
import { addMember } from '../member-actor.ts'

const on = serverForAll()
const owner = ownerForEach(on)
const app = appForEach(owner)
const other = premiumOwnerForAll(on)

type Caller = Pick<Owner, 'call'>
const list = async (query = '', by: Caller = owner) => {
  const { status, json } = await by.call('GET', `/audit${query}`)
  expect(status).toBe(200)
  return json.data
}
const actions = async (query = '', by: Caller = owner) =>
  (await list(query, by)).records.map(({ action }: { action: string }) => action)
const searched = (text: string, by: Caller = owner) => actions(`?search=${encodeURIComponent(text)}`, by)
const one = async (query: string, by: Caller = owner) => single((await list(query, by)).records) as never
const ban = (license: { _id: string }, reason: string) =>
  owner.call('PATCH', `/licenses/${license._id}/toggle-ban`, { is_banned: true, reason })

/** Records as a transaction would store them. */
async function insert(by: { id: string }, count: number, record: object): Promise<void> {
  const rows = Array.from({ length: count }, (_, at) => ({
    ...{ id: newId('aud'), owner_id: by.id, actor_kind: 'owner', actor_id: 'acc_1', address: '198.51.100.7' },
    ...{ action: 'license.banned', target_id: `lic_${at}`, detail: '{}', created_at: on.clock.now() - at },
    ...record,
  }))
  while (rows.length > 0) {
    await on.database.db.insertInto('audit').values(rows.splice(0, 500)).execute()
  }
}

test('tells who did what to which object, from where, newest first', async () => {
  const license = single(await makeLicenses(on, owner, app))
  on.clock.advance(1)
  await ban(license, 'chargeback')
  const { records } = await list()
  expect(records.map(({ action }: { action: string }) => action)).toEqual([
    'license.banned',
    'licenses.created',
    'app.created',
    'owner.registered',
  ])
  expect(records[0]).toEqual({
    _id: expect.stringMatching(/^aud_/),
    at: on.clock.inDays(0),
    actor: { kind: 'owner', _id: expect.stringMatching(/^acc_/), name: expect.any(String) },
    action: 'license.banned',
    subject: { kind: 'license', _id: license._id, name: license.key, deleted: false },
    app: { _id: app._id, name: app.name, appId: app.appId },
    address: '127.0.0.1',
    detail: { reason: 'chargeback' },
  })
})

test('names programs, API keys and resellers as actors', async () => {
  await registerUser(on, owner, app, 'frodo')
  const key = await makeApiKey(on, owner, { name: 'Build server', permissions: ['licenses:write'] })
  await key.call('POST', '/licenses', { app: app._id, expiresAt: on.clock.inDays(1) })
  expect(await one('?action=end_user.registered')).toMatchObject({
    actor: { kind: 'program', _id: app._id, name: app.name },
    subject: { kind: 'end_user', name: 'frodo' },
  })
  const [made] = (await list('?action=licenses.created')).records
  expect(made).toMatchObject({
    actor: { kind: 'api_key', name: 'Build server' },
    subject: { kind: 'app', _id: app._id, name: app.name },
  })
  expect(await searched('build server')).toEqual(['licenses.created', 'api_key.created'])
})

test('a deleted object keeps the name that the detail has, and no other', async () => {
  const license = single(await makeLicenses(on, owner, app))
  await owner.call('DELETE', `/licenses/${license._id}`)
  const name = `${license.key.slice(0, 11)}…`
  expect(await one('?action=license.deleted')).toMatchObject({ subject: { _id: license._id, name } })
  await owner.call('DELETE', `/apps/${app._id}`)
  expect(await one('?action=app.deleted')).toMatchObject({
    subject: { kind: 'app', name: app.name },
    app: null,
  })
})

test('filters by actor, action, subject, app and time, and pages', async () => {
  const second = await makeApp(owner, 'Borealis')
  const [license] = await makeLicenses(on, owner, app, 2)
  await makeLicenses(on, owner, second)
  const { records } = await list()
  const { _id: actor } = records[0].actor
  expect(await actions(`?actor=${actor}`)).toHaveLength(5)
  expect(await actions('?actor=acc_none')).toEqual([])
  expect(await actions('?action=licenses.created')).toHaveLength(2)
  expect(await actions(`?action=licenses.created&app=${second.appId}&actor=${actor}`)).toHaveLength(1)
  expect(await actions(`?subject=${app._id}`)).toEqual(['licenses.created', 'app.created'])
  expect(await actions(`?subject=${license?._id}`)).toEqual([])
  const today = on.clock.inDays(0).slice(0, 10)
  expect(await actions(`?from=${today}&to=${today}&action=app.created`)).toHaveLength(2)
  expect(await actions(`?from=${on.clock.inDays(1)}`)).toEqual([])
  expect(await actions(`?to=${on.clock.inDays(-1)}`)).toEqual([])
  const page = await list('?page=2&limit=3')
  expect([page.records.length, page.pagination]).toEqual([2, { page: 2, limit: 3, total: 5, pages: 2 }])
  expect(wrongFields(await owner.call('GET', '/audit?action=nonsense'))).toEqual(['action'])
  expect(wrongFields(await owner.call('GET', `/audit?search=${'a'.repeat(101)}`))).toEqual(['search'])
  expect(refusal(await other.call('GET', `/audit?app=${app._id}`))).toBe('not_found')
})

test('each record is of people or of programs, however many there are', async () => {
  const none = { action: 'end_user.registered', target_id: null }
  const ids = ['acc_1', 'own_1', 'res_1', 'cus_1', 'lic_1', 'usr_1', 'anonymous', 'command line']
  for (const id of ids) await insert(owner, 1, { ...none, actor_id: id })
  for (const id of ['app_1', 'key_1', 'shp_1', 'server', 'razorpay']) {
    await insert(owner, 1, { ...none, actor_kind: 'program', actor_id: id })
  }
  const idsOf = async (query: string) =>
    (await list(query)).records.map(({ actor }: { actor: { _id: string } }) => actor._id).sort()
  expect(await idsOf(`?actor=people&action=${none.action}`)).toEqual(ids.toSorted())
  const programs = ['app_1', 'key_1', 'razorpay', 'server', 'shp_1']
  expect(await idsOf('?actor=programs')).toEqual(programs)
  expect(await idsOf('?actor=programs&search=registered')).toEqual(programs)
  expect(await actions('?actor=people&search=app%20created')).toEqual(['app.created'])
  expect(await actions(`?actor=people&app=${app._id}`)).toEqual(['app.created'])
  expect(await actions(`?actor=programs&app=${app._id}`)).toEqual([])
  const walk = await toWalk(on.database, { scope: allApps(owner.id), actors: 'people' }, { mostOfPeople: 1 })
  expect(await countFound(on.database, walk({ count: 100 }))).toBe(
    (await list('?actor=people')).pagination.total,
  )
})

const makePremium = () =>
  on.database.db
    .updateTable('owners')
    .set({ premium_until: on.clock.now() + 9 * day })
    .where('id', '=', owner.id)
    .execute()

test('tells the changes of an app apart from those of its licenses', async () => {
  await makePremium()
  const second = await makeApp(owner, 'Borealis')
  const license = single(await makeLicenses(on, owner, app))
  await ban(license, 'refund')
  const { json } = await owner.call('POST', `/apps/${app._id}/license-types`, {
    name: 'Pro',
    term: 'forever',
  })
  await owner.call('DELETE', `/license-types/${json.data.licenseType._id}`)
  await owner.call('POST', `/apps/${app._id}/releases`, {
    version: '2.0.0',
    releasedAt: on.clock.inDays(0),
  })
  await owner.call('PUT', `/apps/${second._id}`, { paused: true })
  const ofApp = [
    'app.updated',
    'release.added',
    'license_type.deleted',
    'license_type.created',
    'app.created',
  ]
  expect(await actions(`?about=${app._id}`)).toEqual(ofApp)
  expect(await actions(`?about=${second._id}`)).toEqual(['app.updated', 'app.created'])
  expect(await actions(`?about=${app._id}&action=license.banned`)).toEqual([])
  expect(await actions(`?about=${app._id}&action=release.added`)).toEqual(['release.added'])
  expect(await actions(`?about=${app._id}&subject=${app._id}`)).toEqual(['app.updated', 'app.created'])
  expect(await actions(`?about=${app._id}&search=pro`)).toEqual([
    'license_type.deleted',
    'license_type.created',
  ])
  expect((await other.call('GET', `/audit?about=${app._id}`)).status).toBe(404)
  const member = await addMember(on, owner, { role: 'viewer', apps: [second._id] })
  expect(await actions(`?about=${second._id}`, member)).toEqual(['app.updated', 'app.created'])
  expect((await member.call('GET', `/audit?about=${app._id}`)).status).toBe(404)
  const page = await list(`?about=${app._id}&limit=2&page=2`)
  expect([page.records.length, page.pagination]).toEqual([2, { page: 2, limit: 2, total: 5, pages: 3 }])
  const both = await owner.call('GET', `/audit?about=${app._id}&app=${second._id}`)
  expect(wrongFields(both)).toEqual(['app'])
})

test('never shows records of other vendors, or those without one', async () => {
  const license = single(await makeLicenses(on, owner, app))
  await insert({ id: null as never }, 1, { actor_kind: 'operator', detail: '{"note":"of nobody"}' })
  for (const query of [`?subject=${license._id}`, `?subject=${app._id}`, `?search=${license.key}`]) {
    expect(await actions(query, other)).toEqual([])
  }
  expect(await searched('of nobody')).toEqual([])
  expect(await searched(app.name, other)).toEqual([])
})

test('a member with some apps sees records of these apps only, in lists, searches and exports', async () => {
  await makePremium()
  const second = await makeApp(owner, 'Borealis')
  const [mine] = await makeLicenses(on, owner, app)
  const [theirs] = await makeLicenses(on, owner, second)
  await ban(mine as never, 'refund')
  await ban(theirs as never, 'refund')
  const member = await addMember(on, owner, { role: 'viewer', apps: [app._id] })
  const seen = ['license.banned', 'licenses.created', 'app.created']
  expect(await actions('', member)).toEqual(seen)
  expect(await searched('refund', member)).toEqual(['license.banned'])
  expect(await searched(theirs?.key ?? '', member)).toEqual([])
  expect(await actions(`?subject=${theirs?._id}`, member)).toEqual([])
  expect(await actions('?action=license.banned', member)).toEqual(['license.banned'])
  const { raw } = await member.call('GET', '/audit/export')
  expect(raw.toString()).not.toContain('Borealis')
  expect(raw.toString().trim().split('\r\n')).toHaveLength(1 + seen.length)
  expect(refusal(await member.call('GET', `/audit?app=${second._id}`))).toBe('not_found')
  const none = await addMember(on, owner, { role: 'support', apps: [app._id] })
  expect(refusal(await none.call('GET', '/audit'))).toBe('permission_missing')
})

test('withholds what the caller may not read, and does not find it', async () => {
  const manager = await addMember(on, owner, { role: 'manager' })
  await owner.call('POST', '/members', { email: 'secret.person@example.com', role: 'viewer' })
  await insert(owner, 1, { action: 'plan.paid', target_id: 'pay_1', detail: '{"orderId":"ord_hidden"}' })
  const [paid] = (await list('?action=plan.paid', manager)).records
  expect(paid).toMatchObject({ subject: { kind: 'payment', name: null }, detail: null })
  const invited = (await list('?action=member.invited', manager)).records
  for (const record of invited) expect(record).toMatchObject({ subject: { name: null }, detail: null })
  expect(await searched('ord_hidden', manager)).toEqual([])
  expect(await searched('secret.person', manager)).toEqual([])
  expect(await searched('ord_hidden')).toEqual(['plan.paid'])
  expect(await searched('secret.person')).toEqual(['member.invited'])
  const key = await makeApiKey(on, owner, { permissions: ['audit:read'] })
  const license = single(await makeLicenses(on, owner, app))
  await ban(license, 'hidden reason')
  expect(await one('?action=license.banned', key)).toMatchObject({
    subject: { _id: license._id, name: null },
    detail: null,
  })
  expect(await searched('hidden reason', key)).toEqual([])
  expect(await searched(license.key, key)).toEqual([])
  const { raw } = await key.call('GET', '/audit/export')
  for (const secret of ['hidden reason', license.key, 'secret.person']) {
    expect(raw.toString()).not.toContain(secret)
  }
})

test("hides people's addresses from members without members:read, but for one's own", async () => {
  await on.database.db.updateTable('accounts').set({ name: '' }).where('id', 'like', 'acc_%').execute()
  const manager = await addMember(on, owner, { role: 'manager' })
  const before = (await list('?action=app.created', manager)).records[0].actor
  expect(before).toMatchObject({ kind: 'owner', name: null })
  expect((await list('?action=app.created')).records[0].actor.name).toContain('@')
  expect(await one('?action=member.joined')).toMatchObject({ actor: { name: 'Grace' } })
  await manager.call('PUT', '/auth/email', { email: 'new@example.com', password: manager.password })
  expect((await list('?action=owner.email_changed', manager)).records[0].detail).toBeNull()
})

for (const isFull of [false, true]) {
  test(`searches ids, names, addresses, actions and details${isFull ? ' of records in the index' : ''}`, async () => {
    const { user, license } = await registerUser(on, owner, app, 'Zoë_100%')
    const reasons = [
      'He said "stop"',
      'C:\\temp\\x',
      '100% sure_ok',
      "Robert'); drop table audit;--",
      'ÄRGER 東京',
    ]
    for (const reason of reasons) {
      const each = single(await makeLicenses(on, owner, app))
      await ban(each, reason)
    }
    if (isFull) await tidyUp(on)
    const banned = ['license.banned']
    for (const reason of reasons) expect(await searched(reason)).toEqual(banned)
    expect(await searched('said "st')).toEqual(banned)
    expect(await searched('ärger')).toEqual(banned)
    expect(await searched('東京')).toEqual([])
    expect(await searched('%%%')).toEqual([])
    expect(await searched('ure_ok')).toEqual(banned)
    expect(await searched('ureXok')).toEqual([])
    expect(await searched(user._id)).toContain('end_user.registered')
    expect(await searched('zoë_100%')).toContain('end_user.registered')
    expect(await searched(license.key)).toContain('end_user.registered')
    expect(await searched('License banned')).toHaveLength(reasons.length)
    expect(await searched('license.banned')).toHaveLength(reasons.length)
    expect(await searched(app.name)).toContain('app.created')
    const { actor, address } = (await list('?action=app.created')).records[0]
    expect(await searched(actor.name)).toContain('app.created')
    expect(await searched(actor._id)).toContain('app.created')
    expect((await searched(address)).length).toBeGreaterThan(5)
    expect(await searched('198.51.100.99')).toEqual([])
  })
}

test('finds records in many others, through their indexes, with every filter', async () => {
  await insert(other, 21_000, { address: '198.51.100.7', detail: '{"reason":"common text"}' })
  const at = on.clock.now() - 30_000
  await insert(other, 2, { actor_id: 'acc_rare', detail: '{"reason":"Needle, rare"}', created_at: at })
  await insert(other, 1, { action: 'block.added', detail: '{"value":"pc-needle"}', created_at: at })
  const total = async (query: string) => (await list(query, other)).pagination.total
  const check = async () => {
    expect(await total('?search=needle')).toBe(3)
    expect(await total('?search=needle&action=block.added')).toBe(1)
    expect(await total('?search=needle&actor=acc_rare')).toBe(2)
    expect(await total(`?search=needle&from=${on.clock.inDays(0)}`)).toBe(0)
    expect(await total('?search=block%20added')).toBe(1)
    expect(await total('?search=acc_rare')).toBe(2)
    expect(await total('?search=lic_20999')).toBe(1)
    const { records, pagination } = await list('?search=common&limit=200&page=50', other)
    expect(pagination).toMatchObject({ total: limits.searchCountMax, capped: true })
    expect(records).toHaveLength(200)
    expect((await list('?search=common&limit=200&page=51', other)).records).toEqual([])
  }
  await check()
  await tidyUp(on)
  await check()
  const last = await list('?limit=200&page=50', other)
  expect(last.records).toHaveLength(200)
  expect(await list('?actor=people&limit=200&page=50', other)).toEqual(last)
  expect((await list('?limit=200&page=51', other)).records).toEqual([])
  const { raw } = await other.call('GET', '/audit/export')
  expect(raw.toString().trim().split('\r\n').length).toBeGreaterThan(21_003)
  expect(wrongFields(await other.call('GET', '/audit/export?search=common'))).toEqual(['search'])
  await on.database.db.deleteFrom('audit').where('owner_id', '=', other.id).execute()
  expect(await total('?search=needle')).toBe(0)
})

test('exports CSV with labels, whose cells no spreadsheet runs', async () => {
  const license = single(await makeLicenses(on, owner, app))
  await ban(license, '=cmd|calc')
  await insert(owner, 1, { actor_id: '=1+1', address: '@evil', created_at: on.clock.now() - 1 })
  const { status, headers, raw } = await owner.call('GET', '/audit/export?action=license.banned')
  expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8'])
  expect(headers['content-disposition']).toMatch(/audit-\d{4}-\d\d-\d\d\.csv/)
  const [header, first, second] = raw.toString().split('\r\n')
  expect(header).toBe(
    'at,actorKind,actor,actorId,what,action,subjectKind,subject,subjectId,app,appId,address,detail,_id',
  )
  expect(first).toContain(`License banned,license.banned,license,${license.key},${license._id},${app.name}`)
  expect(second).toContain(",'=1+1,")
  expect(second).toContain(",'@evil,")
})

test('deletes only what is older than the operator keeps', async () => {
  const ctx = ctxOf(on)
  await insert(owner, 30, { created_at: on.clock.now() - 31 * day, detail: '{"reason":"ancient"}' })
  await insert(owner, 1, { created_at: on.clock.now() - 29 * day, detail: '{"reason":"younger"}' })
  await tidyAudit(ctx)
  expect(await searched('ancient')).toHaveLength(30)
  await tidyAudit({ ...ctx, config: { ...ctx.config, auditDays: 30 } })
  const rest = await on.database.db
    .selectFrom('audit')
    .select('detail')
    .where('created_at', '<', on.clock.now() - 30 * day)
    .execute()
  expect(rest).toEqual([])
  expect(await searched('ancient')).toEqual([])
  expect(await searched('younger')).toEqual(['license.banned'])
})
