// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { type Endpoint, isGranted, type Permission, permissions, rolePermissions } from '@keyward/contract'
import { beforeAll, expect, test } from 'vitest'
import type { Tables } from '../../src/db/tables.ts'
import { allEndpoints } from '../../src/http/openapi.ts'
import {
  activateKey,
  makeApp,
  makeLicenses,
  makePremium,
  makeType,
  type Owner,
  refusal,
  registerUser,
  signUp,
  single,
} from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { openPage, signInBy, signInByKey } from '../customer-actor.ts'
import { eventually } from '../eventually.ts'
import { addPasskey } from '../factors.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { keyAuthUser, prepareImport, usersFile } from '../imported.ts'
import { addMember, invite } from '../member-actor.ts'
import { makeRequest, readFile } from '../offline-machine.ts'
import { lazyMoveSettings } from '../old-provider.ts'
import { makeReseller } from '../reseller-actor.ts'
import { someOf } from '../rounds.ts'
import { makeShop, makeWaitingOrder } from '../shop-actor.ts'
import { newShopSecret } from '../shop-events.ts'
import { makeWebhook, unreachable } from '../webhook-actor.ts'

const on = serverForAll({}, { deliversWebhooks: false, runsImports: false })
const owner = premiumOwnerForAll(on)
const otherOwner = premiumOwnerForAll(on)
/** Owners without objects, here and on a server without other owners. */
const stranger = premiumOwnerForAll(on)
const loneOwner = premiumOwnerForAll(serverForAll())
let theirs: Objects
/** The same of another app of that owner. */
let ours: Objects
/** A member and an API key of that owner, for the other app alone, and whether they may make a call. */
let forAnotherApp: { caller: Pick<Owner, 'call'>; may: (endpoint: Endpoint) => boolean }[]
beforeAll(async () => {
  // With a passkey, signing in again takes more than the password.
  ours = await makeObjects(otherOwner, { withPasskey: false })
  theirs = await makeObjects(otherOwner)
  forAnotherApp = await callersFor(otherOwner, [ours.app])
  const { orderId } = (await otherOwner.call('POST', '/payments/razorpay/create-order', {})).json.data
  const paid = { razorpay_order_id: orderId, razorpay_payment_id: 'pay_theirs', razorpay_signature: 'mock' }
  expect((await otherOwner.call('POST', '/payments/razorpay/verify', paid)).status).toBe(200)
})

const missing = '00000000000000000000000000000000'

/** One object of each kind, by `_id`. */
interface Objects {
  vendor: string
  member: string
  app: string
  appId: string
  license: string
  client: string
  customer: string
  reseller: string
  block: string
  kid: string
  apiKey: string
  device: string
  type: string
  session: string
  refusal: string
  release: string
  request: string
  code: string
  passkey: string
  webhook: string
  delivery: string
  shop: string
  order: string
  import: string
}
const none: Objects = {
  vendor: `own_${missing}`,
  member: `mem_${missing}`,
  app: `app_${missing}`,
  appId: 'ZZZZZZZZ',
  license: `lic_${missing}`,
  client: `usr_${missing}`,
  customer: `cus_${missing}`,
  reseller: `res_${missing}`,
  release: `rel_${missing}`,
  block: `blk_${missing}`,
  kid: missing,
  apiKey: `key_${missing}`,
  device: `dev_${missing}`,
  type: `lty_${missing}`,
  session: `ses_${missing}`,
  refusal: '0000000000',
  request: 'KWR1-00000',
  code: 'KWD1-0000-0000-0000-0000',
  passkey: `psk_${missing}`,
  webhook: `whk_${missing}`,
  delivery: `evt_${missing}`,
  shop: `shp_${missing}`,
  order: `sor_${missing}`,
  import: `imp_${missing}`,
}
const later = '2030-01-01'
const ban = { before: { banned: false, reason: null }, after: { banned: true, reason: null } }

