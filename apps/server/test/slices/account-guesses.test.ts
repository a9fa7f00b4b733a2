import { describe, expect, test } from 'vitest'
import { day, minute, second } from '../../src/core/clock.ts'
import { sha256 } from '../../src/core/crypto.ts'
import { Passwords } from '../../src/core/passwords.ts'
import { makeApp, makePremium, refusal, signUp, startProgram } from '../actors.ts'
import type { Answer } from '../harness.ts'
import { makeReseller } from '../reseller-actor.ts'
import { serverForAll, tidyUp } from '../stage.ts'

const on = serverForAll({ RATE_LIMITS: 'on', PAYMENTS: 'off' })
const home = '10.0.0.1'

/** Somebody signs in to one account with a password, from an address. */
type SignIn = (password: string, from: string) => Promise<Answer>

const owners = async () => {
  const owner = await signUp(on)
  const signIn: SignIn = (password, from) =>
    on.call('POST', '/auth/login', { body: { email: owner.email, password }, from })
  return { signIn, password: owner.password, wrong: 'invalid_credentials' }
}

const resellers = async () => {
  const owner = await signUp(on)
  await makePremium(on, owner)
  const reseller = await makeReseller(on, owner, await makeApp(owner))
  const signIn: SignIn = (password, from) =>
    on.call('POST', '/resellers/auth/login', { body: { email: reseller.email, password }, from })
  return { signIn, password: reseller.password, wrong: 'invalid_credentials' }
}

const endUsers = async () => {
  const owner = await signUp(on)
  const app = await makeApp(owner)
  const user = { username: 'alice', password: 'swordfish' }
  const expiresAt = on.clock.inDays(3)
  await owner.call('POST', '/clients/create-direct', { ...user, appId: app.appId, expiresAt })
  const program = await startProgram(on, app)
  const signIn: SignIn = (password, from) =>
    program.call('POST', '/login', { username: user.username, password }, { from })
  return { signIn, password: user.password, wrong: 'passMismatch' }
}

const nobodies = async () => {
  const signIn: SignIn = (password, from) =>
    on.call('POST', '/auth/login', { body: { email: 'nobody@example.com', password }, from })
  return { signIn, password: undefined, wrong: 'invalid_credentials' }
}

let networks = 0
/** An address of a network that nothing came from before. */
const elsewhere = () => `2001:db8:${(networks++).toString(16)}::1`

async function useUp(signIn: SignIn, wrong: string): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    const guesses = Array.from({ length: 25 }, () => signIn('wrong', elsewhere()))
    for (const answer of await Promise.all(guesses)) expect(refusal(answer)).toBe(wrong)
  }
}

describe.each([
  ['an owner', owners],
  ['a reseller', resellers],
  ['an end user', endUsers],
  ['an account that does not exist', nobodies],
])('guesses of the password of %s', (_name, make) => {
  test('are answered 100 times in a quarter of an hour, from however many addresses', async () => {
    const { signIn, password = 'right', wrong } = await make()
    await useUp(signIn, wrong)
    for (const guess of ['wrong', password]) {
      const refused = await signIn(guess, elsewhere())
      expect(refusal(refused)).toBe('rate_limited')
      expect(refused.headers['retry-after']).toBe('60')
    }
  })
})

test('after the hundredth wrong password each further one has to wait longer, up to an hour', async () => {
  const { signIn, password, wrong } = await owners()
  await useUp(signIn, wrong)
  for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
    on.clock.advance(minutes * minute - second)
    const refused = await signIn(password, elsewhere())
    expect(refusal(refused)).toBe('rate_limited')
    expect(refused.headers['retry-after']).toBe('1')
    on.clock.advance(second)
    expect(refusal(await signIn('wrong', elsewhere()))).toBe(wrong)
  }
  on.clock.advance(60 * minute)
  expect((await signIn(password, elsewhere())).status).toBe(200)
})

test('an account that was left alone for a day starts anew', async () => {
  const { signIn, wrong } = await owners()
  await useUp(signIn, wrong)
  on.clock.advance(day + minute)
  await useUp(signIn, wrong)
  expect(refusal(await signIn('wrong', elsewhere()))).toBe('rate_limited')
})

test('a clock that is set back leaves no account and no address locked', async () => {
  const { signIn, password, wrong } = await owners()
  await useUp(signIn, wrong)
  const here = elsewhere()
  on.clock.advance(-30 * day)
  for (let guess = 0; guess < 10; guess += 1) expect(refusal(await signIn('wrong', here))).toBe(wrong)
  expect(refusal(await signIn(password, here))).toBe('rate_limited')
  on.clock.advance(-30 * day)
  expect(refusal(await signIn('wrong', here))).toBe(wrong)
  expect((await signIn(password, here)).status).toBe(200)
  expect((await signIn(password, elsewhere())).status).toBe(200)
  on.clock.advance(60 * day)
})

