import { activateKey, makeType, registerUser, startProgram } from '../actors.ts'
import { openPage, signInBy, signInByKey } from '../customer-actor.ts'
import { makeRequest } from '../offline-machine.ts'
import { makeReseller } from '../reseller-actor.ts'
import { addResetLink, type Call, expiresAt2030, oneLicense, type Recipes, type World } from './world.ts'

/** Every writing call of resellers, the payment provider and programs. */
export function otherRecipes(world: World): Recipes {
  const { on, owner, app } = world
  const inPortal = (method: string, path: string, body?: object) => async () => {
    const reseller = await makeReseller(on, owner, app)
    return () => reseller.call(method, path, body)
  }
  const order = async () =>
    (await owner.call('POST', '/payments/razorpay/create-order', {})).json.data.orderId
  const paying = async (): Promise<Call> => {
    const razorpay_order_id = await order()
    const body = {
      razorpay_order_id,
      razorpay_payment_id: `pay_${razorpay_order_id}`,
      razorpay_signature: 'mock',
    }
    return () => owner.call('POST', '/payments/razorpay/verify', body)
  }

  return {
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
        const token = await addResetLink(world, owner.accountId, _id)
        return () =>
          on.call('POST', '/resellers/auth/reset-password', { body: { token, password: 'secret2' } })
      },
    ],
    'portal.logout': ['reseller', ['reseller.signed_out'], inPortal('POST', '/logout')],
    'portalSessions.end': [
      'reseller',
      ['reseller.session_ended'],
      async () => {
        const reseller = await makeReseller(on, owner, app)
        const { sessions } = (await reseller.call('GET', '/sessions')).json.data
        return () => reseller.call('DELETE', `/sessions/${sessions[0]._id}`)
      },
    ],
    'portalSessions.endOthers': [
      'reseller',
      ['reseller.sessions_ended'],
      async () => {
        const { email, password, call } = await makeReseller(on, owner, app)
        await on.call('POST', '/resellers/auth/login', { body: { email, password } })
        return () => call('DELETE', '/sessions')
      },
    ],
    'portalSessions.confirm': [
      'reseller',
      ['reseller.identity_confirmed'],
      async () => {
        const { password, call } = await makeReseller(on, owner, app)
        return () => call('POST', '/confirm', { password })
      },
    ],
    'portal.createLicenses': [
      'reseller',
      ['licenses.created'],
      inPortal('POST', '/licenses', { count: 2, expiresAt: expiresAt2030 }),
    ],
    'portal.updateLicense': [
      'reseller',
      ['license.noted'],
      async () => {
        const reseller = await makeReseller(on, owner, app)
        const made = await reseller.call('POST', '/licenses', { expiresAt: expiresAt2030 })
        return () => reseller.call('PUT', `/licenses/${made.json.data.licenses[0]._id}`, { note: 'Order 7' })
      },
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
    'customerPage.login': [
      'customer',
      ['customer.signed_in'],
      async () => {
        await openPage(owner, app)
        const { key } = await oneLicense(world)
        return () => on.call('POST', `/customer/${app.appId}/login`, { body: { licenseKey: key } })
      },
    ],
    'customerPage.logout': [
      'customer',
      ['customer.signed_out'],
      async () => {
        await openPage(owner, app)
        const customer = await signInByKey(on, app, (await oneLicense(world)).key)
        return () => customer.call('POST', '/logout')
      },
    ],
    'customerPage.freeDevice': [
      'customer',
      ['device.freed'],
      async () => {
        await openPage(owner, app)
        const { license } = await activateKey(on, owner, app, 'pc-1')
        const customer = await signInByKey(on, app, license.key)
        const { devices } = (await customer.call('GET', '/devices')).json.data
        return () => customer.call('DELETE', `/devices/${devices[0]._id}`)
      },
    ],
    'customerPage.setPassword': [
      'customer',
      ['end_user.password_set'],
      async () => {
        await openPage(owner, app)
        await registerUser(on, owner, app)
        const customer = await signInBy(on, app, { username: 'alice', password: 'swordfish' })
        const body = { currentPassword: 'swordfish', newPassword: 'secret2' }
        return () => customer.call('PUT', '/password', body)
      },
    ],
    'customerPage.activateOffline': [
      'customer',
      ['end_user.activated_offline'],
      async () => {
        await openPage(owner, app)
        const { key } = await oneLicense(world)
        const customer = await signInByKey(on, app, key)
        const body = { request: makeRequest(app, { licenseKey: key }) }
        return () => customer.call('POST', '/offline-activations', body)
      },
    ],
    'payments.verify': ['provider', ['payment.updated', 'plan.paid'], paying],
    'payments.cancelSubscription': [
      'owner',
      ['plan.cancelled'],
      async () => {
        const pay = await paying()
        await pay()
        return () => owner.call('POST', '/payments/cancel-subscription', {})
      },
    ],
    'program.register': [
      'program',
      ['end_user.registered'],
      async () => {
        const { key } = await oneLicense(world)
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
        const { key } = await oneLicense(world)
        const program = await startProgram(on, app)
        return () => program.call('POST', '/license', { licenseKey: key })
      },
    ],
    'program.upgrade': [
      'program',
      ['license.redeemed'],
      async () => {
        const { program } = await registerUser(on, owner, app)
        const { key } = await oneLicense(world)
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
        const { key } = await oneLicense(world)
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
        const { key } = await oneLicense(world)
        const body = { licenseKey: key, hwid: 'pc-1', remember: true }
        const { deviceToken } = (await program.call('POST', '/license', body)).json.data
        return () => program.call('POST', '/resume', { deviceToken, hwid: 'pc-1' })
      },
    ],
    'program.updates': [
      'program',
      [],
      async () => {
        const { program } = await activateKey(on, owner, app, 'pc-1')
        return () => program.call('POST', '/updates', { platform: 'windows', architecture: 'x64' })
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
}
