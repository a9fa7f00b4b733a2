// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { limits } from '@keyward/contract'
import { beforeEach, describe, expect, test } from 'vitest'
import { hour, minute } from '../../src/core/clock.ts'
import { makeApp, makePremium, refusal, signUp } from '../actors.ts'
import { Authenticator, type Deviation } from '../authenticator.ts'
import {
  addPasskey,
  addTotp,
  askedBy,
  beginPasskey,
  codeOf,
  type Person,
  passkeyLogin,
  show,
  signIn,
} from '../factors.ts'
import { serverForAll } from '../fixtures.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll({ RATE_LIMITS: 'on' })
// All tests call from one address, whose wrong passkeys are counted.
beforeEach(() => on.clock.advance(15 * minute))

async function makeOwner(): Promise<Person> {
  const { email, password, token } = await signUp(on)
  return { base: '/auth', email, password, token }
}

async function makeSeller(): Promise<Person> {
  const owner = await signUp(on)
  await makePremium(on, owner)
  const { email, password, token } = await makeReseller(on, owner, await makeApp(owner))
  return { base: '/resellers/auth', email, password, token }
}

const factorsOf = async ({ base, token }: Person) =>
  (await on.call('GET', `${base}/second-factor`, { token })).json.data
const add = (person: Person, body: object) =>
  on.call('POST', `${person.base}/passkeys`, { token: person.token, body })
const remove = (person: Person, id: string) =>
  on.call('DELETE', `${person.base}/passkeys/${id}`, { token: person.token })