test.each([
  ['an owner', owners],
  ['a reseller', resellers],
  ['an end user', endUsers],
])('%s still gets in from an address that was signed in from before', async (_name, make) => {
  const { signIn, password, wrong } = await make()
  expect((await signIn(password, home)).status).toBe(200)
  await useUp(signIn, wrong)
  expect(refusal(await signIn(password, elsewhere()))).toBe('rate_limited')
  expect((await signIn(password, home)).status).toBe(200)
  expect(refusal(await signIn('wrong', home))).toBe(wrong)
})

test('the address that an owner signed up from is known, also after a change of the email', async () => {
  const owner = await signUp(on)
  const email = `new-${owner.email}`
  const from = '127.0.0.1'
  const body = { email, password: owner.password }
  expect((await on.call('PUT', '/auth/email', { token: owner.token, body, from })).status).toBe(200)
  const signIn: SignIn = (password, address) =>
    on.call('POST', '/auth/login', { body: { email, password }, from: address })
  await useUp(signIn, 'invalid_credentials')
  expect((await signIn(owner.password, from)).status).toBe(200)
})

test('of many guesses at once from as many addresses no more than 100 are answered', async () => {
  const { signIn, password } = await owners()
  const answers: Answer[] = []
  for (let round = 0; round < 4; round += 1) {
    const guesses = Array.from({ length: 40 }, (_, at) => signIn(at % 10 ? 'wrong' : 'bad', elsewhere()))
    answers.push(...(await Promise.all(guesses)))
  }
  const codes = answers.map(refusal)
  expect(codes.filter((code) => code === 'invalid_credentials')).toHaveLength(100)
  expect(refusal(await signIn(password, elsewhere()))).toBe('rate_limited')
})

test('an account remembers its last 20 addresses for 90 days, as hashes', async () => {
  const { signIn, password, wrong } = await owners()
  const known = () => on.database.db.selectFrom('known_addresses').selectAll().execute()
  const before = new Set((await known()).map((row) => row.account))
  const addresses = Array.from({ length: 25 }, elsewhere)
  for (const address of addresses) {
    on.clock.advance(second)
    expect((await signIn(password, address)).status).toBe(200)
  }
  const rows = (await known()).filter((row) => !before.has(row.account))
  const [oldest = '', newest = ''] = [addresses[0], addresses.at(-1)]
  expect(JSON.stringify(rows)).not.toContain(newest)
  expect(rows.map((row) => row.address)).not.toContain(sha256(newest))
  await useUp(signIn, wrong)
  expect(refusal(await signIn(password, oldest))).toBe('rate_limited')
  expect((await signIn(password, newest)).status).toBe(200)
  const counts = Map.groupBy(await known(), (row) => row.account)
  expect(Math.max(...[...counts.values()].map((list) => list.length))).toBe(20)

  on.clock.advance(90 * day + second)
  await useUp(signIn, wrong)
  expect(refusal(await signIn(password, newest))).toBe('rate_limited')
  await tidyUp(on)
  expect(await known()).toEqual([])
})

describe('a right password that is still being compared', () => {
  /** The real hashes; the answer to a right password can be kept back. */
  class SlowPasswords extends Passwords {
    keepBack: Promise<void> | undefined
    found = () => {}

    override async verify(...given: Parameters<Passwords['verify']>): Promise<boolean> {
      const matches = await super.verify(...given)
      if (!matches || !this.keepBack) return matches
      this.found()
      await this.keepBack
      return matches
    }
  }
  const passwords = new SlowPasswords()
  const slow = serverForAll({ RATE_LIMITS: 'on', PAYMENTS: 'off' }, { passwords })

  /** Signs in with the right password, whose comparison ends after `meanwhile` has ended. */
  async function signInDuring(meanwhile: (signIn: SignIn) => Promise<void>): Promise<Answer> {
    const owner = await signUp(slow)
    const signIn: SignIn = (password, from) =>
      slow.call('POST', '/auth/login', { body: { email: owner.email, password }, from })
    const { promise, resolve } = Promise.withResolvers<void>()
    const found = new Promise<void>((done) => {
      passwords.found = done
    })
    passwords.keepBack = promise
    const answer = signIn(owner.password, home)
    await found
    await meanwhile(signIn)
    passwords.keepBack = undefined
    resolve()
    return answer
  }

  test('is refused when its address used its guesses up meanwhile', async () => {
    const answer = await signInDuring(async (signIn) => {
      for (let guess = 0; guess < 10; guess += 1)
        expect(refusal(await signIn('wrong', home))).toBe('invalid_credentials')
    })
    expect(refusal(answer)).toBe('rate_limited')
  })

  test('is refused when other addresses used up the guesses of the account meanwhile', async () => {
    expect(refusal(await signInDuring((signIn) => useUp(signIn, 'invalid_credentials')))).toBe('rate_limited')
  })

  test('signs in when nothing else happened', async () => {
    expect((await signInDuring(async () => {})).status).toBe(200)
  })
})
