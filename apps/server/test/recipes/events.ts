import { activateKey, signUp, startProgram } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { addTotp, type Person, signIn } from '../factors.ts'
import { addMember } from '../member-actor.ts'
import { startOldProvider } from '../old-provider.ts'
import { makeReseller } from '../reseller-actor.ts'
import { oneLicense, type Recipes, type World } from './world.ts'

/** The same calls with other inputs, for events that the recipes of all calls do not cause. */
export function furtherRecipes(world: World): Recipes {
  const { on, owner, app } = world
  const license = () => oneLicense(world)
  const endUser = async () => (await activateKey(on, owner, app, 'pc-1')).user
  const twice = (noun: string, make: () => Promise<{ _id: string }>, change: string) => async () => {
    const { _id } = await make()
    await owner.call('PATCH', `/${noun}/${_id}/${change}`)
    return () => owner.call('PATCH', `/${noun}/${_id}/${change}`)
  }
  const bulk =
    (noun: string, make: () => Promise<{ _id: string }>, action: object, first?: object) => async () => {
      const ids = [(await make())._id]
      if (first) await owner.call('POST', `/${noun}/bulk`, { ids, ...first })
      return () => owner.call('POST', `/${noun}/bulk`, { ids, ...action })
    }
  const asked = (make: () => Promise<Person>) => async () => {
    const person = await make()
    await addTotp(on, person)
    return () => signIn(on, person)
  }
  const ofOwner = async (): Promise<Person> => ({ base: '/auth', ...(await signUp(on)) })
  const ofReseller = async (): Promise<Person> => ({
    base: '/resellers/auth',
    ...(await makeReseller(on, owner, app)),
  })
  return {
    'program.move': [
      'program',
      ['end_user.moved'],
      async () => {
        const old = await startOldProvider('1.2', () => on.clock.now())
        old.add('frodo', { password: 'ring-bearer-1' })
        const until = on.clock.inDays(30)
        await owner.call('PUT', `/apps/${app._id}/lazy-move`, { url: old.url, ...old.settings, until })
        const program = await startProgram(on, app)
        const sent = { username: 'frodo', password: 'ring-bearer-1' }
        return () => program.call('POST', '/login', sent).finally(() => old.close())
      },
    ],
    'clients.setEnd': [
      'owner',
      ['end_user.expiry_changed'],
      async () => {
        const { _id } = await endUser()
        return () => owner.call('PATCH', `/clients/${_id}`, { expiresAt: '2030-01-01' })
      },
    ],
    'licenses.unban': ['owner', ['license.unbanned'], twice('licenses', license, 'toggle-ban')],
    'licenses.annotate': [
      'owner',
      ['license.updated'],
      async () => {
        const { _id } = await license()
        return () => owner.call('PUT', `/licenses/${_id}`, { note: 'Order 17' })
      },
    ],
    'clients.unban': ['owner', ['end_user.unbanned'], twice('clients', endUser, 'toggle-ban')],
    'clients.resume': ['owner', ['end_user.resumed'], twice('clients', endUser, 'toggle-pause')],
    'bulk.extendLicenses': [
      'owner',
      ['licenses.extended'],
      bulk('licenses', license, { action: 'extend', days: 3 }),
    ],
    'bulk.setEndsOfLicenses': [
      'owner',
      ['licenses.expiry_changed'],
      bulk('licenses', license, { action: 'extend', expiresAt: null }),
    ],
    'bulk.setEndsOfClients': [
      'owner',
      ['end_users.expiry_changed'],
      bulk('clients', endUser, { action: 'extend', expiresAt: null }),
    ],
    'bulk.unbanLicenses': [
      'owner',
      ['licenses.unbanned'],
      bulk('licenses', license, { action: 'unban' }, { action: 'ban' }),
    ],
    'bulk.deleteLicenses': ['owner', ['licenses.deleted'], bulk('licenses', license, { action: 'delete' })],
    'bulk.banClients': ['owner', ['end_users.banned'], bulk('clients', endUser, { action: 'ban' })],
    'bulk.unbanClients': [
      'owner',
      ['end_users.unbanned'],
      bulk('clients', endUser, { action: 'unban' }, { action: 'ban' }),
    ],
    'bulk.resetClients': [
      'owner',
      ['end_users.hwid_reset'],
      bulk('clients', endUser, { action: 'reset-hwid' }),
    ],
    'bulk.deleteClients': ['owner', ['end_users.deleted'], bulk('clients', endUser, { action: 'delete' })],
    'auth.loginWithFactor': ['owner', ['owner.second_factor_asked'], asked(ofOwner)],
    'portal.loginWithFactor': ['reseller', ['reseller.second_factor_asked'], asked(ofReseller)],
    'members.makeOwnerWithKeys': [
      'owner',
      ['api_keys.revoked', 'vendor.handed_over'],
      async () => {
        const own = await signUp(on)
        await makeApiKey(on, own)
        const { _id } = await addMember(on, own)
        return () => own.call('POST', `/members/${_id}/make-owner`)
      },
    ],
  }
}
