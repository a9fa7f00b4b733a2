import type { ActionName } from '@keyward/contract'
import { signUp } from '../actors.ts'
import { addPasskey, addTotp, askedBy, beginPasskey, codeOf, type Person, show } from '../factors.ts'
import type { TestServer } from '../harness.ts'
import { makeReseller } from '../reseller-actor.ts'
import type { Recipe, Recipes, World } from './world.ts'

/** Every writing call about second factors, of people and of resellers. */
export function factorRecipes(world: World): Recipes {
  const { on, owner, app } = world
  const ofOwner = async (): Promise<Person> => ({ base: '/auth', ...(await signUp(on)) })
  const ofReseller = async (): Promise<Person> => ({
    base: '/resellers/auth',
    ...(await makeReseller(on, owner, app)),
  })
  return {
    ...named('secondFactor', recipesOf(on, 'owner', ofOwner)),
    ...named('portalSecondFactor', recipesOf(on, 'reseller', ofReseller)),
    'resellers.resetSecondFactor': [
      'owner',
      ['reseller.second_factors_removed'],
      async () => {
        const { _id } = await makeReseller(on, owner, app)
        return () => owner.call('DELETE', `/resellers/${_id}/second-factor`)
      },
    ],
  }
}

const named = (noun: string, recipes: Recipes): Recipes =>
  Object.fromEntries(Object.entries(recipes).map(([name, recipe]) => [`${noun}.${name}`, recipe]))

function recipesOf(on: TestServer, kind: 'owner' | 'reseller', make: () => Promise<Person>): Recipes {
  const recipe = (action: string, prepare: (person: Person) => ReturnType<Recipe[2]>): Recipe => [
    kind,
    [`${kind}.${action}` as ActionName],
    async () => prepare(await make()),
  ]
  const call = ({ base, token }: Person, method: string, path: string, body?: object) =>
    on.call(method, `${base}${path}`, { token, body })
  return {
    confirmTotp: recipe('totp_added', async (person) => {
      const { secret } = (await call(person, 'POST', '/totp')).json.data
      const code = codeOf(secret, on.clock.now())
      return () => call(person, 'POST', '/totp/confirm', { code })
    }),
    removeTotp: recipe('totp_removed', async (person) => {
      const { secret } = await addTotp(on, person)
      return () => call(person, 'DELETE', '/totp', { code: codeOf(secret, on.clock.now()) })
    }),
    addPasskey: recipe('passkey_added', async (person) => {
      const { credential } = await beginPasskey(on, person)
      return () => call(person, 'POST', '/passkeys', { name: 'Phone', credential })
    }),
    removePasskey: recipe('passkey_removed', async (person) => {
      const { passkey } = await addPasskey(on, person)
      return () => call(person, 'DELETE', `/passkeys/${passkey._id}`)
    }),
    complete: recipe('recovery_code_used', async (person) => {
      const { recoveryCodes } = await addTotp(on, person)
      const { challenge } = await askedBy(on, person)
      return () => show(on, person, { challenge, recoveryCode: recoveryCodes[0] })
    }),
    passkeyLogin: recipe('signed_in', async (person) => {
      const { authenticator } = await addPasskey(on, person)
      const { json } = await on.call('POST', `${person.base}/passkey-login/options`, { body: {} })
      const { challenge, options } = json.data
      const body = { challenge, credential: authenticator.get(options) }
      return () => on.call('POST', `${person.base}/passkey-login`, { body })
    }),
  }
}
