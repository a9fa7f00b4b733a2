// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { day, minute, second } from '../../src/core/clock.ts'
import { sha256 } from '../../src/core/crypto.ts'
import { hashesAtOnce } from '../../src/core/passwords/hash-threads.ts'
import { transact } from '../../src/db/transact.ts'
import { makeApp, makePremium, refusal, signUp, startProgram } from '../actors.ts'
import { serverForAll, tidyUp } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { QuickPasswords } from '../quick-passwords.ts'
import { makeReseller } from '../reseller-actor.ts'
import { statementsOf } from '../statements.ts'

const on = serverForAll({ RATE_LIMITS: 'on', PAYMENTS: 'off' })
const knownAddress = '10.0.0.1'

/** Signs in to one account with a password, from an address. */
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

const unknownAccounts = async () => {
  const signIn: SignIn = (password, from) =>
    on.call('POST', '/auth/login', { body: { email: 'nobody@example.com', password }, from })
  return { signIn, password: undefined, wrong: 'invalid_credentials' }
}

let networks = 0
/** An address in a network that has sent no request before. */
const newAddress = () => `2001:db8:${(networks++).toString(16)}::1`

async function exhaustGuesses(signIn: SignIn, wrong: string): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    const guesses = Array.from({ length: 25 }, () => signIn('wrong', newAddress()))
    for (const answer of await Promise.all(guesses)) expect(refusal(answer)).toBe(wrong)
  }
}

describe.each([
  ['an owner', owners],
  ['a reseller', resellers],
  ['an end user', endUsers],
  ['an account that does not exist', unknownAccounts],
])('wrong passwords for %s', (_name, make) => {
  test('get 100 answers in 15 minutes across all addresses, then 429', async () => {
    const { signIn, password = 'right', wrong } = await make()
    await exhaustGuesses(signIn, wrong)
    for (const guess of ['wrong', password]) {
      const refused = await signIn(guess, newAddress())
      expect(refusal(refused)).toBe('rate_limited')
      expect(refused.headers['retry-after']).toBe('60')
    }
  })
})

test('100 wrong passwords for as many accounts keep an address from guessing at any further one', async () => {
  const { signIn, password } = await owners()
  const from = newAddress()
  for (let guess = 0; guess < 100; guess += 1) {
    const body = { email: `account${guess}@example.com`, password: 'spring 2026' }
    const answer = await on.call('POST', '/auth/login', { body, from })
    expect(refusal(answer)).toBe('invalid_credentials')
  }
  expect(refusal(await signIn(password, from))).toBe('rate_limited')
  expect((await signIn(password, newAddress())).status).toBe(200)
  on.clock.advance(15 * minute)
  expect((await signIn(password, from)).status).toBe(200)
})

test('after 100 wrong passwords the wait doubles with each further one, up to an hour', async () => {
  const { signIn, password, wrong } = await owners()
  await exhaustGuesses(signIn, wrong)
  for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
    on.clock.advance(minutes * minute - second)
    const refused = await signIn(password, newAddress())
    expect(refusal(refused)).toBe('rate_limited')
    expect(refused.headers['retry-after']).toBe('1')
    on.clock.advance(second)
    expect(refusal(await signIn('wrong', newAddress()))).toBe(wrong)
  }
  on.clock.advance(60 * minute)
  expect((await signIn(password, newAddress())).status).toBe(200)
})

test('after a day without attempts an account gets its full number of guesses again', async () => {
  const { signIn, wrong } = await owners()
  await exhaustGuesses(signIn, wrong)
  on.clock.advance(day + minute)
  await exhaustGuesses(signIn, wrong)
  expect(refusal(await signIn('wrong', newAddress()))).toBe('rate_limited')
})

test('a clock that is set back leaves no account and no address locked', async () => {
  const { signIn, password, wrong } = await owners()
  await exhaustGuesses(signIn, wrong)
  const here = newAddress()
  on.clock.advance(-30 * day)
  for (let guess = 0; guess < 10; guess += 1) expect(refusal(await signIn('wrong', here))).toBe(wrong)
  expect(refusal(await signIn(password, here))).toBe('rate_limited')
  on.clock.advance(-30 * day)
  expect(refusal(await signIn('wrong', here))).toBe(wrong)
  expect((await signIn(password, here)).status).toBe(200)
  expect((await signIn(password, newAddress())).status).toBe(200)
  on.clock.advance(60 * day)
})

test.each([
  ['an owner', owners],
  ['a reseller', resellers],
  ['an end user', endUsers],
])('%s can still sign in from a known address while the account is limited', async (_name, make) => {
  const { signIn, password, wrong } = await make()
  expect((await signIn(password, knownAddress)).status).toBe(200)
  await exhaustGuesses(signIn, wrong)
  expect(refusal(await signIn(password, newAddress()))).toBe('rate_limited')
  expect((await signIn(password, knownAddress)).status).toBe(200)
  expect(refusal(await signIn('wrong', knownAddress))).toBe(wrong)
})

test('the address an owner signed up from stays known after the email changes', async () => {
  const owner = await signUp(on)
  const email = `new-${owner.email}`
  const from = '127.0.0.1'
  const body = { email, password: owner.password }
  expect((await on.call('PUT', '/auth/email', { token: owner.token, body, from })).status).toBe(200)
  const signIn: SignIn = (password, address) =>
    on.call('POST', '/auth/login', { body: { email, password }, from: address })
  await exhaustGuesses(signIn, 'invalid_credentials')
  expect((await signIn(owner.password, from)).status).toBe(200)
})

