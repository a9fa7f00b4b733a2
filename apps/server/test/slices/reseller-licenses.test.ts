// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { makeApp, makePremium, makeType, signUp } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { addMember } from '../member-actor.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)

const generate = (reseller: string, change: object = {}, caller: Pick<typeof owner, 'call'> = owner) =>
  caller.call('POST', '/licenses', { app: app._id, reseller, expiresAt: on.clock.inDays(30), ...change })

const refusalOf = ({ status, json }: Answer) => [status, json.code, json.message]
const quotaOf = async (id: string) =>
  (await owner.call('GET', `/resellers/${id}`)).json.data.reseller.created_licenses as number

test('licenses that an owner generates for a reseller name it, count against its quota and are in its portal', async () => {
  const reseller = await makeReseller(on, owner, app, 3)
  const { status, json } = await generate(reseller._id, { count: 2, note: 'Order 7' })
  expect(status).toBe(201)
  const { licenses } = json.data
  expect(licenses.map((one: { reseller: unknown }) => one.reseller)).toEqual(
    Array(2).fill({ _id: reseller._id, email: reseller.email }),
  )
  expect((await owner.call('GET', `/licenses/${licenses[0]._id}`)).json.data.license).toMatchObject(
    licenses[0],
  )
  const portal = (await reseller.call('GET', '/licenses')).json.data
  expect(portal.stats).toMatchObject({ total: 2, remaining: 1 })
  expect(portal.licenses.map(({ key }: { key: string }) => key).sort()).toEqual(
    licenses.map(({ key }: { key: string }) => key).sort(),
  )
  expect(JSON.stringify(portal)).not.toContain('Order 7')
})

test('the record names the owner who generated them and the reseller', async () => {
  const reseller = await makeReseller(on, owner, app)
  const { license } = (await generate(reseller._id)).json.data
  const { records } = (await owner.call('GET', '/audit?action=licenses.created&limit=1')).json.data
  expect(records[0]).toMatchObject({
    actor: { kind: 'owner', _id: owner.accountId },
    subject: { _id: app._id },
    detail: { count: 1, ids: [license._id], resellerId: reseller._id },
  })
})

test('an owner sells by every term, by types that resellers may not sell, and by keys of its own', async () => {
  await owner.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
  const reseller = await makeReseller(on, owner, app)
  const type = await makeType(owner, app, { name: 'Ours alone', resellable: false })
  for (const term of [
    { type: type._id, expiresAt: undefined },
    { expiresAt: null },
    { expiresAt: undefined, duration: { value: 1, unit: 'months' } },
    { key: 'CHOSEN-KEY-1' },
  ]) {
    expect((await generate(reseller._id, term)).status).toBe(201)
  }
  expect((await reseller.call('GET', '/licenses')).json.data.stats.total).toBe(4)
  const own = await reseller.call('POST', '/licenses', { type: type._id })
  expect(own.status).toBe(404)
})

test('creates all or none within the quota, and says how many fit', async () => {
  const reseller = await makeReseller(on, owner, app, 3)
  const over = await generate(reseller._id, { count: 4 })
  expect(refusalOf(over)).toEqual([
    403,
    'quota_reached',
    "The reseller's quota has room for 3 more license(s)",
  ])
  expect(over.json.errors[0].path).toBe('count')
  expect((await generate(reseller._id, { count: 3 })).status).toBe(201)
  expect(refusalOf(await generate(reseller._id))).toEqual([
    403,
    'quota_reached',
    "The reseller's license quota is used up",
  ])
  expect(await quotaOf(reseller._id)).toBe(3)
})

test('32 concurrent callers, the owner and the reseller, fill a quota and never exceed it', async () => {
  const reseller = await makeReseller(on, owner, app, 20)
  const answers = await Promise.all(
    Array.from({ length: 32 }, (_, at) =>
      at % 2
        ? generate(reseller._id, { count: 3 })
        : reseller.call('POST', '/licenses', { count: 3, expiresAt: on.clock.inDays(30) }),
    ),
  )
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 201)).toHaveLength(6)
  expect(statuses.filter((status) => status === 403)).toHaveLength(26)
  expect(await quotaOf(reseller._id)).toBe(18)
  expect((await reseller.call('GET', '/licenses')).json.data.stats.total).toBe(18)
})

