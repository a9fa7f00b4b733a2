// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { minute } from '../../src/core/clock.ts'
import { activateKey, makeApp, makeLicenses, refusal, registerUser, single, startProgram } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import type { Answer } from '../harness.ts'

const on = serverForAll({ RATE_LIMITS: 'on', PAYMENTS: 'off' })
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)
const unknown = 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA'

let addresses = 0
const newAddress = () => `10.1.0.${++addresses}`

const validate = (from: string, licenseKey: string, hwid?: string, appId = app.appId) =>
  on.call('POST', '/client/validate', { body: { appId, licenseKey, hwid }, from })

/** Reduces an answer to `valid` or its code. */
function verdictOf(answer: Answer): string {
  if (answer.status !== 200) return refusal(answer)
  return answer.json.data.valid ? 'valid' : answer.json.data.code
}

async function guessKeys(from: string, times = 100): Promise<void> {
  for (let guessed = 0; guessed < times; guessed += 1) {
    expect(verdictOf(await validate(from, unknown))).toBe('keyNotFound')
  }
}

test('a sentence without a key counts as one wrong key, and one with a key as none', async () => {
  const address = newAddress()
  const { key } = single(await makeLicenses(on, owner, app))
  expect(verdictOf(await validate(address, `Your key: **${key}**.`))).toBe('valid')
  await validate(address, 'Is it ABCDE-FGHJK, or KLMNP-QRSTV, or 12345-67890?')
  const { db } = on.database
  const counts = db.selectFrom('attempts').select('count').where('key', 'like', `${app._id}%`)
  expect(await counts.execute()).toEqual([{ count: 1 }])
})

describe('after 100 unknown keys in 15 minutes', () => {
  test('an address gets a signed 429 for every key until the window ends', async () => {
    const address = newAddress()
    const { license } = await activateKey(on, owner, app)
    await guessKeys(address)
    for (const key of [unknown, license.key]) {
      const refused = await validate(address, key)
      expect(verdictOf(refused)).toBe('rate_limited')
      expect(refused.headers).toMatchObject({ 'retry-after': '900', signature: expect.any(String) })
    }
    expect(verdictOf(await validate(newAddress(), license.key))).toBe('valid')
    on.clock.advance(15 * minute)
    expect(verdictOf(await validate(address, license.key))).toBe('valid')
  })

  test('a key still passes with the hardware id bound to it, and with no other', async () => {
    const address = newAddress()
    const { license } = await activateKey(on, owner, app, 'pc-1')
    const { license: otherLicense } = await activateKey(on, owner, app, 'pc-2')
    const { license: unbound } = await activateKey(on, owner, app)
    await guessKeys(address)
    expect(verdictOf(await validate(address, license.key, 'pc-1'))).toBe('valid')
    for (const hwid of [undefined, '', 'pc', 'pc-2']) {
      expect(verdictOf(await validate(address, license.key, hwid))).toBe('rate_limited')
    }
    expect(verdictOf(await validate(address, otherLicense.key, 'pc-1'))).toBe('rate_limited')
    expect(verdictOf(await validate(address, unbound.key, 'pc-1'))).toBe('rate_limited')
    expect(verdictOf(await validate(address, unknown, 'pc-1'))).toBe('rate_limited')
  })

  test('a program signs in by key only on the machine bound to that key', async () => {
    const from = newAddress()
    const { license } = await activateKey(on, owner, app, 'pc-1')
    const [fresh] = await makeLicenses(on, owner, app)
    await registerUser(on, owner, app)
    await guessKeys(from)
    const program = await startProgram(on, app, { from })
    const signIn = (licenseKey: string, hwid?: string) =>
      program.call('POST', '/license', { licenseKey, hwid })
    expect((await signIn(license.key, 'pc-1')).status).toBe(200)
    for (const answer of [
      await signIn(license.key, 'pc-2'),
      await signIn(license.key),
      await signIn(fresh?.key ?? '', 'pc-1'),
      await program.call('POST', '/register', {
        username: 'bob',
        password: 'swordfish',
        licenseKey: fresh?.key,
        hwid: 'pc-1',
      }),
      await program.call('POST', '/upgrade', { username: 'alice', licenseKey: fresh?.key }),
    ]) {
      expect(refusal(answer)).toBe('rate_limited')
      expect(answer.headers.signature).toEqual(expect.any(String))
    }
  })

  test('programs of other apps at the same address are unaffected', async () => {
    const address = newAddress()
    const other = await makeApp(owner, 'Other')
    const license = single(await makeLicenses(on, owner, other))
    await guessKeys(address)
    expect(verdictOf(await validate(address, license.key, undefined, other.appId))).toBe('valid')
    expect(verdictOf(await validate(address, license.key, undefined, other._id))).toBe('valid')
  })
})