async function makeObjects(vendor: Owner, { refused = true, withPasskey = true } = {}): Promise<Objects> {
  const app = await makeApp(vendor, 'Theirs')
  const { user } = await activateKey(on, vendor, app, 'pc-1')
  const { devices } = (await vendor.call('GET', `/clients/${user._id}/devices`)).json.data
  const device = single<{ _id: string }>(devices)._id
  const license = single(await makeLicenses(on, vendor, app))
  const security = { severity: 'high', affects: [{ before: '1.0.0' }], summary: 'Reads files of others' }
  const released = { version: '1.0.0', releasedAt: later, security }
  const { release } = (await vendor.call('POST', `/apps/${app._id}/releases`, released)).json.data
  const reseller = await makeReseller(on, vendor, app)
  const buyer = { app: app._id, expiresAt: later, customer: `${app._id}@engines.example` }
  const sold = await vendor.call('POST', '/licenses', buyer)
  const blocked = { kind: 'hwid', value: 'pc-9' }
  const { json } = await vendor.call('POST', `/apps/${app._id}/blocklist`, blocked)
  const { signingKeys } = (await vendor.call('POST', `/apps/${app._id}/signing-keys`)).json.data
  const request = makeRequest(app, { licenseKey: license.key })
  const activated = { request: makeRequest(app, { licenseKey: user.username }) }
  const { file } = (await vendor.call('POST', `/apps/${app._id}/offline-activations`, activated)).json.data
  const webhook = await makeWebhook(vendor, { apps: [app._id] })
  const tested = await vendor.call('POST', `/webhooks/${webhook._id}/test`)
  const shop = await makeShop(vendor, app._id)
  return {
    shop: shop._id,
    import: (await prepareImport(vendor, app, [usersFile([keyAuthUser('frodo')])]))._id,
    order: (await makeWaitingOrder(on, vendor, shop))._id,
    webhook: webhook._id,
    delivery: tested.json.data.delivery._id,
    request,
    code: (await readFile(on, app, file)).claims.deactivation,
    vendor: vendor.id,
    member: (await invite(vendor))._id,
    app: app._id,
    appId: app.appId,
    license: license._id,
    client: user._id,
    customer: sold.json.data.license.customer,
    reseller: reseller._id,
    release: release._id,
    block: json.data.block._id,
    kid: signingKeys[0].kid,
    apiKey: (await makeApiKey(on, vendor)).id,
    device,
    type: (await makeType(vendor, app))._id,
    session: await makeSession(vendor),
    passkey: withPasskey ? (await addPasskey(on, { base: '/auth', ...vendor })).passkey._id : '',
    refusal: refused ? await makeRefusal(app) : '',
  }
}

/** Signs in once more. */
async function makeSession({ email, password }: Owner): Promise<string> {
  const { token } = (await on.call('POST', '/auth/login', { body: { email, password } })).json.data
  const { sessions } = (await on.call('GET', '/auth/sessions', { token })).json.data
  return sessions.find(({ current }: { current: boolean }) => current)._id
}

/** A refusal with its reference, once it is stored. */
async function makeRefusal(app: { appId: string; _id: string }): Promise<string> {
  const body = { appId: app.appId, licenseKey: 'NO-SUCH-KEY' }
  const { reference } = (await on.call('POST', '/client/validate', { body })).json.data
  const found = on.database.db.selectFrom('activity').select('seq').where('reference', '=', reference)
  await eventually(() => found.executeTakeFirstOrThrow())
  return reference
}

interface Named {
  id?: keyof Objects
  query?: (things: Objects) => string
  body?: (things: Objects) => object
  /** What the owner gets, if not success. */
  status?: number
}
const ofSales = ({ app }: { app: string }) => `app=${app}&from=2026-01-01&to=2026-01-31&timeZone=UTC`