test('answers at most 100 concurrent guesses from different addresses', async () => {
  const { signIn, password } = await owners()
  const answers: Answer[] = []
  for (let round = 0; round < 4; round += 1) {
    const guesses = Array.from({ length: 40 }, (_, at) => signIn(at % 10 ? 'wrong' : 'bad', newAddress()))
    answers.push(...(await Promise.all(guesses)))
  }
  const codes = answers.map(refusal)
  expect(codes.filter((code) => code === 'invalid_credentials')).toHaveLength(100)
  expect(refusal(await signIn(password, newAddress()))).toBe('rate_limited')
})

test('stores the last 20 addresses of an account for 90 days, as hashes', async () => {
  const { signIn, password, wrong } = await owners()
  const known = () => on.database.db.selectFrom('known_addresses').selectAll().execute()
  const before = new Set((await known()).map((row) => row.account))
  const addresses = Array.from({ length: 25 }, newAddress)
  for (const address of addresses) {
    on.clock.advance(second)
    expect((await signIn(password, address)).status).toBe(200)
  }
  const rows = (await known()).filter((row) => !before.has(row.account))
  const [oldest = '', newest = ''] = [addresses[0], addresses.at(-1)]
  expect(JSON.stringify(rows)).not.toContain(newest)
  expect(rows.map((row) => row.address)).not.toContain(sha256(newest))
  await exhaustGuesses(signIn, wrong)
  expect(refusal(await signIn(password, oldest))).toBe('rate_limited')
  expect((await signIn(password, newest)).status).toBe(200)
  const counts = Map.groupBy(await known(), (row) => row.account)
  expect(Math.max(...[...counts.values()].map((list) => list.length))).toBe(20)

  on.clock.advance(90 * day + second)
  await exhaustGuesses(signIn, wrong)
  expect(refusal(await signIn(password, newest))).toBe('rate_limited')
  await tidyUp(on)
  expect(await known()).toEqual([])
})

describe('a correct password whose comparison is still running', () => {
  /** Compares for real, and can hold the result of a correct password until released. */
  class SlowPasswords extends QuickPasswords {
    held: Promise<void> | undefined
    onMatch = () => {}
    compared = 0

    override async verify(...args: Parameters<QuickPasswords['verify']>): Promise<boolean> {
      this.compared += 1
      const matches = await super.verify(...args)
      if (!matches || !this.held) return matches
      this.onMatch()
      await this.held
      return matches
    }
  }
  const passwords = new SlowPasswords()
  const slow = serverForAll({ RATE_LIMITS: 'on', PAYMENTS: 'off' }, { passwords })

  /** Signs in with the correct password; its comparison ends only after `meanwhile` has run. */
  async function signInDuring(meanwhile: (signIn: SignIn) => Promise<void>): Promise<Answer> {
    const owner = await signUp(slow)
    const signIn: SignIn = (password, from) =>
      slow.call('POST', '/auth/login', { body: { email: owner.email, password }, from })
    const { promise, resolve } = Promise.withResolvers<void>()
    const matched = new Promise<void>((done) => {
      passwords.onMatch = done
    })
    passwords.held = promise
    const answer = signIn(owner.password, knownAddress)
    await matched
    await meanwhile(signIn)
    passwords.held = undefined
    resolve()
    return answer
  }

  test('is rejected if its address runs out of guesses during the comparison', async () => {
    const answer = await signInDuring(async (signIn) => {
      for (let guess = 0; guess < 10; guess += 1)
        expect(refusal(await signIn('wrong', knownAddress))).toBe('invalid_credentials')
    })
    expect(refusal(answer)).toBe('rate_limited')
  })

  test('is rejected if other addresses exhaust the guesses of the account during the comparison', async () => {
    expect(refusal(await signInDuring((signIn) => exhaustGuesses(signIn, 'invalid_credentials')))).toBe(
      'rate_limited',
    )
  })

  test('is rejected after guesses of its address whose counts the database stores late', async () => {
    const owner = await signUp(slow)
    const from = newAddress()
    const signIn = (password: string) =>
      slow.call('POST', '/auth/login', { body: { email: owner.email, password }, from })
    let answers: Promise<Answer[]> | undefined
    await transact(slow.database.db, async (tx) => {
      // On SQLite a transaction that has written keeps other writers out.
      if (on.database.dialect === 'postgres') await sql`lock table attempts in exclusive mode`.execute(tx)
      else await tx.deleteFrom('attempts').where('key', '=', 'none').execute()
      passwords.compared = 0
      answers = Promise.all(
        Array.from({ length: 40 }, (_, at) => signIn(at === 30 ? owner.password : 'wrong')),
      )
      await pause(300)
      expect(passwords.compared).toBeLessThanOrEqual(hashesAtOnce + 1)
    })
    const codes = ((await answers) ?? []).map(({ json }) => json.code)
    expect(codes[30]).toBe('rate_limited')
    expect(codes.filter((code) => code === 'invalid_credentials')).toHaveLength(10)
  })

  test('signs in if no other attempt arrives', async () => {
    expect((await signInDuring(async () => {})).status).toBe(200)
  })
})

test.runIf(process.env.TEST_DATABASE === 'postgres')(
  'reads all allowances of a sign-in in one statement before the hash, and in one after it',
  async () => {
    const { signIn, password } = await endUsers()
    const sent = await statementsOf(on.database, () => signIn(password, knownAddress))
    expect(sent.filter(({ text }) => text.includes('from "attempts"'))).toHaveLength(2)
  },
)
