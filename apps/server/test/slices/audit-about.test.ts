import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { toOwnerActor } from '../../src/core/actor.ts'
import { day } from '../../src/core/clock.ts'
import { newId } from '../../src/core/ids.ts'
import { migrate } from '../../src/db/migrate.ts'
import { migrations } from '../../src/db/migrations/index.ts'
import { openDatabase } from '../../src/db/open.ts'
import { linkObjects } from '../../src/db/record-rows.ts'
import { transact } from '../../src/db/transact.ts'
import { tidyAudit } from '../../src/modules/audit/audit.retention.ts'
import { listRecords } from '../../src/modules/audit/audit.service.ts'
import { modules } from '../../src/modules/index.ts'
import { makeApp, makeLicenses, type Owner, registerUser, single } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { appForEach, premiumOwnerForAll, serverForAll, tidyUp } from '../fixtures.ts'
import { ctxOf, makePostgresDatabase } from '../harness.ts'
import { addMember } from '../member-actor.ts'
import { makeReseller } from '../reseller-actor.ts'
import { makeShop, makeType, orderOnce, sell } from '../shop-actor.ts'
import { paid } from '../shop-events.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)
const other = premiumOwnerForAll(on)

type Caller = Pick<Owner, 'call'>
interface Listed {
  action: string
  actor: { kind: string; name: string | null }
  subject: { name: string | null; deleted: boolean } | null
  detail: Record<string, unknown>
}
async function about(id: string, by: Caller = owner, more = ''): Promise<Listed[]> {
  const { status, json } = await by.call('GET', `/audit?about=${id}${more}`)
  expect(status).toBe(200)
  expect(json.data.pagination.total).toBe(json.data.records.length)
  return json.data.records
}
const actionsAbout = async (...call: Parameters<typeof about>) =>
  (await about(...call)).map(({ action }) => action)
const change = (path: string, change: object) => {
  on.clock.advance(1)
  return owner.call('POST', path, change)
}
/** How many objects records are linked to. */
const linksOf = async (db = on.database.db) => {
  const [indexed, listed] = [
    await db.selectFrom('audit_objects').selectAll().execute(),
    isPostgres ? [] : await db.selectFrom('audit_lists').selectAll().execute(),
  ]
  return { indexed: indexed.length, listed: listed.length }
}
const isPostgres = process.env.TEST_DATABASE === 'postgres'

for (const isLinked of [false, true]) {
  test(`each of many licenses tells of its changes with others alone${isLinked ? ', from the index' : ''}`, async () => {
    const made = await makeLicenses(on, owner, app, 60)
    const ids = made.map(({ _id }) => _id)
    const [first = '', second = '', last = ''] = [ids[0], ids[1], ids.at(-1)]
    expect((await change('/licenses/bulk', { action: 'extend', ids, days: 3 })).status).toBe(200)
    const banned = await change('/licenses/bulk', { action: 'ban', ids: ids.slice(1) })
    await change('/licenses/bulk/undo', { undo: banned.json.data.undo })
    await change('/licenses/bulk', { action: 'delete', ids: [last] })
    if (isLinked) await tidyUp(on)
    const generated = ['licenses.extended', 'licenses.created']
    expect(await actionsAbout(first)).toEqual(generated)
    const both = ['licenses.unbanned', 'licenses.banned', ...generated]
    expect(await actionsAbout(second)).toEqual(both)
    expect(await actionsAbout(last)).toEqual(['licenses.deleted', ...both])
    expect(await actionsAbout(second, owner, '&action=licenses.banned')).toEqual(['licenses.banned'])
    expect(await actionsAbout(second, owner, '&search=unbanned')).toEqual(['licenses.unbanned'])
    const exported = await owner.call('GET', `/audit/export?about=${second}`)
    expect(exported.raw.toString().trim().split('\r\n')).toHaveLength(1 + both.length)
  })
}

test('pages what it tells of one object, and counts each record once', async () => {
  const license = single(await makeLicenses(on, owner, app))
  for (let times = 0; times < 4; times += 1) {
    await change('/licenses/bulk', { action: 'extend', ids: [license._id], days: 1 })
    await owner.call('PUT', `/licenses/${license._id}`, { note: `note ${times}` })
  }
  const page = async (at: number) =>
    (await owner.call('GET', `/audit?about=${license._id}&limit=4&page=${at}`)).json.data
  const pages = [await page(1), await page(2), await page(3)]
  expect(pages[0].pagination).toEqual({ page: 1, limit: 4, total: 9, pages: 3 })
  const seen = pages.flatMap(({ records }) => records.map(({ _id }: { _id: string }) => _id))
  expect([seen.length, new Set(seen).size]).toEqual([9, 9])
})