/** How each endpoint names its object in path, query and body, valid except for the owner. */
const naming: Record<string, Named> = {
  'apiKeys.create': {
    body: ({ app }) => ({ name: 'Mine', permissions: ['licenses:read'], apps: [app] }),
    status: 201,
  },
  'apiKeys.revoke': { id: 'apiKey' },
  'webhooks.create': {
    body: ({ app }) => ({ url: unreachable, events: ['*'], apps: [app] }),
    status: 201,
  },
  'webhooks.update': { id: 'webhook', body: () => ({ events: ['*'] }) },
  'webhooks.delete': { id: 'webhook' },
  'webhooks.rotateSecret': { id: 'webhook' },
  'webhooks.test': { id: 'webhook' },
  'webhooks.deliveries': { id: 'webhook' },
  'webhooks.delivery': { id: 'webhook' },
  'webhooks.retry': { id: 'webhook' },
  'shops.list': { id: 'app' },
  'shops.create': {
    id: 'app',
    body: () => ({ kind: 'custom', name: 'Mine', secret: newShopSecret() }),
    status: 201,
  },
  'shops.update': { id: 'shop', body: () => ({ name: 'Mine' }) },
  'shops.remove': { id: 'shop' },
  'shops.test': { id: 'shop' },
  'orders.list': { query: ({ app }) => `app=${app}` },
  'orders.retry': { id: 'order' },
  'orders.update': { id: 'order', body: () => ({ email: 'buyer@example.com' }) },
  // It has no keys yet.
  'orders.mail': { id: 'order', status: 409 },
  'accountSessions.end': { id: 'session' },
  'members.invite': {
    body: ({ app }) => ({ email: 'intruder@example.com', role: 'viewer', apps: [app] }),
  },
  'members.update': { id: 'member', body: () => ({ role: 'manager' }) },
  'members.remove': { id: 'member' },
  // The invitation was not accepted.
  'members.makeOwner': { id: 'member', status: 409 },
  // An owner cannot leave.
  'vendors.leave': { id: 'vendor', status: 409 },
  'apps.get': { id: 'app' },
  'apps.update': { id: 'app', body: () => ({ name: 'Mine now' }) },
  'apps.remove': { id: 'app' },
  'apps.deletionPreview': { id: 'app' },
  'apps.stats': { id: 'app' },
  'apps.rotateSecret': { id: 'app' },
  'compatibility.get': { id: 'app' },
  'compatibility.update': { id: 'app', body: () => ({ enabled: true }) },
  'signingKeys.list': { id: 'app' },
  // The app has a next key already.
  'signingKeys.create': { id: 'app', status: 409 },
  'signingKeys.promote': { id: 'app' },
  'signingKeys.revoke': { id: 'app' },
  'apps.getErrorMessages': { id: 'app' },
  'apps.updateErrorMessages': { id: 'app', body: () => ({ keyUsed: 'Mine now' }) },
  'apps.resetErrorMessages': { id: 'app' },
  'appMails.get': { id: 'app' },
  'lazyMove.get': { id: 'app' },
  'lazyMove.update': { id: 'app', body: () => lazyMoveSettings },
  'appMails.update': { id: 'app', body: () => ({ subject: 'Mine', text: '{key}' }) },
  'appMails.reset': { id: 'app' },
  'profiles.getOfApp': { id: 'app' },
  'profiles.updateOfApp': { id: 'app', body: () => ({ name: 'Mine' }) },
  'customerMails.get': { id: 'app' },
  'customerMails.update': { id: 'app', body: () => ({ ended: true }) },
  'customerMails.sample': { id: 'app' },
  'customerMails.list': { query: ({ app }) => `app=${app}` },
  // The address of the caller is not confirmed.
  'appMails.test': { id: 'app', body: () => ({}), status: 409 },
  'licenseTypes.list': { id: 'app' },
  'licenseTypes.create': { id: 'app', body: () => ({ name: 'Mine', term: 'forever' }) },
  'licenseTypes.update': { id: 'type', body: () => ({ name: 'Mine now', applyTo: 'all' }) },
  'licenseTypes.remove': { id: 'type' },
  'variables.app': { id: 'app' },
  'variables.setApp': { id: 'app', body: () => ({ variables: [] }) },
  'variables.client': { id: 'client' },
  'variables.setClient': { id: 'client', body: () => ({ variables: [] }) },
  'releases.list': { id: 'app' },
  'releases.add': { id: 'app', body: () => ({ version: '9.9.9', releasedAt: later }) },
  'releases.update': { id: 'release', body: () => ({ notes: 'New' }) },
  'releases.withdraw': { id: 'release' },
  'releases.remove': { id: 'release' },
  'exposure.versions': { id: 'app' },
  'exposure.refused': { id: 'app', query: () => 'minimumVersion=2.0.0' },
  'exposure.get': { id: 'release' },
  'exposure.customers': { id: 'release' },
  'exposure.exportCustomers': { id: 'release' },
  // It is not out.
  'exposure.notify': { id: 'release', body: () => ({}), status: 409 },
  'exposure.evidence': { id: 'release' },
  'licenses.list': { query: ({ app }) => `app=${app}` },
  'licenses.create': { body: ({ app }) => ({ app, expiresAt: later }) },
  'licenses.ids': { query: ({ app }) => `app=${app}` },
  'licenses.get': { id: 'license' },
  'licenses.update': { id: 'license', body: () => ({ expiresAt: later }) },
  'licenses.toggleBan': { id: 'license' },
  // This server sends no mail.
  'licenses.mail': { id: 'license', status: 503 },
  'licenses.remove': { id: 'license' },
  'licenses.removeAll': { query: ({ app }) => `app=${app}` },
  'clients.list': { query: ({ app }) => `app=${app}` },
  'clients.ids': { query: ({ app }) => `app=${app}` },
  'clients.createDirect': {
    body: ({ app }) => ({ username: 'intruder', password: 'secret1', appId: app, expiresAt: later }),
  },
  'clients.toggleBan': { id: 'client' },
  'audit.list': { query: ({ app }) => `app=${app}` },
  'audit.export': { query: ({ app }) => `app=${app}` },
  'activity.list': { query: ({ app }) => `app=${app}` },
  'activity.explain': { id: 'refusal' },
  'clients.togglePause': { id: 'client' },
  'blocklist.list': { id: 'app' },
  'blocklist.add': { id: 'app', body: () => ({ kind: 'address', value: '203.0.113.7' }) },
  'blocklist.remove': { id: 'block' },
  'blocklist.hashes': { id: 'app' },
  'blocklist.setHashes': { id: 'app', body: () => ({ hashes: [] }) },
  'clients.resetHwid': { id: 'client' },
  'clients.get': { id: 'client' },
  'clients.devices': { id: 'client' },
  'clients.freeDevice': { id: 'client' },
  'clients.extend': { id: 'client', body: () => ({ days: 1 }) },
  'clients.update': { id: 'client', body: () => ({ email: null }) },
  // It signs in with its key.
  'clients.setPassword': { id: 'client', body: () => ({ password: 'secret2' }), status: 409 },
  'clients.addLicense': { id: 'client', body: ({ license }) => ({ license }) },
  'customers.list': { query: ({ app }) => `app=${app}` },
  'customers.get': { id: 'customer' },
  'customers.update': { id: 'customer', body: () => ({ name: 'Mine now' }) },
  'customers.remove': { id: 'customer' },
  'customers.export': { id: 'customer' },
  'clients.remove': { id: 'client' },
  'offlineActivations.list': { id: 'app' },
  'offlineActivations.activate': { id: 'app', body: ({ request }) => ({ request }), status: 201 },
  'offlineActivations.deactivate': { id: 'app', body: ({ code }) => ({ code }) },
  'resellers.list': { query: ({ app }) => `app=${app}` },
  'resellers.create': {
    body: ({ app }) => ({
      email: 'intruder@example.com',
      password: 'secret1',
      app_id: app,
      allowed_license_keys: 1,
    }),
  },
  'resellers.update': { id: 'reseller', body: () => ({ active: false }) },
  'resellers.get': { id: 'reseller' },
  'resellers.remove': { id: 'reseller' },
  'resellers.endSessions': { id: 'reseller' },
  'resellers.resetSecondFactor': { id: 'reseller' },
  'secondFactor.removePasskey': { id: 'passkey' },
  'bulk.licenses': { body: ({ license }) => ({ action: 'delete', ids: [license] }) },
  'bulk.clients': { body: ({ client }) => ({ action: 'reset-hwid', ids: [client] }) },
  'bulk.undoLicenses': { body: ({ license }) => ({ undo: [{ _id: license, ban }] }) },
  'bulk.undoClients': { body: ({ client }) => ({ undo: [{ _id: client, ban }] }) },
  'bulk.exportLicenses': { query: ({ app }) => `app=${app}` },
  'bulk.exportClients': { query: ({ app }) => `app=${app}` },
  'bulk.importLicenses': { body: ({ app }) => ({ app, csv: 'expiresAt\n2030-01-01' }) },
  'imports.create': { body: ({ app }) => ({ app, preset: 'keyauth' }), status: 201 },
  'imports.putFile': { id: 'import', body: () => ({ users: [] }) },
  'imports.run': { id: 'import', body: () => ({ dryRun: true }) },
  'imports.get': { id: 'import' },
  'imports.report': { id: 'import' },
  'imports.list': { query: ({ app }) => `app=${app}` },
  // It has not run.
  'imports.undo': { id: 'import', status: 409 },
  'dashboard.activity': { query: ({ app }) => `app=${app}` },
  'sales.get': { query: ofSales },
  'sales.export': { query: ofSales },
}