test('counts misses of checks and sign-ins together, by _id and by appId', async () => {
  const from = newAddress()
  const program = await startProgram(on, app, { from })
  await guessKeys(from, 49)
  expect(verdictOf(await validate(from, unknown, undefined, app._id))).toBe('keyNotFound')
  for (let guessed = 0; guessed < 50; guessed += 1) {
    expect(refusal(await program.call('POST', '/license', { licenseKey: unknown }))).toBe('keyNotFound')
  }
  expect(verdictOf(await validate(from, unknown))).toBe('rate_limited')
  expect(refusal(await program.call('POST', '/license', { licenseKey: unknown }))).toBe('rate_limited')
})

test('answers at most 100 of 150 concurrent unknown keys', async () => {
  const address = newAddress()
  const answers = await Promise.all(Array.from({ length: 150 }, () => validate(address, unknown)))
  const codes = answers.map(verdictOf)
  expect(codes.filter((code) => code === 'keyNotFound')).toHaveLength(100)
  expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(50)
})

test('hides a valid key among concurrent guesses after the hundredth miss', async () => {
  const [address, other] = [newAddress(), newAddress()]
  const { license } = await activateKey(on, owner, app)
  const keys = Array.from({ length: 300 }, (_, at) => (at % 10 === 9 ? license.key : unknown))
  // Concurrent calls are answered in any order: which valid ones are hidden differs, but not that some are.
  const expectHidden = (answers: string[], valid: string) => {
    expect(answers.filter((answer) => answer === 'keyNotFound')).toHaveLength(100)
    expect(answers.filter((answer) => answer === valid).length).toBeLessThan(30)
  }
  const check = () => Promise.all(keys.map(async (key) => verdictOf(await validate(address, key))))
  expectHidden(await check(), 'valid')
  expect(new Set(await check())).toEqual(new Set(['rate_limited']))
  const programs = await Promise.all(keys.map(() => startProgram(on, app, { from: other })))
  const signIn = () =>
    Promise.all(
      programs.map(async (program, at) => {
        const answer = await program.call('POST', '/license', { licenseKey: keys[at] })
        return answer.status === 200 ? 'signed in' : refusal(answer)
      }),
    )
  expectHidden(await signIn(), 'signed in')
  expect(new Set(await signIn())).toEqual(new Set(['rate_limited']))
})

test('never counts valid keys', async () => {
  const address = newAddress()
  const { license } = await activateKey(on, owner, app)
  for (let checked = 0; checked < 110; checked += 1) {
    expect(verdictOf(await validate(address, license.key))).toBe('valid')
  }
})

describe('a flood of program requests', () => {
  const small = serverForAll({ RATE_LIMITS: 'on', PAYMENTS: 'off' }, { programRequestsPerMinute: 5 })

  test('is rejected per address before parsing; other addresses and other endpoints are unaffected', async () => {
    const check = (from: string) =>
      small.call('POST', '/client/validate', { body: { appId: 'none', licenseKey: 'none' }, from })
    for (let sent = 0; sent < 5; sent += 1) expect(refusal(await check('10.2.0.1'))).toBe('appDisabled')
    const refused = await check('10.2.0.1')
    expect(refusal(refused)).toBe('rate_limited')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(refusal(await check('10.2.0.2'))).toBe('appDisabled')
    expect((await small.call('GET', '/health', { from: '10.2.0.1' })).status).toBe(200)
  })
})