test('a license tells of its end user, an end user of its licenses, also once one of them is deleted', async () => {
  const { user, license } = await registerUser(on, owner, app, 'frodo')
  const { license: unused } = await registerUser(on, owner, app, 'sam')
  await change('/clients/bulk', { action: 'ban', ids: [user._id] })
  await change('/licenses/bulk', { action: 'extend', ids: [license._id], days: 2 })
  const shared = ['licenses.extended', 'end_users.banned', 'end_user.registered', 'licenses.created']
  expect(await actionsAbout(license._id)).toEqual(shared)
  expect(await actionsAbout(user._id)).toEqual(shared)
  expect(await actionsAbout(unused._id)).not.toContain('end_users.banned')
  const auditor = await makeApiKey(on, owner, { permissions: ['audit:read', 'licenses:read'] })
  expect(await actionsAbout(license._id, auditor)).toEqual(['licenses.extended', 'licenses.created'])
  on.clock.advance(1)
  await owner.call('DELETE', `/clients/${user._id}`)
  expect((await actionsAbout(license._id))[0]).toBe('end_user.deleted')
  expect((await actionsAbout(user._id))[0]).toBe('end_user.deleted')

  const { user: merry, license: theirs } = await registerUser(on, owner, app, 'merry')
  const { user: pippin, license: his } = await registerUser(on, owner, app, 'pippin')
  on.clock.advance(1)
  await owner.call('DELETE', `/licenses/${theirs._id}`)
  expect((await actionsAbout(merry._id))[0]).toBe('license.deleted')
  await change('/clients/bulk', { action: 'delete', ids: [merry._id, pippin._id] })
  expect((await actionsAbout(his._id))[0]).toBe('end_users.deleted')
  const { user: bilbo, license: ring } = await registerUser(on, owner, app, 'bilbo')
  await change('/licenses/bulk', { action: 'delete', ids: [ring._id] })
  expect((await actionsAbout(bilbo._id))[0]).toBe('licenses.deleted')
})

test('the first record of a license is who generated it, whoever it was and however many there are', async () => {
  const reseller = await makeReseller(on, owner, app, 400)
  const key = await makeApiKey(on, owner, { name: 'Shop', permissions: ['licenses:write'] })
  const member = await addMember(on, owner, { role: 'manager' })
  const expiresAt = on.clock.inDays(30)
  const forApp = { app: app._id, expiresAt }
  const last = ({ json }: { json: { data: { licenses: { _id: string }[] } } }) =>
    json.data.licenses.at(-1)?._id as string
  const made = {
    owner: last(await owner.call('POST', '/licenses', { ...forApp, count: 100 })),
    api_key: last(await key.call('POST', '/licenses', { ...forApp, count: 100 })),
    member: last(await member.call('POST', '/licenses', { ...forApp, count: 100 })),
    reseller: last(await reseller.call('POST', '/licenses', { count: 301, expiresAt })),
  }
  for (const [kind, id] of Object.entries(made)) {
    const [record] = await about(id)
    expect(record).toMatchObject({ action: 'licenses.created', actor: { kind } })
    expect(record?.actor.name).toEqual(expect.any(String))
  }
  const behalf = await owner.call('POST', '/licenses', { ...forApp, reseller: reseller._id, count: 2 })
  expect(await about(last(behalf))).toMatchObject([{ actor: { kind: 'owner' } }])
  expect(await about(reseller._id, owner, '&action=licenses.created')).toMatchObject([
    { actor: { kind: 'owner' }, detail: { resellerId: reseller._id } },
    { actor: { kind: 'reseller', name: reseller.email } },
  ])
})

test('a license of an order, and its customer, tell of the order', async () => {
  const type = await makeType(owner, app._id)
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type }])
  await sell(on, shop, paid('1001'))
  const order = await orderOnce(owner, '1001', { state: 'fulfilled' })
  const records = await about(order.licenses[0]._id)
  expect(records).toMatchObject([
    { action: 'shop_order.fulfilled', subject: { name: '1001' } },
    { action: 'licenses.created', actor: { kind: 'shop', name: expect.any(String) } },
  ])
  expect(await actionsAbout(order.customer)).toContain('shop_order.fulfilled')
})

