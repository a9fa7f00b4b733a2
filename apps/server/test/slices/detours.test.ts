// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { apiKeyPermissions, isGranted, type Permission } from '@keyward/contract'
import { expect, test } from 'vitest'
import { allEndpoints } from '../../src/http/openapi.ts'
import { makeApp, makeLicenses, type Owner, refusal, single } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { everyRow } from '../every-row.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { addMember } from '../member-actor.ts'
import { ownerRecipes } from '../recipes/owners.ts'
import { recipeOf } from '../recipes/world.ts'
import { makeReseller } from '../reseller-actor.ts'
import { makeMailedOrder, makeShop, makeType, orderOnce, sell } from '../shop-actor.ts'
import { newShopSecret, paid } from '../shop-events.ts'
import { makeWebhook, unreachable } from '../webhook-actor.ts'

const on = serverForAll({}, { deliversWebhooks: false })
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)

const keyOf = (...permissions: Permission[]) => makeApiKey(on, owner, { permissions })
const allBut = (...left: Permission[]) => keyOf(...apiKeyPermissions.filter((one) => !left.includes(one)))

const endpointOf = new Map(allEndpoints.map(({ name, endpoint }) => [name, endpoint]))

async function newestLicense(): Promise<number> {
  const { seq } = await on.database.db
    .selectFrom('licenses')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .executeTakeFirstOrThrow()
  return Number(seq ?? 0)
}

// Rights only add, so the key with all other rights stands for every set of rights without this one.
test('whoever cannot create a license makes no row of licenses by any call', async () => {
  const key = await allBut('licenses:write')
  let { call } = owner
  const caller: Owner = { ...owner, call: (...sent) => call(...sent) }
  const recipesFor = (of: typeof app) => ownerRecipes({ on, owner: caller, app: of })
  const writes = Object.keys(recipesFor(app)).filter((name) => {
    const permission = endpointOf.get(name)?.permission
    return permission !== undefined && permission !== 'self' && permission !== 'ownership'
  })
  expect(writes.length).toBeGreaterThan(60)
  const makers: string[] = []
  await everyRow(
    writes.map((name) => [name] as const),
    async (name) => {
      const [, , prepare] = recipeOf(recipesFor(await makeApp(owner)), name)
      const run = await prepare()
      const before = await newestLicense()
      call = key.call
      await run().finally(() => {
        call = owner.call
      })
      expect(await newestLicense()).toBeLessThanOrEqual(before)
      await run()
      if ((await newestLicense()) > before) makers.push(name)
    },
  )
  expect(makers).toEqual(expect.arrayContaining(['licenses.create', 'bulk.importLicenses']))
})

test('what lets others make licenses needs the right to make them', () => {
  const opening =
    /^(shops.(create|update|remove|test)|resellers.create|imports.\w+|lazyMove.update|licenseTypes.(create|update))$/
  const doors = allEndpoints.filter(({ name }) => opening.test(name))
  expect(doors.length).toBeGreaterThan(12)
  const open = doors.filter(({ endpoint }) =>
    isGranted(endpoint.permission!, (one) => one !== 'licenses:write'),
  )
  expect(open.map(({ name }) => name)).toEqual([])
})