test('generating while a reseller is deleted leaves each license with it or with the owner, and no error', async () => {
  const reseller = await makeReseller(on, owner, app, 1000)
  const [removed, ...made] = await Promise.all([
    owner.call('DELETE', `/resellers/${reseller._id}`),
    ...Array.from({ length: 8 }, () => generate(reseller._id)),
  ])
  expect(removed?.status).toBe(200)
  for (const { status } of made) expect([201, 404, 409]).toContain(status)
  expect((await generate(reseller._id)).status).toBe(404)
})

test('nothing is generated for a suspended reseller until it is resumed', async () => {
  const reseller = await makeReseller(on, owner, app)
  await owner.call('PUT', `/resellers/${reseller._id}`, { active: false })
  expect(refusalOf(await generate(reseller._id))).toEqual([
    409,
    'reseller_suspended',
    'This reseller is suspended. Resume it to generate licenses for it.',
  ])
  await owner.call('PUT', `/resellers/${reseller._id}`, { active: true })
  expect((await generate(reseller._id)).status).toBe(201)
})

test('a reseller of another app, of another vendor and one that does not exist are answered alike', async () => {
  const second = await makeApp(owner, 'Second')
  const stranger = await signUp(on)
  await makePremium(on, stranger)
  const theirs = await makeApp(stranger)
  const answers = [
    await generate((await makeReseller(on, owner, second))._id),
    await generate((await makeReseller(on, stranger, theirs))._id),
    await generate('res_missing'),
  ].map(refusalOf)
  expect(answers).toEqual(Array(3).fill([404, 'not_found', 'Reseller not found']))
})

test('a member with some apps and an API key generate for resellers of these alone, with the permission to read them', async () => {
  const second = await makeApp(owner, 'Second')
  const [ours, others] = [await makeReseller(on, owner, app), await makeReseller(on, owner, second)]
  const permissions = ['licenses:write', 'resellers:read']
  const member = await addMember(on, owner, { role: 'manager', apps: [app._id] })
  const key = await makeApiKey(on, owner, { permissions, apps: [app._id] })
  for (const caller of [member, key]) {
    expect((await generate(ours._id, {}, caller)).status).toBe(201)
    expect((await generate(others._id, {}, caller)).status).toBe(404)
    expect((await generate(others._id, { app: second._id }, caller)).status).toBe(404)
  }
  const blind = await makeApiKey(on, owner, { permissions: ['licenses:write'] })
  expect((await generate(ours._id, {}, blind)).json.code).toBe('permission_missing')
  expect((await generate('res_missing', {}, blind)).json.code).toBe('permission_missing')
})

test('without premium nothing is generated for resellers, until it is renewed', async () => {
  const vendor = await signUp(on)
  await makePremium(on, vendor)
  const own = await makeApp(vendor)
  const reseller = await makeReseller(on, vendor, own)
  const sell = () => generate(reseller._id, { app: own._id }, vendor)
  const { db } = on.database
  await db.updateTable('owners').set({ premium_until: 1 }).where('id', '=', vendor.id).execute()
  expect((await sell()).json.code).toBe('plan_limit_reached')
  await makePremium(on, vendor)
  expect((await sell()).status).toBe(201)
})

test('a repeat with an Idempotency-Key takes nothing more of the quota', async () => {
  const reseller = await makeReseller(on, owner, app, 3)
  const body = { app: app._id, reseller: reseller._id, count: 2, expiresAt: on.clock.inDays(30) }
  const send = () =>
    on.call('POST', '/licenses', { token: owner.token, body, headers: { 'idempotency-key': 'for-them-1' } })
  const [first, again] = [await send(), await send()]
  expect([first.status, again.status]).toEqual([201, 201])
  expect(again.json.data).toEqual(first.json.data)
  expect(await quotaOf(reseller._id)).toBe(2)
})