const namesObject = (endpoint: Endpoint) => {
  const shapes = [endpoint.query, endpoint.body].map((schema) => Object.keys(fieldsOf(schema)))
  return (
    endpoint.params !== undefined ||
    shapes.flat().some((field) => /^(ids|undo|apps|app(_?[iI]d)?)$/.test(field))
  )
}

const call = async (
  endpoint: Endpoint,
  named: Named,
  things: Objects,
  caller: Pick<Owner, 'call'> = owner,
) => {
  const id = named.id === undefined ? '' : things[named.id]
  const path = endpoint.path
    .replace(/:(id|reference)\b/, id)
    .replace(':kid', things.kid)
    .replace(':name', 'users.json')
    .replace(':deviceId', things.device)
    .replace(':deliveryId', things.delivery)
  const query = named.query === undefined ? '' : `?${named.query(things)}`
  return caller.call(endpoint.method, `${path}${query}`, named.body?.(things))
}

/** Without the last use of API keys, which their calls store. */
const unlessUse = (name: string, value: unknown) =>
  name === 'last_used_at' || name === 'last_address' ? undefined : value

async function snapshot(): Promise<string> {
  const tables = [
    'apps',
    'licenses',
    'clients',
    'customers',
    'client_sessions',
    'customer_sessions',
    'customer_links',
    'resellers',
    'reseller_sessions',
    'blocklist',
    'devices',
    'device_tokens',
    'offline_activations',
    'app_mails',
    'profiles',
    'buyer_mails',
    'license_types',
    'signing_keys',
    'api_keys',
    'webhooks',
    'webhook_deliveries',
    'shops',
    'shop_events',
    'shop_orders',
    'shop_order_units',
    'data_imports',
    'data_import_files',
    'members',
    'owner_sessions',
    'audit',
  ]
  // In an order of their own: an update moves a row on PostgreSQL.
  const rows = async (table: string) => {
    const found = await on.database.db
      .selectFrom(table as keyof Tables)
      .selectAll()
      .execute()
    return found.map((row) => JSON.stringify(row, unlessUse)).sort()
  }
  return JSON.stringify(await Promise.all(tables.map(rows)))
}