test('an app tells of its shops, and not of their orders', async () => {
  const shop = await makeShop(owner, app._id)
  await owner.call('PUT', `/shops/${shop._id}`, { name: 'Renamed' })
  await sell(on, shop, paid('1002'))
  await orderOnce(owner, '1002', { state: 'waiting' })
  await owner.call('DELETE', `/shops/${shop._id}`)
  expect(await actionsAbout(app._id)).toEqual(['shop.deleted', 'shop.updated', 'shop.created', 'app.created'])
})

test('housekeeping adds a bounded number of objects at a time, and each once', async () => {
  await tidyUp(on)
  const many = await makeReseller(on, owner, app, 300)
  const expiresAt = on.clock.inDays(30)
  for (let batch = 0; batch < 3; batch += 1) await many.call('POST', '/licenses', { count: 100, expiresAt })
  const { indexed } = await linksOf()
  const link = () => transact(on.database.db, (tx) => linkObjects(tx, 100))
  const linked = [await link(), await link(), await link(), await link()]
  expect(linked).toEqual(isPostgres ? [0, 0, 0, 0] : [100, 100, 100, 0])
  expect((await linksOf()).indexed - indexed).toBe(isPostgres ? 0 : 300)
})

test('an id of another vendor answers like a missing one, and a member with some apps sees only these', async () => {
  const second = await makeApp(owner, 'Borealis')
  const mine = single(await makeLicenses(on, owner, app))
  const theirs = single(await makeLicenses(on, owner, second))
  const ids = [mine._id, theirs._id]
  await change('/licenses/bulk', { action: 'extend', ids, days: 3 })
  const { user } = await registerUser(on, owner, second, 'frodo')
  for (const id of [...ids, user._id, owner.accountId, 'lic_none', 'usr_none', 'x']) {
    expect(await actionsAbout(id, other)).toEqual([])
  }
  const member = await addMember(on, owner, { role: 'viewer', apps: [app._id] })
  expect(await actionsAbout(mine._id, member)).toEqual(['licenses.extended', 'licenses.created'])
  for (const id of [theirs._id, user._id]) expect(await actionsAbout(id, member)).toEqual([])
  const key = await makeApiKey(on, owner, { permissions: ['audit:read'] })
  for (const { detail } of await about(mine._id, key)) expect(detail).toBeNull()
})

