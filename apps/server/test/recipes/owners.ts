import { activateKey, makeApp, makeType, signUp, startProgram } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { keyAuthUser, prepareImport, usersFile } from '../imported.ts'
import { addMember, addPerson, invite, newAddress } from '../member-actor.ts'
import { confirmAddress } from '../notified.ts'
import { makeRequest, readFile } from '../offline-machine.ts'
import { lazyMoveSettings } from '../old-provider.ts'
import { makeReseller } from '../reseller-actor.ts'
import { makeMailedOrder, makeShop, makeWaitingOrder } from '../shop-actor.ts'
import { newShopSecret } from '../shop-events.ts'
import { makeWebhook, unreachable } from '../webhook-actor.ts'
import { addResetLink, expiresAt2030, oneLicense, type Recipes, type World } from './world.ts'

/** Recipes for several apps of an owner make customers of their own. */
let customers = 0

const coupons = ['SAVE10', 'SAVE20', 'SAVE25']

/** Every writing call of an owner. */
export function ownerRecipes(world: World): Recipes {
  const { on, owner, app } = world
  const onLicense = (method: string, path: string, body?: object) => async () => {
    const { _id } = await oneLicense(world)
    return () => owner.call(method, `/licenses/${_id}${path}`, body)
  }
  const onEndUser = (method: string, path: string, body?: object) => async () => {
    const { user } = await activateKey(on, owner, app, 'pc-1')
    return () => owner.call(method, `/clients/${user._id}${path}`, body)
  }
  const newEmail = () => {
    customers += 1
    return `customer${customers}@engines.example`
  }
  const onCustomer = (method: string, body?: object) => async () => {
    const { customer } = (await owner.call('POST', '/customers', { email: newEmail() })).json.data
    return () => owner.call(method, `/customers/${customer._id}`, body)
  }
  const makeDirect = async (username: string) => {
    const body = { username, password: 'secret1', appId: app._id, expiresAt: expiresAt2030 }
    return (await owner.call('POST', '/clients/create-direct', body)).json.data.client
  }
  const onRelease =
    (method: string, path = '', body?: object) =>
    async () => {
      const released = { version: '1.2.0', releasedAt: '2026-03-01' }
      const { release } = (await owner.call('POST', `/apps/${app._id}/releases`, released)).json.data
      return () => owner.call(method, `/releases/${release._id}${path}`, body)
    }
  const onApp = (method: string, path: string, body?: object) => async () => () =>
    owner.call(method, `/apps/${app._id}${path}`, body)
  const onNextKey = (change: string) => async () => {
    const made = await owner.call('POST', `/apps/${app._id}/signing-keys`)
    const { kid } = made.json.data.signingKeys[0]
    return () => owner.call('POST', `/apps/${app._id}/signing-keys/${kid}/${change}`)
  }
  const onMember = (method: string, path: string, body?: object) => async () => {
    const { _id } = await addMember(on, owner)
    return () => owner.call(method, `/members/${_id}${path}`, body)
  }
  const onWebhook = (method: string, path: string, body?: object) => async () => {
    const { _id } = await makeWebhook(owner)
    return () => owner.call(method, `/webhooks/${_id}${path}`, body)
  }
  const onShop = (method: string, path: string, body?: object) => async () => {
    const { _id } = await roomyShop()
    return () => owner.call(method, `/shops/${_id}${path}`, body)
  }
  /** A shop of its own; the oldest ones make room. */
  const roomyShop = async () => {
    const { shops } = (await owner.call('GET', `/apps/${app._id}/shops`)).json.data
    for (const { _id } of shops.slice(0, -10)) await owner.call('DELETE', `/shops/${_id}`)
    return makeShop(owner, app._id)
  }
  const oneUser = () => usersFile([keyAuthUser('frodo')])
  /** An import of its own; earlier ones make room. */
  const roomyImport = async (files: { name: string; content: string }[] = []) => {
    await on.database.db.deleteFrom('data_imports').where('owner_id', '=', owner.id).execute()
    return prepareImport(owner, app, files)
  }
  const onReseller = (method: string, body?: object) => async () => {
    const { _id } = await makeReseller(on, owner, app)
    return () => owner.call(method, `/resellers/${_id}`, body)
  }
  const signedIn = (method: string, path: string, body?: object) => async () => {
    const { email, password } = owner
    const { token } = (await on.call('POST', '/auth/login', { body: { email, password } })).json.data
    return () => on.call(method, path, { token, body })
  }

  return {
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
    'accountSessions.end': [
      'owner',
      ['owner.session_ended'],
      async () => {
        const call = await signedIn('GET', '/auth/sessions')()
        const { sessions } = (await call()).json.data
        const { _id } = sessions.find(({ current }: { current: boolean }) => current)
        return () => owner.call('DELETE', `/auth/sessions/${_id}`)
      },
    ],
    'accountSessions.endOthers': [
      'owner',
      ['owner.sessions_ended'],
      async () => {
        await signedIn('GET', '/auth/sessions')()
        return () => owner.call('DELETE', '/auth/sessions')
      },
    ],
    'accountSessions.confirm': [
      'owner',
      ['owner.identity_confirmed'],
      async () => () => owner.call('POST', '/auth/confirm', { password: owner.password }),
    ],
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
        const token = await addResetLink(world, user._id, null)
        return () => on.call('POST', '/auth/reset-password', { body: { token, password: 'secret2' } })
      },
    ],
    'webhooks.create': [
      'owner',
      ['webhook.created'],
      async () => () => owner.call('POST', '/webhooks', { url: unreachable, events: ['license.banned'] }),
    ],
    'webhooks.update': ['owner', ['webhook.updated'], onWebhook('PUT', '', { events: ['*'] })],
    'webhooks.delete': ['owner', ['webhook.deleted'], onWebhook('DELETE', '')],
    'webhooks.rotateSecret': ['owner', ['webhook.secret_rotated'], onWebhook('POST', '/rotate-secret')],
    'webhooks.test': ['owner', ['webhook.tested'], onWebhook('POST', '/test')],
    'webhooks.retry': [
      'owner',
      ['webhook.delivery_retried'],
      async () => {
        const { _id } = await makeWebhook(owner)
        const tested = await owner.call('POST', `/webhooks/${_id}/test`)
        const { delivery } = tested.json.data
        return () => owner.call('POST', `/webhooks/${_id}/deliveries/${delivery._id}/retry`)
      },
    ],
    'shops.create': [
      'owner',
      ['shop.created'],
      async () => {
        const { _id } = await roomyShop()
        await owner.call('DELETE', `/shops/${_id}`)
        const body = { kind: 'custom', name: 'Shop', secret: newShopSecret() }
        return () => owner.call('POST', `/apps/${app._id}/shops`, body)
      },
    ],
    'shops.update': ['owner', ['shop.updated'], onShop('PUT', '', { name: 'Store', active: true })],
    'shops.remove': ['owner', ['shop.deleted'], onShop('DELETE', '')],
    'shops.test': ['owner', ['shop.tested'], onShop('POST', '/test')],
    'orders.retry': [
      'owner',
      ['shop_order.retried'],
      async () => {
        const { _id } = await makeWaitingOrder(on, owner, await roomyShop())
        return () => owner.call('POST', `/orders/${_id}/retry`)
      },
    ],
    'orders.update': [
      'owner',
      ['customer.created', 'shop_order.addressed'],
      async () => {
        const { _id } = await makeWaitingOrder(on, owner, await roomyShop(), { email: null })
        const email = newEmail()
        return () => owner.call('PUT', `/orders/${_id}`, { email })
      },
    ],
    'orders.mail': [
      'owner',
      ['shop_order.mail_resent'],
      async () => {
        const { _id } = await makeMailedOrder(on, owner, app._id)
        return () => owner.call('POST', `/orders/${_id}/mail`)
      },
    ],
    'apiKeys.create': [
      'owner',
      ['api_key.created'],
      async () => () =>
        owner.call('POST', '/api-keys', { name: 'Build server', permissions: ['licenses:read'] }),
    ],
    'apiKeys.revoke': [
      'owner',
      ['api_key.revoked'],
      async () => {
        const { id } = await makeApiKey(on, owner)
        return () => owner.call('DELETE', `/api-keys/${id}`)
      },
    ],
    'members.invite': [
      'owner',
      ['member.invited'],
      async () => () =>
        owner.call('POST', '/members', { email: newAddress(), role: 'support', apps: [app._id] }),
    ],
    'members.update': ['owner', ['member.updated'], onMember('PATCH', '', { role: 'manager', apps: null })],
    'members.remove': ['owner', ['member.removed'], onMember('DELETE', '')],
    'members.makeOwner': [
      'owner',
      ['vendor.handed_over'],
      async () => {
        const own = await signUp(on)
        const { _id } = await addMember(on, own)
        return () => own.call('POST', `/members/${_id}/make-owner`)
      },
    ],
    'vendors.acceptInvitation': [
      'member',
      ['member.joined'],
      async () => {
        const { token } = await invite(owner)
        const body = { token, name: 'F', password: 'secret1' }
        return () => on.call('POST', '/auth/invitations/accept', { body })
      },
    ],
    'vendors.open': [
      'owner',
      ['owner.signed_in'],
      async () => () => owner.call('POST', '/auth/vendor', { _id: owner.id }),
    ],
    'vendors.leave': [
      'member',
      ['member.left'],
      async () => {
        const person = await signUp(on)
        await addPerson(on, owner, person)
        return () => person.call('DELETE', `/auth/vendors/${owner.id}`)
      },
    ],
    'vendors.deleteAccount': [
      'account',
      ['account.deleted'],
      async () => {
        const person = await signUp(on)
        return () => person.call('DELETE', '/auth/account', { password: person.password })
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
    'compatibility.update': [
      'owner',
      ['app.compatibility_changed'],
      onApp('PUT', '/compatibility', { enabled: true }),
    ],
    'apps.updateErrorMessages': [
      'owner',
      ['app.messages_changed'],
      onApp('PUT', '/error-messages', { keyUsed: 'Taken' }),
    ],
    'apps.resetErrorMessages': ['owner', ['app.messages_reset'], onApp('DELETE', '/error-messages')],
    'appMails.update': [
      'owner',
      ['app.mail_changed'],
      onApp('PUT', '/mail', { subject: 'Keys', text: '{key}' }),
    ],
    'profiles.update': [
      'owner',
      ['vendor.profile_changed'],
      async () => () => owner.call('PUT', '/profile', { name: 'Nordlys' }),
    ],
    'profiles.updateOfApp': ['owner', ['app.profile_changed'], onApp('PUT', '/profile', { name: 'Nordlys' })],
    'appMails.reset': ['owner', ['app.mail_reset'], onApp('DELETE', '/mail')],
    'lazyMove.update': ['owner', ['app.lazy_move_changed'], onApp('PUT', '/lazy-move', lazyMoveSettings)],
    'customerMails.update': [
      'owner',
      ['app.customer_mails_changed'],
      onApp('PUT', '/customer-mails', { ended: true }),
    ],
    'appMails.test': [
      'owner',
      ['app.mail_tested'],
      async () => {
        await confirmAddress(on, owner)
        return () => owner.call('POST', `/apps/${app._id}/mail/test`, {})
      },
    ],
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
      ['release.added', 'app.updated'],
      onApp('POST', '/releases', { version: '1.2.0', releasedAt: '2026-03-01' }),
    ],
    'releases.update': ['owner', ['release.updated'], onRelease('PUT', '', { notes: 'New' })],
    'releases.withdraw': ['owner', ['release.withdrawn'], onRelease('POST', '/withdraw')],
    'exposure.notify': [
      'owner',
      ['release.notified'],
      async () => {
        // Only three releases are mailed about within a week.
        await on.database.db.deleteFrom('release_notices').execute()
        const own = await makeApp(owner)
        const buyer = { app: own._id, expiresAt: expiresAt2030, customer: newEmail() }
        const { license } = (await owner.call('POST', '/licenses', buyer)).json.data
        const program = await startProgram(on, own)
        await program.call('POST', '/license', { licenseKey: license.key, hwid: 'pc-1' })
        const security = { severity: 'high', affects: [{}], summary: 'Reads files of others' }
        const fix = { version: '1.0.1', releasedAt: '2026-01-01', security }
        const { release } = (await owner.call('POST', `/apps/${own._id}/releases`, fix)).json.data
        return async () => {
          Object.assign(on.config, { smtpUrl: 'smtp://127.0.0.1' })
          const answer = await owner.call('POST', `/releases/${release._id}/notify`, {})
          Object.assign(on.config, { smtpUrl: undefined })
          return answer
        }
      },
    ],
    'releases.remove': ['owner', ['release.removed'], onRelease('DELETE')],
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
    'licenses.mail': [
      'owner',
      ['license.mailed'],
      async () => {
        const body = { app: app._id, expiresAt: expiresAt2030, customer: newEmail() }
        const { license } = (await owner.call('POST', '/licenses', body)).json.data
        return async () => {
          // Without a mail server, mails go to the server's log, and none with the key of a license is asked for.
          Object.assign(on.config, { smtpUrl: 'smtp://127.0.0.1' })
          const answer = await owner.call('POST', `/licenses/${license._id}/mail`)
          Object.assign(on.config, { smtpUrl: undefined })
          return answer
        }
      },
    ],
    'licenses.toggleBan': ['owner', ['license.banned'], onLicense('PATCH', '/toggle-ban')],
    'licenses.remove': ['owner', ['license.deleted'], onLicense('DELETE', '')],
    'licenses.removeAll': [
      'owner',
      ['licenses.deletion_started', 'licenses.slice_deleted', 'licenses.deletion_finished'],
      async () => {
        await oneLicense(world)
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
        const { json } = await owner.call('POST', `/apps/${app._id}/blocklist`, {
          kind: 'hwid',
          value: 'pc-1',
        })
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
    'clients.update': [
      'owner',
      ['end_user.updated'],
      onEndUser('PATCH', '', { email: 'ada@engines.example' }),
    ],
    'clients.setPassword': [
      'owner',
      ['end_user.password_set'],
      async () => {
        const user = await makeDirect('ada')
        return () => owner.call('PUT', `/clients/${user._id}/password`, { password: 'secret2' })
      },
    ],
    'clients.addLicense': [
      'owner',
      ['license.redeemed'],
      async () => {
        const { user } = await activateKey(on, owner, app, 'pc-1')
        const { _id } = await oneLicense(world)
        return () => owner.call('POST', `/clients/${user._id}/licenses`, { license: _id })
      },
    ],
    'customers.create': [
      'owner',
      ['customer.created'],
      async () => {
        const email = newEmail()
        return () => owner.call('POST', '/customers', { email, name: 'Ada' })
      },
    ],
    'customers.update': ['owner', ['customer.updated'], onCustomer('PUT', { name: 'Ada' })],
    'customers.remove': ['owner', ['customer.erased'], onCustomer('DELETE')],
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
    'resellers.endSessions': [
      'owner',
      ['reseller.sessions_ended'],
      async () => {
        const { _id } = await makeReseller(on, owner, app)
        return () => owner.call('DELETE', `/resellers/${_id}/sessions`)
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
    'bulk.licenses': [
      'owner',
      ['licenses.banned'],
      async () => {
        const { _id } = await oneLicense(world)
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
    'bulk.undoLicenses': [
      'owner',
      ['licenses.ends_restored'],
      async () => {
        const { _id } = await oneLicense(world)
        const { json } = await owner.call('POST', '/licenses/bulk', { action: 'extend', days: 2, ids: [_id] })
        return () => owner.call('POST', '/licenses/bulk/undo', { undo: json.data.undo })
      },
    ],
    'bulk.undoClients': [
      'owner',
      ['end_users.ends_restored'],
      async () => {
        const { user } = await activateKey(on, owner, app)
        const { json } = await owner.call('POST', '/clients/bulk', {
          action: 'extend',
          days: 2,
          ids: [user._id],
        })
        return () => owner.call('POST', '/clients/bulk/undo', { undo: json.data.undo })
      },
    ],
    'offlineActivations.activate': [
      'owner',
      ['end_user.activated_offline', 'end_user.registered', 'device.bound'],
      async () => {
        const { key } = await oneLicense(world)
        const request = makeRequest(app, { licenseKey: key })
        return () => owner.call('POST', `/apps/${app._id}/offline-activations`, { request })
      },
    ],
    'offlineActivations.deactivate': [
      'owner',
      ['end_user.deactivated_offline', 'device.freed'],
      async () => {
        const { key } = await oneLicense(world)
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
      async () => () =>
        owner.call('POST', '/licenses/import', { app: app._id, csv: 'expiresAt\n2030-01-01' }),
    ],
    'imports.create': [
      'owner',
      ['import.created'],
      async () => () =>
        owner.call('POST', '/imports', { app: app._id, preset: 'keyauth', files: [oneUser()] }),
    ],
    'imports.putFile': [
      'owner',
      ['import.file_stored'],
      async () => {
        const { _id } = await roomyImport()
        return () => owner.call('PUT', `/imports/${_id}/files/users.json`, JSON.parse(oneUser().content))
      },
    ],
    'imports.run': [
      'owner',
      ['import.started'],
      async () => {
        const { _id } = await roomyImport([oneUser()])
        return () => owner.call('POST', `/imports/${_id}/run`, { dryRun: false })
      },
    ],
    'imports.undo': [
      'owner',
      ['import.undo_started'],
      async () => {
        const { _id } = await roomyImport()
        const imports = on.database.db.updateTable('data_imports').where('id', '=', _id)
        await imports.set({ state: 'done' }).execute()
        return () => owner.call('POST', `/imports/${_id}/undo`)
      },
    ],
    'settings.update': [
      'owner',
      ['settings.updated'],
      async () => () => owner.call('PUT', '/settings', { hwidLock: true }),
    ],
    'notifications.update': [
      'owner',
      ['notifications.updated'],
      async () => () => owner.call('PUT', '/settings/notifications', { weeklySummary: true }),
    ],
    'notifications.confirmEmail': [
      'owner',
      ['owner.email_confirmed'],
      async () => {
        const { accountId, email } = owner
        const until = on.clock.now() + 3_600_000
        const token = on.seal.sealToken(
          Buffer.from(JSON.stringify([accountId, email, until])),
          'email confirmation',
        )
        return () => owner.call('POST', '/settings/notifications/confirm-email', { token })
      },
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
  }
}