const namingCalls = allEndpoints
  .filter(({ endpoint }) => endpoint.access === 'owner' && namesObject(endpoint))
  .map(({ name, endpoint }) => [name, endpoint] as const)

let untouched: string | undefined
/** Compares with what was there before the first of these calls: none of them may change anything. */
async function expectUnchanged() {
  expect(await snapshot()).toBe(untouched)
}
beforeAll(async () => {
  untouched = await snapshot()
})

test.each(namingCalls)(
  "%s answers identically for another owner's object and a missing one, and changes nothing",
  async (name, endpoint) => {
    const named = naming[name]
    if (!named) throw new Error(`add ${name} to \`naming\` with how it names its object`)
    const variants = [
      [theirs, none],
      [
        { ...theirs, app: theirs.appId },
        { ...none, app: none.appId },
      ],
    ] as const
    for (const [foreign, absent] of variants) {
      const [answer, nothing] = [await call(endpoint, named, foreign), await call(endpoint, named, absent)]
      expect(refusal(nothing)).toBe('not_found')
      expect(nothing.status).toBe(404)
      expect(answer.status).toBe(404)
      expect(answer.raw.toString()).toBe(nothing.raw.toString())
    }
    await expectUnchanged()
  },
)

test.each(namingCalls.filter(([, { permission }]) => permission !== 'self'))(
  '%s answers identically for an app that a member or an API key does not have and a missing one',
  async (name, endpoint) => {
    const named = naming[name]
    if (!named) throw new Error(`add ${name} to \`naming\` with how it names its object`)
    for (const { caller, may } of forAnotherApp) {
      for (const app of ['app', 'appId'] as const) {
        const foreign = await call(endpoint, named, { ...theirs, app: theirs[app] }, caller)
        const absent = await call(endpoint, named, { ...none, app: none[app] }, caller)
        expect(foreign.status).toBe(may(endpoint) ? 404 : 403)
        expect(foreign.raw.toString()).toBe(absent.raw.toString())
      }
    }
    await expectUnchanged()
  },
)