test('a deleted license is named by the beginning of its key, a deleted reseller by its address', async () => {
  const license = single(await makeLicenses(on, owner, app))
  await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`, { is_banned: true })
  const reseller = await makeReseller(on, owner, app)
  await reseller.call('POST', '/licenses', { count: 1, expiresAt: on.clock.inDays(9) })
  expect((await about(license._id))[0]?.subject).toMatchObject({ name: license.key, deleted: false })
  await owner.call('DELETE', `/licenses/${license._id}`)
  await owner.call('DELETE', `/resellers/${reseller._id}`)
  const hint = license.key.slice(0, 11)
  const records = await about(license._id)
  const ofLicense = records.filter(({ action }) => action.startsWith('license.'))
  expect(ofLicense).toHaveLength(2)
  for (const { subject } of ofLicense) expect(subject).toMatchObject({ name: `${hint}…`, deleted: true })
  expect(JSON.stringify(records)).not.toContain(license.key.slice(0, 12))
  const [generated] = await about(reseller._id, owner, '&action=licenses.created')
  expect(generated?.actor).toMatchObject({ kind: 'reseller', name: reseller.email })
  const auditor = await makeApiKey(on, owner, { permissions: ['audit:read'] })
  for (const id of [license._id, reseller._id]) {
    const seen = JSON.stringify(await about(id, auditor))
    expect(seen).not.toContain(hint)
    expect(seen).not.toContain(reseller.email)
  }
})

test('no hint is more than half of a key', async () => {
  await owner.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
  const { json } = await owner.call('POST', '/licenses', { app: app._id, key: 'SHORTKEY', expiresAt: null })
  await owner.call('DELETE', `/licenses/${json.data.license._id}`)
  const records = await about(json.data.license._id, owner, '&action=license.deleted')
  expect(records).toMatchObject([{ detail: { used: false, hint: 'SHOR' } }])
})

test('a person who left keeps its name, and a deleted end user is named nowhere', async () => {
  const member = await addMember(on, owner, { role: 'manager' })
  const { license } = (await member.call('POST', '/licenses', { app: app._id, expiresAt: null })).json.data
  const { members } = (await owner.call('GET', '/members')).json.data
  const membership = members.find(({ email }: { email: string }) => email === member.email)
  await owner.call('DELETE', `/members/${membership._id}`)
  expect(await about(license._id)).toMatchObject([{ actor: { kind: 'member', name: 'Grace' } }])
  const { user } = await registerUser(on, owner, app, 'Peregrin')
  await owner.call('DELETE', `/clients/${user._id}`)
  expect(JSON.stringify(await about(user._id))).not.toContain('Peregrin')
})

test('what links objects to a record is deleted with it', async () => {
  const ctx = ctxOf(on)
  const none = { indexed: 0, listed: 0 }
  await tidyUp(on)
  await on.database.db.deleteFrom('audit').execute()
  expect(await linksOf()).toEqual(none)
  const [old, young] = await makeLicenses(on, owner, app, 2)
  await sql`update audit set created_at = created_at - ${31 * day}`.execute(on.database.db)
  await change('/licenses/bulk', { action: 'ban', ids: [young?._id] })
  await tidyAudit({ ...ctx, config: { ...ctx.config, auditDays: 30 } })
  expect(await linksOf()).toEqual({ indexed: 1, listed: isPostgres ? 0 : 1 })
  expect(await actionsAbout(old?._id ?? '')).toEqual([])
  expect(await actionsAbout(young?._id ?? '')).toEqual(['licenses.banned'])
  await makeLicenses(on, owner, app, 2)
  await on.database.db.deleteFrom('audit').where('owner_id', '=', owner.id).execute()
  expect(await linksOf()).toEqual(none)
})

test('records of an earlier version show as they did, and new ones beside them', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-audit-'))
  const url = isPostgres ? await makePostgresDatabase() : undefined
  const database = openDatabase({ url, dataDir })
  const { db } = database
  const before = migrations.findIndex(({ name }) => name === '0054-audit-objects')
  await migrate(database, migrations.slice(0, before), { now: 1 })
  await sql`insert into accounts (id, name, email, email_normalized, password_hash, created_at)
    values ('acc_1', 'Ada', 'a@b.c', 'a@b.c', 'x', 1)`.execute(db)
  await sql`insert into owners (id, account_id, name, created_at) values ('own_1', 'acc_1', '', 1)`.execute(
    db,
  )
  const rows = [
    ['license.deleted', 'lic_1', '{"used":false}'],
    ['license.banned', 'lic_1', '{}'],
    ['licenses.extended', null, '{"ids":["lic_1"],"days":3}'],
  ]
  for (const [action, target, detail] of rows) {
    await sql`insert into audit (id, owner_id, actor_kind, actor_id, action, target_id, detail, created_at)
      values (${newId('aud')}, 'own_1', 'owner', 'acc_1', ${action}, ${target}, ${detail}, 1)`.execute(db)
  }
  await migrate(database, migrations, { now: 2 })
  const actor = toOwnerActor({
    accountId: 'acc_1',
    ownerId: 'own_1',
    sessionId: 'ses_1',
    address: '127.0.0.1',
  })
  const ctx = { ...ctxOf(on), database, db }
  const list = async (query: object) =>
    (await listRecords({ ctx, modules }, actor, { page: 1, limit: 50, ...query })).records.map(
      ({ action, subject }) => [action, subject?.name ?? null],
    )
  expect(await list({})).toHaveLength(3)
  const old = [
    ['license.banned', null],
    ['license.deleted', null],
  ]
  expect(await list({ subject: 'lic_1' })).toEqual(old)
  expect(await list({ about: 'lic_1' })).toEqual(old)
  const link = isPostgres
    ? sql`insert into audit_objects (seq, object_id) select seq, 'lic_1'`
    : sql`insert into audit_lists (seq, objects) select seq, '["lic_1"]'`
  await sql`${link} from audit where action = 'licenses.extended'`.execute(db)
  expect(await list({ about: 'lic_1' })).toEqual([['licenses.extended', null], ...old])
  await sql`delete from owners`.execute(db)
  expect(await linksOf(db)).toEqual({ indexed: 0, listed: 0 })
  await database.close()
  rmSync(dataDir, { recursive: true })
})