describe.each([
  ['an owner', makeOwner],
  ['a reseller', makeSeller],
] as const)('%s', (_who, make) => {
  test('adds a passkey, and gets recovery codes with its first factor alone', async () => {
    const person = await make()
    const first = await addPasskey(on, person, 'Phone')
    expect(first.recoveryCodes).toHaveLength(10)
    const second = await addPasskey(on, person, 'Key')
    expect(second.recoveryCodes).toBeNull()
    expect(await factorsOf(person)).toEqual({
      totp: false,
      passkeys: [
        { _id: first.passkey._id, name: 'Phone', createdAt: expect.any(String), lastUsedAt: null },
        { _id: second.passkey._id, name: 'Key', createdAt: expect.any(String), lastUsedAt: null },
      ],
      recoveryCodes: 10,
    })
  })

  test('signs in with the password and a passkey, and sees when it was used', async () => {
    const person = await make()
    const { authenticator } = await addPasskey(on, person)
    const { challenge, methods, options } = await askedBy(on, person)
    expect(methods).toEqual(['passkey', 'recovery'])
    expect(options).toMatchObject({
      challenge,
      rpId: 'localhost',
      allowCredentials: [{ id: authenticator.id.toString('base64url'), type: 'public-key' }],
    })
    const credential = authenticator.get(options, { isUserVerified: false })
    const answer = await show(on, person, { challenge, credential })
    expect(answer.json.data.token).toEqual(expect.any(String))
    expect((await factorsOf(person)).passkeys[0].lastUsedAt).toBe(new Date(on.clock.now()).toISOString())
    expect(refusal(await show(on, person, { challenge, credential }))).toBe('challenge_ended')
  })

  test('may show any factor it has', async () => {
    const person = await make()
    const { authenticator, recoveryCodes } = await addPasskey(on, person)
    const { secret } = await addTotp(on, person)
    const asked = await askedBy(on, person)
    expect(asked.methods).toEqual(['totp', 'passkey', 'recovery'])
    const code = codeOf(secret, on.clock.now())
    expect((await show(on, person, { challenge: asked.challenge, code })).status).toBe(200)
    const { challenge, options } = await askedBy(on, person)
    // The app made new recovery codes, which replace the first ones.
    expect(refusal(await show(on, person, { challenge, recoveryCode: recoveryCodes?.[0] }))).toBe(
      'invalid_code',
    )
    const credential = authenticator.get(options)
    expect((await show(on, person, { challenge, credential })).status).toBe(200)
  })

  test('signs in with a passkey alone', async () => {
    const person = await make()
    const { authenticator } = await addPasskey(on, person)
    const answer = await passkeyLogin(on, person.base, authenticator)
    expect(answer.status).toBe(200)
    const { token } = answer.json.data
    expect((await on.call('GET', `${person.base}/profile`, { token })).status).toBe(200)
  })

  test.each<[string, Deviation]>([
    ['without a verified user', { isUserVerified: false }],
    ['without a user', { isUserPresent: false, isUserVerified: false }],
    ['for another origin', { origin: 'https://evil.example' }],
    ['for another relying party', { host: 'evil.example' }],
    ['for another challenge', { challenge: 'YW5vdGhlciBjaGFsbGVuZ2Ugb2YgYSBzZXJ2ZXI' }],
    ['for another account', { userHandle: Buffer.from('account:own_1').toString('base64url') }],
    ['without an account', { userHandle: null }],
  ])(
    'does not sign in with a passkey alone %s, which answers like an unknown one',
    async (_what, deviation) => {
      const person = await make()
      const { authenticator } = await addPasskey(on, person)
      const refused = await passkeyLogin(on, person.base, authenticator, deviation)
      expect(refusal(refused)).toBe('invalid_code')
      const unknown = await passkeyLogin(on, person.base, new Authenticator())
      expect(refused.raw.toString()).toBe(unknown.raw.toString())
      expect((await passkeyLogin(on, person.base, authenticator)).status).toBe(200)
    },
  )

  test('cannot sign in with its passkey as the other kind of account', async () => {
    const person = await make()
    const { authenticator } = await addPasskey(on, person)
    const base = person.base === '/auth' ? '/resellers/auth' : '/auth'
    expect(refusal(await passkeyLogin(on, base, authenticator))).toBe('invalid_code')
    const { json } = await on.call('POST', `${base}/passkey-login/options`, { body: {} })
    const { challenge, options } = json.data
    const body = { challenge, credential: authenticator.get(options) }
    expect(refusal(await on.call('POST', `${person.base}/passkey-login`, { body }))).toBe('challenge_ended')
  })

  test('opens one session with one answer, of 32 concurrent calls, within five minutes', async () => {
    const person = await make()
    const { authenticator } = await addPasskey(on, person)
    const begin = async () =>
      (await on.call('POST', `${person.base}/passkey-login/options`, { body: {} })).json.data
    const login = (body: object) => on.call('POST', `${person.base}/passkey-login`, { body })
    const late = await begin()
    on.clock.advance(5 * minute)
    expect(
      refusal(await login({ challenge: late.challenge, credential: authenticator.get(late.options) })),
    ).toBe('challenge_ended')
    const { challenge, options } = await begin()
    const body = { challenge, credential: authenticator.get(options, { counter: 0 }) }
    const answers = await Promise.all(Array.from({ length: 32 }, () => login(body)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(refusal(await login(body))).toBe('challenge_ended')
    expect(refusal(await login({ ...body, challenge: `${challenge.slice(0, -1)}A` }))).toBe('challenge_ended')
  })

  test('cannot use an answer again after more challenges than an account can have open', async () => {
    const person = await make()
    const { authenticator } = await addPasskey(on, person)
    const { challenge, options } = (
      await on.call('POST', `${person.base}/passkey-login/options`, { body: {} })
    ).json.data
    const body = { challenge, credential: authenticator.get(options, { counter: 0 }) }
    const login = () => on.call('POST', `${person.base}/passkey-login`, { body })
    expect((await login()).status).toBe(200)
    for (let at = 0; at < 51; at += 1) {
      on.clock.advance(1)
      await askedBy(on, person)
    }
    expect(refusal(await login())).toBe('challenge_ended')
  })

  test('is refused once the count of signatures does not grow: the authenticator was copied', async () => {
    const person = await make()
    const { authenticator } = await addPasskey(on, person)
    const login = (counter: number) => passkeyLogin(on, person.base, authenticator, { counter })
    expect((await login(7)).status).toBe(200)
    expect(refusal(await login(7))).toBe('invalid_code')
    expect(refusal(await login(3))).toBe('invalid_code')
    const { challenge, options } = await askedBy(on, person)
    const credential = authenticator.get(options, { counter: 7 })
    expect(refusal(await show(on, person, { challenge, credential }))).toBe('invalid_code')
    expect((await login(8)).status).toBe(200)
  })

  test.each<[string, Deviation]>([
    ['another origin', { origin: 'http://localhost.evil.example' }],
    ['another relying party', { host: 'evil.example' }],
    ['an absent user', { isUserPresent: false }],
  ])('cannot add a passkey for %s', async (_what, deviation) => {
    const person = await make()
    const { credential } = await beginPasskey(on, person, deviation)
    expect(refusal(await add(person, { name: 'Phone', credential }))).toBe('invalid_code')
    expect((await factorsOf(person)).passkeys).toEqual([])
    expect((await signIn(on, person)).json.data.token).toEqual(expect.any(String))
  })

  test('adds a passkey once, in time, and only with its own challenge', async () => {
    const [person, other] = [await make(), await make()]
    const { credential } = await beginPasskey(on, person)
    expect(refusal(await add(other, { name: 'Theirs', credential }))).toBe('challenge_ended')
    expect((await add(person, { name: 'Phone', credential })).status).toBe(201)
    expect(refusal(await add(person, { name: 'Again', credential }))).toBe('challenge_ended')
    const late = await beginPasskey(on, person)
    on.clock.advance(5 * minute)
    expect(refusal(await add(person, { name: 'Late', credential: late.credential }))).toBe('challenge_ended')
    const { challenge } = await askedBy(on, person)
    const own = new Authenticator()
    const { json } = await on.call('POST', `${person.base}/passkeys/options`, { token: person.token })
    const signedIn = own.create({ ...json.data.options, challenge })
    expect(refusal(await add(person, { name: 'Sign-in', credential: signedIn }))).toBe('challenge_ended')
  })

  test('cannot add the passkey of another account as its own', async () => {
    const [person, other] = [await make(), await make()]
    const { authenticator } = await addPasskey(on, other)
    const { json } = await on.call('POST', `${person.base}/passkeys/options`, { token: person.token })
    const credential = authenticator.create(json.data.options)
    expect(refusal(await add(person, { name: 'Stolen', credential }))).toBe('invalid_code')
    expect((await factorsOf(person)).passkeys).toEqual([])
  })

  test('cannot show or remove the passkey of another account', async () => {
    const [person, other] = [await make(), await make()]
    await addPasskey(on, person)
    const { authenticator, passkey } = await addPasskey(on, other)
    const { challenge, options } = await askedBy(on, person)
    const credential = authenticator.get(options)
    expect(refusal(await show(on, person, { challenge, credential }))).toBe('invalid_code')
    const foreign = await remove(person, passkey._id)
    const missing = await remove(person, 'psk_none')
    expect([refusal(foreign), foreign.raw.toString()]).toEqual(['not_found', missing.raw.toString()])
    expect((await factorsOf(other)).passkeys).toHaveLength(1)
  })

  test('removes a passkey; without the last factor the recovery codes are gone too', async () => {
    const person = await make()
    const { passkey, authenticator } = await addPasskey(on, person)
    await addTotp(on, person)
    expect((await remove(person, passkey._id)).status).toBe(200)
    expect(await factorsOf(person)).toEqual({ totp: true, passkeys: [], recoveryCodes: 10 })
    expect(refusal(await passkeyLogin(on, person.base, authenticator))).toBe('invalid_code')
    const again = await make()
    const only = await addPasskey(on, again)
    expect((await remove(again, only.passkey._id)).status).toBe(200)
    expect(await factorsOf(again)).toEqual({ totp: false, passkeys: [], recoveryCodes: 0 })
    expect((await signIn(on, again)).json.data.token).toEqual(expect.any(String))
  })

  test('has at most 20 passkeys, also if they are added at once', async () => {
    const person = await make()
    const begun = []
    for (let at = 0; at < limits.passkeysMax + 4; at += 1) begun.push(await beginPasskey(on, person))
    const answers = await Promise.all(begun.map(({ credential }) => add(person, { name: 'One', credential })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(limits.passkeysMax)
    const others = answers.filter(({ status }) => status !== 201)
    expect(others.map(refusal)).toEqual(Array(4).fill('passkeys_full'))
    const full = await on.call('POST', `${person.base}/passkeys/options`, { token: person.token })
    expect(refusal(full)).toBe('passkeys_full')
  })
})

test('an address gets 429 after 30 wrong passkeys in fifteen minutes, and no other address does', async () => {
  const person = await makeOwner()
  const { authenticator } = await addPasskey(on, person)
  const login = (deviation: Deviation, from: string) =>
    passkeyLogin(on, '/auth', authenticator, deviation, from)
  for (let at = 0; at < 30; at += 1) await login({ isUserVerified: false }, '203.0.113.9')
  expect(refusal(await login({}, '203.0.113.9'))).toBe('rate_limited')
  expect((await login({}, '203.0.113.10')).status).toBe(200)
})

test('a person gets 429 after a thousand right passkeys in an hour, and no other person does', async () => {
  const [person, other] = [await makeOwner(), await makeOwner()]
  const { authenticator } = await addPasskey(on, person)
  const { authenticator: theirs } = await addPasskey(on, other)
  expect((await passkeyLogin(on, person.base, authenticator)).status).toBe(200)
  await on.database.db.updateTable('attempts').set({ count: 1000 }).where('count', '=', 1).execute()
  expect(refusal(await passkeyLogin(on, person.base, authenticator))).toBe('rate_limited')
  expect((await passkeyLogin(on, other.base, theirs)).status).toBe(200)
  on.clock.advance(hour)
  expect((await passkeyLogin(on, person.base, authenticator)).status).toBe(200)
})

test('a suspended reseller cannot sign in with its passkey', async () => {
  const owner = await signUp(on)
  await makePremium(on, owner)
  const reseller = await makeReseller(on, owner, await makeApp(owner))
  const person: Person = { base: '/resellers/auth', ...reseller }
  const { authenticator } = await addPasskey(on, person)
  await owner.call('PUT', `/resellers/${reseller._id}`, { active: false })
  expect(refusal(await passkeyLogin(on, person.base, authenticator))).toBe('invalid_code')
  await owner.call('PUT', `/resellers/${reseller._id}`, { active: true })
  expect((await passkeyLogin(on, person.base, authenticator)).status).toBe(200)
})