/** How each call of the customer's page names an object. */
const onPage: Record<string, (things: Objects) => [path: string, body?: object]> = {
  'customerPage.freeDevice': ({ device }) => [`/devices/${device}`],
  'customerPage.setPassword': ({ client }) => ['/password', { client, newPassword: 'secret2' }],
  'customerPage.activateOffline': ({ request }) => ['/offline-activations', { request }],
}

const customerCalls = allEndpoints
  .filter(({ endpoint }) => endpoint.access === 'customer')
  .filter(({ endpoint }) => endpoint.params !== undefined || endpoint.body !== undefined)
  .filter(({ name }) => name !== 'customerPage.logout')
  .map(({ name, endpoint }) => [name, endpoint] as const)

test.each(customerCalls)(
  "%s answers identically for another customer's object and a missing one, and changes nothing",
  async (name, { method }) => {
    const naming = onPage[name]
    if (!naming) throw new Error(`add ${name} to \`onPage\` with how it names its object`)
    const app = await makeApp(otherOwner, 'Page')
    await openPage(otherOwner, app)
    const username = `customer-${method}`.toLowerCase()
    const { license, user } = await registerUser(on, otherOwner, app, username)
    const neighbor = await activateKey(on, otherOwner, app, 'pc-7')
    const { devices } = (await otherOwner.call('GET', `/clients/${neighbor.user._id}/devices`)).json.data
    const beside = {
      ...theirs,
      client: neighbor.user._id,
      device: single<{ _id: string }>(devices)._id,
      request: makeRequest(app, { licenseKey: neighbor.license.key }),
    }
    const absent = { ...none, request: makeRequest(app, { licenseKey: 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA' }) }
    const [byKey, byPassword] = [
      await signInByKey(on, app, license.key),
      await signInBy(on, app, { username, password: 'swordfish' }),
    ]
    const before = await snapshot()
    for (const customer of [byKey, byPassword]) {
      for (const foreign of [beside, { ...theirs, request: beside.request }]) {
        const [answer, nothing] = [
          await customer.call(method, ...naming(foreign)),
          await customer.call(method, ...naming(absent)),
        ]
        expect(answer.status).toBeGreaterThanOrEqual(400)
        expect(answer.raw.toString()).toBe(nothing.raw.toString())
      }
    }
    expect(await snapshot()).toBe(before)
    expect((await byPassword.me()).clients.map(({ _id }: { _id: string }) => _id)).toEqual([user._id])
  },
)

test('bulk calls refuse their own objects together with one of another app, and change none', async () => {
  const before = await snapshot()
  for (const [path, own, foreign] of [
    ['/licenses/bulk', ours.license, theirs.license],
    ['/clients/bulk', ours.client, theirs.client],
  ] as const) {
    for (const { caller } of forAnotherApp) {
      const answer = await caller.call('POST', path, { action: 'ban', ids: [own, foreign] })
      expect(refusal(answer)).toBe('not_found')
    }
  }
  expect(await snapshot()).toBe(before)
})

const readings = allEndpoints
  .filter(({ name, endpoint }) => {
    const isRead = endpoint.method === 'GET' && endpoint.access === 'owner' && endpoint.params === undefined
    return isRead && name !== 'events.stream'
  })
  .map(({ name, endpoint }) => [name, endpoint] as const)

test.each(readings)('%s returns, counts and finds nothing of other owners', async (_name, endpoint) => {
  const texts = 'search' in fieldsOf(endpoint.query) ? [theirs.license, theirs.client, theirs.appId, 'e'] : []
  for (const query of ['', ...texts.map((text) => `?search=${text}`)]) {
    const seenBy = async (vendor: Owner) => {
      const { raw } = await vendor.call('GET', `${endpoint.path}${query}`)
      const text = raw
        .toString()
        .replace(/Owner \d+/g, 'the name')
        .replace(/ses_\w+/g, 'the session')
        .replace(/aud_\w+/g, 'the record')
      const named = text.replaceAll(vendor.id, 'the id').replaceAll(vendor.accountId, 'the person')
      return named.replaceAll(vendor.email, 'the address')
    }
    expect(await seenBy(stranger)).toBe(await seenBy(loneOwner))
  }
})

/** What an owner sees only together with all apps. */
const ofAllApps = [
  'apps.list',
  'auth.profile',
  'licenses.list',
  'licenses.ids',
  'bulk.exportLicenses',
  'clients.list',
  'clients.ids',
  'bulk.exportClients',
  'resellers.list',
  'activity.list',
  'audit.list',
  'audit.export',
  'dashboard.data',
  'dashboard.activity',
]

test('what a member or an API key reads does not change with an app that it does not have', async () => {
  const vendor = await signUp(on)
  await makePremium(on, vendor)
  const make = () => makeObjects(vendor, { withPasskey: false })
  const [first, second] = [await make(), await make()]
  const callers = [
    ...(await callersFor(vendor, [first.app])),
    ...(await callersFor(vendor, [first.app, second.app])),
  ]
  const read = async (caller: Pick<Owner, 'call'>, texts: readonly string[]) => {
    const answers = new Map<string, string>()
    for (const [name, endpoint] of readings) {
      const searches = 'search' in fieldsOf(endpoint.query) ? texts.map((text) => `search=${text}`) : []
      const statuses = /^(licenses|clients)\.list$/.test(name)
        ? ['status=active', 'sort=oldest', 'page=2&limit=1']
        : []
      for (const query of ['', ...searches, ...statuses]) {
        const { raw } = await caller.call('GET', `${endpoint.path}?${query}`)
        answers.set(`${name} ${query}`, raw.toString())
      }
    }
    for (const [name, endpoint] of namingCalls) {
      const named = naming[name]
      if (endpoint.method !== 'GET' || !named) continue
      answers.set(`${name} of ours`, (await call(endpoint, named, first, caller)).raw.toString())
    }
    return answers
  }
  const texts = someOf([first.license, first.appId, 'e', 'pc-1', 'theirs', 'app'], 2)
  const before = await Promise.all(callers.map(({ caller }) => read(caller, texts)))
  const ownersBefore = await read(vendor, texts)
  const added = await make()
  const named = { username: 'zzebra', password: 'swordfish', appId: added.app, expiresAt: later }
  expect((await vendor.call('POST', '/clients/create-direct', named)).json.success).toBe(true)
  const hidden = someOf([added.license, added.client, added.appId, 'zz', 'zzebra'], 2)
  const nothing = someOf([none.license, none.client, none.appId, 'qq', 'qqebra'], 2)
  for (const { caller } of callers) {
    const found = [...(await read(caller, hidden)).values()]
    expect(found).toEqual([...(await read(caller, nothing)).values()])
    for (const text of Object.values({ ...added, vendor: added.app, passkey: added.app }))
      expect(found.join()).not.toContain(text)
  }
  const after = await Promise.all(callers.map(({ caller }) => read(caller, texts)))
  expect(after).toEqual(before)
  const ownersAfter = await read(vendor, texts)
  const changed = readings
    .map(([name]) => name)
    .filter((name) => ownersBefore.get(`${name} `) !== ownersAfter.get(`${name} `))
  expect(changed).toEqual(expect.arrayContaining(ofAllApps))
})

test('each other call of an owner is about the caller alone, or refused to those with some apps', () => {
  const covered = new Set([...namingCalls, ...readings].map(([name]) => name))
  const others = allEndpoints.filter(
    ({ name, endpoint }) => endpoint.access === 'owner' && !covered.has(name),
  )
  const open = others.filter(
    ({ endpoint: { permission, personal, allApps } }) =>
      allApps === undefined &&
      !personal &&
      !['self', 'ownership', 'api_key'].some((one) => one === permission),
  )
  expect(open.map(({ name }) => name)).toEqual([])
})

const isWithin = (held: readonly Permission[], needed: Endpoint['permission']) =>
  needed !== undefined && isGranted(needed, (permission) => held.includes(permission))

/** A member and an API key for some apps, with every permission that they can have. */
async function callersFor(vendor: Owner, apps: readonly string[]) {
  const member = await addMember(on, vendor, { role: 'manager', apps })
  const key = await makeApiKey(on, vendor, { permissions: keyPermissions, apps })
  const mayManager = ({ permission, allApps }: Endpoint) =>
    allApps !== true && (permission === 'self' || isWithin(rolePermissions.manager, permission))
  const mayKey = ({ permission, allApps, personal }: Endpoint) =>
    allApps !== true && !personal && isWithin(keyPermissions, permission)
  return [
    { caller: member, may: mayManager },
    { caller: key, may: mayKey },
  ]
}

const keyPermissions = permissions.filter((permission) => !permission.startsWith('members:'))

test('each of these requests succeeds for the owner of the object', async () => {
  for (const [name, named] of someOf(Object.entries(naming), 8)) {
    const endpoint = allEndpoints.find((one) => one.name === name)?.endpoint
    if (!endpoint) throw new Error(`the contract has no endpoint ${name}`)
    // A refusal is stored with a delay, so only its endpoint waits for one; passkeys are few.
    const things = await makeObjects(owner, {
      refused: named.id === 'refusal',
      withPasskey: named.id === 'passkey',
    })
    const { status } = await call(endpoint, named, things)
    expect({ name, status }).toEqual({ name, status: named.status ?? endpoint.status ?? 200 })
    // A vendor can have fewer of these than the contract has calls.
    await owner.call('DELETE', `/members/${things.member}`)
    await owner.call('DELETE', `/api-keys/${things.apiKey}`)
    await on.database.db.deleteFrom('data_imports').where('owner_id', '=', owner.id).execute()
  }
})

/** The fields of an object schema; none for other schemas. */
function fieldsOf(schema: unknown): Record<string, unknown> {
  const { shape } = (schema ?? {}) as { shape?: Record<string, unknown> }
  return shape ?? {}
}
