import { type ActionName, actions, unloggedActions } from '@keyward/contract'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { ActionRecord } from '../../src/core/record.ts'
import type { Tables } from '../../src/db/tables.ts'
import { allEndpoints } from '../../src/http/openapi.ts'
import {
  activateKey,
  hashed,
  makeApp,
  makeLicenses,
  makeType,
  registerUser,
  single,
  startProgram,
} from '../actors.ts'
import { premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { makeRequest, readFile } from '../offline-machine.ts'
import { makeReseller } from '../reseller-actor.ts'

const published: ActionRecord[] = []
const on = serverForAll({}, { onRecords: (records) => published.push(...records) })
const owner = premiumOwnerForAll(on)
let app: Awaited<ReturnType<typeof makeApp>>
beforeEach(async () => {
  app = await makeApp(owner)
})

type Kind = ActionRecord['actor']['kind']
type Call = () => Promise<Answer>
/** The actor, the recorded actions, and a function that prepares and returns the request. */
type Recipe = [kind: Kind, recorded: ActionName[], prepare: () => Promise<Call>]

const oneLicense = async () => single(await makeLicenses(on, owner, app))
const onLicense = (method: string, path: string, body?: object) => async () => {
  const { _id } = await oneLicense()
  return () => owner.call(method, `/licenses/${_id}${path}`, body)
}
const onEndUser = (method: string, path: string, body?: object) => async () => {
  const { user } = await activateKey(on, owner, app, 'pc-1')
  return () => owner.call(method, `/clients/${user._id}${path}`, body)
}
const onApp = (method: string, path: string, body?: object) => async () => () =>
  owner.call(method, `/apps/${app._id}${path}`, body)
const onNextKey = (change: string) => async () => {
  const made = await owner.call('POST', `/apps/${app._id}/signing-keys`)
  const { kid } = made.json.data.signingKeys[0]
  return () => owner.call('POST', `/apps/${app._id}/signing-keys/${kid}/${change}`)
}
const onReseller = (method: string, body?: object) => async () => {
  const { _id } = await makeReseller(on, owner, app)
  return () => owner.call(method, `/resellers/${_id}`, body)
}
const inPortal = (method: string, path: string, body?: object) => async () => {
  const reseller = await makeReseller(on, owner, app)
  return () => reseller.call(method, path, body)
}
const signedIn = (method: string, path: string, body?: object) => async () => {
  const { email, password } = owner
  const { token } = (await on.call('POST', '/auth/login', { body: { email, password } })).json.data
  return () => on.call(method, path, { token, body })
}
const addResetLink = async (ownerId: string, resellerId: string | null) => {
  const token = `kwp_${ownerId}_${resellerId}`
  await on.database.db
    .insertInto('password_resets')
    .values({
      id: `rst_${resellerId ?? ownerId}`,
      owner_id: ownerId,
      reseller_id: resellerId,
      token_hash: hashed(token),
      created_at: 0,
      expires_at: on.clock.now() + 1,
    })
    .execute()
  return token
}
let addresses = 0
const newAddress = () => `someone${++addresses}@example.com`
const expiresAt2030 = '2030-01-01'
const coupons = ['SAVE10', 'SAVE20', 'SAVE25']

const order = async () => (await owner.call('POST', '/payments/razorpay/create-order', {})).json.data.orderId
const paying = async (): Promise<Call> => {
  const razorpay_order_id = await order()
  const body = {
    razorpay_order_id,
    razorpay_payment_id: `pay_${razorpay_order_id}`,
    razorpay_signature: 'mock',
  }
  return () => owner.call('POST', '/payments/razorpay/verify', body)
}

const recipes: Record<string, Recipe> = {
  'auth.register': [
    'owner',
    ['owner.registered'],
    async () => () =>
      on.call('POST', '/auth/register', { body: { name: 'A', email: newAddress(), password: 'secret1' } }),
  ],
  'auth.login': [
    'owner',
    ['owner.signed_in'],
    async () => () =>
      on.call('POST', '/auth/login', { body: { email: owner.email, password: owner.password } }),
  ],
  'auth.logout': ['owner', ['owner.signed_out'], signedIn('POST', '/auth/logout')],
  'auth.changePassword': [
    'owner',
    ['owner.password_changed'],
    async () => {
      const body = { name: 'B', email: newAddress(), password: 'secret1' }
      const { token } = (await on.call('POST', '/auth/register', { body })).json.data
      return () =>
        on.call('PUT', '/auth/password', {
          token,
          body: { currentPassword: 'secret1', newPassword: 'secret22' },
        })
    },
  ],
  'auth.changeEmail': [
    'owner',
    ['owner.email_changed'],
    async () => {
      const body = { name: 'C', email: newAddress(), password: 'secret1' }
      const { token } = (await on.call('POST', '/auth/register', { body })).json.data
      return () =>
        on.call('PUT', '/auth/email', { token, body: { email: newAddress(), password: 'secret1' } })
    },
  ],
  'auth.resetPassword': [
    'owner',
    ['owner.password_reset'],
    async () => {
      const body = { name: 'E', email: newAddress(), password: 'secret1' }
      const { user } = (await on.call('POST', '/auth/register', { body })).json.data
      const token = await addResetLink(user._id, null)
      return () => on.call('POST', '/auth/reset-password', { body: { token, password: 'secret2' } })
    },
  ],
  'apps.create': ['owner', ['app.created'], async () => () => owner.call('POST', '/apps', { name: 'New' })],
  'apps.update': ['owner', ['app.updated'], onApp('PUT', '', { name: 'Other' })],
  'apps.remove': [
    'owner',
    ['app.deletion_started', 'licenses.slice_deleted', 'end_users.slice_deleted', 'app.deleted'],
    async () => {
      await activateKey(on, owner, app)
      return onApp('DELETE', '')()
    },
  ],
  'apps.rotateSecret': ['owner', ['app.secret_rotated'], onApp('POST', '/rotate-secret')],
  'signingKeys.create': ['owner', ['app.signing_key_created'], onApp('POST', '/signing-keys')],
  'signingKeys.promote': ['owner', ['app.signing_key_promoted'], onNextKey('promote')],
  'signingKeys.revoke': ['owner', ['app.signing_key_revoked'], onNextKey('revoke')],
  'apps.updateErrorMessages': [
    'owner',
    ['app.messages_changed'],
    onApp('PUT', '/error-messages', { keyUsed: 'Taken' }),
  ],
  'apps.resetErrorMessages': ['owner', ['app.messages_reset'], onApp('DELETE', '/error-messages')],
  'licenseTypes.create': [
    'owner',
    ['license_type.created'],
    onApp('POST', '/license-types', { name: 'Pro', term: 'forever' }),
  ],
  'licenseTypes.update': [
    'owner',
    ['license_type.updated', 'license_type.slice_applied', 'license_type.applied'],
    async () => {
      const { _id } = await makeType(owner, app)
      await owner.call('POST', '/licenses', { app: app._id, type: _id })
      return () => owner.call('PUT', `/license-types/${_id}`, { devices: 3, applyTo: 'all' })
    },
  ],
  'licenseTypes.remove': [
    'owner',
    ['license_type.deleted'],
    async () => {
      const { _id } = await makeType(owner, app)
      return () => owner.call('DELETE', `/license-types/${_id}`)
    },
  ],
  'variables.setApp': [
    'owner',
    ['app.variables_changed'],
    onApp('PUT', '/variables', { variables: [{ name: 'endpoint', value: 'a', public: true }] }),
  ],
  'variables.setClient': [
    'owner',
    ['end_user.variables_changed'],
    onEndUser('PUT', '/variables', { variables: [{ name: 'endpoint', value: 'a' }] }),
  ],
  'releases.add': [
    'owner',
    ['release.added'],
    onApp('POST', '/releases', { version: '1.2.0', releasedAt: '2026-03-01' }),
  ],
  'releases.remove': [
    'owner',
    ['release.removed'],
    async () => {
      const body = { version: '1.2.0', releasedAt: '2026-03-01' }
      const { release } = (await owner.call('POST', `/apps/${app._id}/releases`, body)).json.data
      return () => owner.call('DELETE', `/releases/${release._id}`)
    },
  ],
  'licenses.create': [
    'owner',
    ['licenses.created'],
    async () => () => owner.call('POST', '/licenses', { app: app._id, expiresAt: expiresAt2030 }),
  ],
  'licenses.update': [
    'owner',
    ['license.expiry_changed'],
    onLicense('PUT', '', { expiresAt: expiresAt2030 }),
  ],
  'licenses.toggleBan': ['owner', ['license.banned'], onLicense('PATCH', '/toggle-ban')],
  'licenses.remove': ['owner', ['license.deleted'], onLicense('DELETE', '')],
  'licenses.removeAll': [
    'owner',
    ['licenses.deletion_started', 'licenses.slice_deleted', 'licenses.deletion_finished'],
    async () => {
      await oneLicense()
      return () => owner.call('DELETE', `/licenses?app=${app._id}`)
    },
  ],
  'clients.createDirect': [
    'owner',
    ['end_user.created'],
    async () => () =>
      owner.call('POST', '/clients/create-direct', {
        username: 'alice',
        password: 'secret1',
        appId: app._id,
        expiresAt: expiresAt2030,
      }),
  ],
  'clients.toggleBan': ['owner', ['end_user.banned'], onEndUser('PATCH', '/toggle-ban')],
  'clients.togglePause': ['owner', ['end_user.paused'], onEndUser('PATCH', '/toggle-pause')],
  'blocklist.add': [
    'owner',
    ['block.added'],
    onApp('POST', '/blocklist', { kind: 'address', value: '203.0.113.7' }),
  ],
  'blocklist.remove': [
    'owner',
    ['block.removed'],
    async () => {
      const { json } = await owner.call('POST', `/apps/${app._id}/blocklist`, { kind: 'hwid', value: 'pc-1' })
      return () => owner.call('DELETE', `/blocklist/${json.data.block._id}`)
    },
  ],
  'blocklist.setHashes': [
    'owner',
    ['app.program_hashes_changed'],
    onApp('PUT', '/program-hashes', { hashes: [] }),
  ],
  'clients.resetHwid': ['owner', ['end_user.hwid_reset'], onEndUser('PATCH', '/reset-hwid')],
  'clients.freeDevice': [
    'owner',
    ['device.freed'],
    async () => {
      const { user } = await activateKey(on, owner, app, 'pc-1')
      const { devices } = (await owner.call('GET', `/clients/${user._id}/devices`)).json.data
      return () => owner.call('DELETE', `/clients/${user._id}/devices/${devices[0]._id}`)
    },
  ],
  'clients.extend': ['owner', ['end_user.extended'], onEndUser('PATCH', '/extend', { days: 3 })],
  'clients.remove': ['owner', ['end_user.deleted'], onEndUser('DELETE', '')],
  'resellers.create': [
    'owner',
    ['reseller.created'],
    async () => () =>
      owner.call('POST', '/resellers', {
        email: newAddress(),
        password: 'secret1',
        app_id: app._id,
        allowed_license_keys: 5,
      }),
  ],
  'resellers.update': ['owner', ['reseller.updated'], onReseller('PUT', { licenseLimit: 3 })],
  'resellers.remove': ['owner', ['reseller.deleted'], onReseller('DELETE')],
  'portal.login': [
    'reseller',
    ['reseller.signed_in'],
    async () => {
      const { email, password } = await makeReseller(on, owner, app)
      return () => on.call('POST', '/resellers/auth/login', { body: { email, password } })
    },
  ],
  'portal.resetPassword': [
    'reseller',
    ['reseller.password_reset'],
    async () => {
      const { _id } = await makeReseller(on, owner, app)
      const token = await addResetLink(owner.id, _id)
      return () => on.call('POST', '/resellers/auth/reset-password', { body: { token, password: 'secret2' } })
    },
  ],
  'portal.logout': ['reseller', ['reseller.signed_out'], inPortal('POST', '/logout')],
  'portal.createLicenses': [
    'reseller',
    ['licenses.created'],
    inPortal('POST', '/licenses', { count: 2, expiresAt: expiresAt2030 }),
  ],
  'portal.removeLicenses': [
    'reseller',
    ['licenses.deletion_started', 'licenses.slice_deleted', 'licenses.deletion_finished'],
    async () => {
      const reseller = await makeReseller(on, owner, app)
      await reseller.call('POST', '/licenses', { count: 1, expiresAt: expiresAt2030 })
      return () => reseller.call('DELETE', '/licenses')
    },
  ],
  'payments.createOrder': [
    'owner',
    ['order.created'],
    // An open order with the same coupon would be reused and record nothing.
    async () => {
      const couponCode = coupons.pop()
      return () => owner.call('POST', '/payments/razorpay/create-order', { couponCode })
    },
  ],
  'payments.verify': ['provider', ['payment.updated', 'plan.paid'], paying],
  'payments.cancelSubscription': [
    'owner',
    ['plan.cancelled'],
    async () => () => owner.call('POST', '/payments/cancel-subscription', {}),
  ],
  'bulk.licenses': [
    'owner',
    ['licenses.banned'],
    async () => {
      const { _id } = await oneLicense()
      return () => owner.call('POST', '/licenses/bulk', { action: 'ban', ids: [_id] })
    },
  ],
  'bulk.clients': [
    'owner',
    ['end_users.extended'],
    async () => {
      const { user } = await activateKey(on, owner, app)
      return () => owner.call('POST', '/clients/bulk', { action: 'extend', days: 2, ids: [user._id] })
    },
  ],
  'offlineActivations.activate': [
    'owner',
    ['end_user.activated_offline', 'end_user.registered', 'device.bound'],
    async () => {
      const { key } = await oneLicense()
      const request = makeRequest(app, { licenseKey: key })
      return () => owner.call('POST', `/apps/${app._id}/offline-activations`, { request })
    },
  ],
  'offlineActivations.deactivate': [
    'owner',
    ['end_user.deactivated_offline', 'device.freed'],
    async () => {
      const { key } = await oneLicense()
      const request = makeRequest(app, { licenseKey: key })
      const path = `/apps/${app._id}/offline-activations`
      const { file } = (await owner.call('POST', path, { request })).json.data
      const { claims } = await readFile(on, app, file)
      const body = { code: claims.deactivation }
      return () => owner.call('POST', `/apps/${app._id}/offline-deactivations`, body)
    },
  ],
  'bulk.importLicenses': [
    'owner',
    ['licenses.imported'],
    async () => () => owner.call('POST', '/licenses/import', { app: app._id, csv: 'expiresAt\n2030-01-01' }),
  ],
  'settings.update': [
    'owner',
    ['settings.updated'],
    async () => () => owner.call('PUT', '/settings', { hwidLock: true }),
  ],
  'settings.reset': [
    'owner',
    ['platform.reset_started', 'platform.reset'],
    async () => {
      const body = { name: 'D', email: newAddress(), password: 'secret1' }
      const { token } = (await on.call('POST', '/auth/register', { body })).json.data
      return () => on.call('POST', '/settings/reset', { token })
    },
  ],
  'program.register': [
    'program',
    ['end_user.registered'],
    async () => {
      const { key } = await oneLicense()
      const program = await startProgram(on, app)
      return () =>
        program.call('POST', '/register', { username: 'alice', password: 'secret1', licenseKey: key })
    },
  ],
  'program.login': [
    'program',
    ['end_user.signed_in'],
    async () => {
      await registerUser(on, owner, app)
      const program = await startProgram(on, app)
      return () => program.call('POST', '/login', { username: 'alice', password: 'swordfish' })
    },
  ],
  'program.license': [
    'program',
    ['end_user.registered'],
    async () => {
      const { key } = await oneLicense()
      const program = await startProgram(on, app)
      return () => program.call('POST', '/license', { licenseKey: key })
    },
  ],
  'program.upgrade': [
    'program',
    ['license.redeemed'],
    async () => {
      const { program } = await registerUser(on, owner, app)
      const { key } = await oneLicense()
      return () => program.call('POST', '/upgrade', { username: 'alice', licenseKey: key })
    },
  ],
  'program.freeDevice': [
    'program',
    ['device.freed'],
    async () => {
      await owner.call('PUT', `/apps/${app._id}`, { settings: { deviceSelfService: true } })
      const { program } = await activateKey(on, owner, app, 'pc-1')
      const { devices } = (await program.call('GET', '/devices')).json.data
      return () => program.call('DELETE', `/devices/${devices[0]._id}`)
    },
  ],
  'program.trial': [
    'program',
    ['device.bound', 'end_user.registered', 'licenses.created'],
    async () => {
      await makeType(owner, app, { trial: true })
      const program = await startProgram(on, app)
      return () => program.call('POST', '/trial', { hwid: 'pc-1' })
    },
  ],
  'program.validate': [
    'program',
    ['device.bound', 'end_user.registered'],
    async () => {
      const { key } = await oneLicense()
      const body = { appId: app.appId, licenseKey: key, hwid: 'pc-1', activate: true }
      return () => on.call('POST', '/client/validate', { body })
    },
  ],
  'program.resume': [
    'program',
    ['end_user.signed_in'],
    async () => {
      await owner.call('PUT', `/apps/${app._id}`, { settings: { rememberDays: 1 } })
      const program = await startProgram(on, app)
      const { key } = await oneLicense()
      const given = { licenseKey: key, hwid: 'pc-1', remember: true }
      const { deviceToken } = (await program.call('POST', '/license', given)).json.data
      return () => program.call('POST', '/resume', { deviceToken, hwid: 'pc-1' })
    },
  ],
  'program.lease': [
    'program',
    ['end_user.lease_issued'],
    async () => {
      const { program } = await activateKey(on, owner, app, 'pc-1')
      return () => program.call('POST', '/lease', { hwid: 'pc-1' })
    },
  ],
  'program.logout': [
    'program',
    ['end_user.signed_out'],
    async () => {
      const { program } = await activateKey(on, owner, app)
      return () => program.call('POST', '/logout', {})
    },
  ],
}

/** Writes that change nothing an owner or end user did, or that are proven elsewhere. */
const unrecorded = new Set([
  // Opens a session before any end user signs in.
  'program.init',
  // Records after the response; proven in the password reset tests.
  'auth.forgotPassword',
  'portal.forgotPassword',
  // Read only.
  'payments.validateCoupon',
  // Records like `payments.verify`, through the same settlement.
  'payments.webhook',
])

const writing = allEndpoints
  .filter(({ name, endpoint }) => endpoint.method !== 'GET' && !unrecorded.has(name))
  .map(({ name }) => name)

const recipeOf = (name: string): Recipe => {
  const recipe = recipes[name]
  if (!recipe) throw new Error(`add ${name} to \`recipes\` with what it records`)
  return recipe
}

test.each(writing)('%s stores a record with actor, action and detail', async (name) => {
  const [kind, recorded, prepare] = recipeOf(name)
  const call = await prepare()
  published.length = 0
  const answer = await call()
  expect(answer.json).toMatchObject({ success: true })
  const records = published.slice()
  expect(records.map(({ action }) => action)).toEqual(expect.arrayContaining(recorded))
  const stored = await on.database.db
    .selectFrom('audit')
    .selectAll()
    .where(
      'id',
      'in',
      records.map(({ id }) => id),
    )
    .execute()
  expect(stored).toHaveLength(records.filter(({ action }) => !unloggedActions.has(action)).length)
  for (const { id, action, actor, detail } of records) {
    expect(actor.kind).toBe(kind)
    expect(actions[action].safeParse(detail).success).toBe(true)
    const row = stored.find((one) => one.id === id)
    if (!row) continue
    expect(row).toMatchObject({ action, actor_kind: kind, detail: JSON.stringify(detail) })
    expect(row.owner_id).toBe(actor.ownerId)
    // The provider has neither, and a stateless call has no session.
    if (kind !== 'provider') expect(row.address).toBe('127.0.0.1')
    if (kind !== 'provider' && name !== 'program.validate') expect(row.session_id).toEqual(expect.any(String))
  }
})

const tables: (keyof Tables)[] = [
  'owners',
  'owner_sessions',
  'apps',
  'licenses',
  'clients',
  'resellers',
  'reseller_sessions',
  'password_resets',
  'devices',
  'offline_activations',
  'payments',
]
/** All rows, in an order of their own: an update moves a row on PostgreSQL. */
async function snapshot(): Promise<string> {
  const rows = await Promise.all(
    tables.map((table) => on.database.db.selectFrom(table).selectAll().execute()),
  )
  // `init` writes this in the background, in a transaction of its own.
  const ignored = (name: string, value: unknown) => (name === 'sdkless_init_at' ? undefined : value)
  return rows
    .map((found) =>
      found
        .map((row) => JSON.stringify(row, ignored))
        .sort()
        .join('\n'),
    )
    .join('\n\n')
}

const logged = writing.filter((name) => recipeOf(name)[1].some((action) => !unloggedActions.has(action)))

test.each(logged)('%s changes nothing if its record cannot be stored', async (name) => {
  const call = await recipeOf(name)[2]()
  const before = await snapshot()
  await sql`alter table audit rename to audit_away`.execute(on.database.db)
  try {
    expect((await call()).status).toBe(500)
  } finally {
    await sql`alter table audit_away rename to audit`.execute(on.database.db)
  }
  expect(await snapshot()).toBe(before)
})