test('a shop gets its secret only from who may set secrets, and sells only for who may create licenses', async () => {
  const path = `/apps/${app._id}/shops`
  const body = { kind: 'custom', name: 'Shop', secret: newShopSecret() }
  const { _id, hook } = await makeShop(owner, app._id)
  const put = (by: Pick<Owner, 'call'>, change: object) => by.call('PUT', `/shops/${_id}`, change)
  const [reader, seller, both] = [
    await keyOf('apps:read', 'apps:write', 'secrets:write'),
    await keyOf('licenses:write'),
    await keyOf('licenses:write', 'secrets:write'),
  ]
  for (const key of [reader, seller]) {
    expect(refusal(await key.call('POST', path, body))).toBe('permission_missing')
    expect(refusal(await put(key, { secret: newShopSecret() }))).toBe('permission_missing')
    expect(refusal(await put(key, { apiKey: 'sk_1' }))).toBe('permission_missing')
  }
  for (const [method, to] of [
    ['PUT', ''],
    ['POST', '/test'],
    ['DELETE', ''],
  ] as const)
    expect(refusal(await reader.call(method, `/shops/${_id}${to}`, { name: 'New' }))).toBe(
      'permission_missing',
    )
  expect((await reader.call('GET', path)).status).toBe(200)
  expect((await put(seller, { name: 'Store', products: [] })).status).toBe(200)
  expect((await put(both, { secret: newShopSecret() })).status).toBe(200)
  expect((await both.call('POST', path, body)).status).toBe(201)
  expect(hook).toMatch(/^\/api\/hooks\//)
})

test('only who made a webhook, or may set secrets, gets a new secret or changes its address', async () => {
  const { _id } = await makeWebhook(owner)
  const key = await keyOf('webhooks:read', 'webhooks:write')
  const setter = await keyOf('webhooks:write', 'secrets:write')
  const other = 'http://127.0.0.1:65001/elsewhere'
  const rotate = (by: Pick<Owner, 'call'>, id = _id) => by.call('POST', `/webhooks/${id}/rotate-secret`)
  const move = (by: Pick<Owner, 'call'>, url: string, id = _id) => by.call('PUT', `/webhooks/${id}`, { url })
  // The caller of a change becomes the maker, but gets no secret by that.
  expect((await key.call('PUT', `/webhooks/${_id}`, { events: ['*'] })).status).toBe(200)
  expect((await move(key, unreachable)).status).toBe(200)
  expect(refusal(await rotate(key))).toBe('permission_missing')
  expect(refusal(await move(key, other))).toBe('permission_missing')
  const own = await key.call('POST', '/webhooks', { url: unreachable, events: ['license.banned'] })
  expect((await rotate(key, own.json.data.webhook._id)).status).toBe(200)
  expect((await move(key, other, own.json.data.webhook._id)).status).toBe(200)
  expect((await rotate(setter)).status).toBe(200)
  expect((await move(setter, other)).status).toBe(200)
  expect((await rotate(owner)).status).toBe(200)
})

test('a quota for licenses is given only by who may create them', async () => {
  const reseller = await makeReseller(on, owner, app)
  const key = await keyOf('resellers:read', 'resellers:write')
  const full = await keyOf('resellers:write', 'licenses:write')
  const limit = async (by: Pick<Owner, 'call'>, licenseLimit: number) =>
    by.call('PUT', `/resellers/${reseller._id}`, { licenseLimit })
  const before = (await owner.call('GET', `/resellers/${reseller._id}`)).json.data.reseller
  const now = before.allowed_license_keys as number
  expect(refusal(await limit(key, now + 1))).toBe('permission_missing')
  expect((await limit(key, now)).status).toBe(200)
  expect((await limit(key, now - 1)).status).toBe(200)
  expect(refusal(await limit(key, now))).toBe('permission_missing')
  expect((await limit(full, now)).status).toBe(200)
  const body = { email: 'r1@engines.example', password: 'secret1', app_id: app._id, allowed_license_keys: 1 }
  expect(refusal(await key.call('POST', '/resellers', body))).toBe('permission_missing')
  expect((await full.call('POST', '/resellers', body)).status).toBe(201)
})

test('support lifts a ban that a person set, and bans no license', async () => {
  const support = await addMember(on, owner, { role: 'support' })
  const license = single(await makeLicenses(on, owner, app))
  const set = (by: Pick<Owner, 'call'>, id: string, body: object) =>
    by.call('PATCH', `/licenses/${id}/toggle-ban`, body)
  for (const body of [{ is_banned: true }, {}])
    expect(refusal(await set(support, license._id, body))).toBe('permission_missing')
  for (const body of [{ is_banned: false }, {}]) {
    expect((await set(owner, license._id, { is_banned: true, reason: 'Shared' })).status).toBe(200)
    const lifted = await set(support, license._id, body)
    expect(lifted.json.data.license).toMatchObject({ banned: false, key: license.key })
  }
  // Who may read no license gets none of its key by lifting a ban.
  await set(owner, license._id, { is_banned: true })
  const clerk = await keyOf('clients:write')
  const told = (await set(clerk, license._id, { is_banned: false })).json.data.license
  expect([told.banned, license.key.startsWith(told.key), told.key.length]).toEqual([false, true, 11])
  const viewer = await addMember(on, owner, { role: 'viewer' })
  expect(refusal(await set(viewer, license._id, { is_banned: false }))).toBe('permission_missing')
})

test('support lifts no ban of a refund or a dispute, however it was set again', async () => {
  const support = await addMember(on, owner, { role: 'support' })
  const shop = await makeShop(owner, app._id, [{ product: 'pro', type: await makeType(owner, app._id) }])
  for (const kind of ['order.refunded', 'order.disputed']) {
    const number = `banned-${kind}`
    expect(await sell(on, shop, paid(number))).toBe(200)
    const { licenses } = await orderOnce(owner, number, { state: 'fulfilled' })
    const path = `/licenses/${licenses[0]._id}/toggle-ban`
    expect(await sell(on, shop, { type: kind, data: { order: number } })).toBe(200)
    await orderOnce(owner, number, { state: kind.slice('order.'.length) })
    expect(refusal(await support.call('PATCH', path, { is_banned: false }))).toBe('permission_missing')
    await owner.call('PATCH', path, { is_banned: true, reason: 'Also shared' })
    expect(refusal(await support.call('PATCH', path, { is_banned: false }))).toBe('permission_missing')
    expect((await owner.call('PATCH', path, { is_banned: false })).status).toBe(200)
  }
})

test('support mails the keys of an order again; who may read no licenses sees none of them', async () => {
  const support = await addMember(on, owner, { role: 'support' })
  const { _id } = await makeMailedOrder(on, owner, app._id)
  const again = await support.call('POST', `/orders/${_id}/mail`)
  expect(again.json.data.order).toMatchObject({ mail: 'queued', licenses: [{ key: expect.any(String) }] })
  const clerk = await keyOf('clients:write')
  const { _id: other } = await makeMailedOrder(on, owner, app._id)
  const told = await clerk.call('POST', `/orders/${other}/mail`)
  expect(told.json.data.order).toMatchObject({ mail: 'queued', licenses: [], email: null, name: null })
  expect(refusal(await (await keyOf('apps:write')).call('POST', `/orders/${other}/mail`))).toBe(
    'permission_missing',
  )
})
