// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { minute } from '../../src/core/clock.ts'
import { makeApp, makePremium, refusal, signUp } from '../actors.ts'
import { addTotp, askedBy, codeOf, nextStep, type Person, show, signIn, wrongCode } from '../factors.ts'
import { serverForAll } from '../fixtures.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll({ RATE_LIMITS: 'on' })

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
const isOpen = async ({ base }: Person, token: string) =>
  (await on.call('GET', `${base}/profile`, { token })).status === 200
const sessions = async () =>
  (await on.database.db.selectFrom('owner_sessions').select('id').execute()).length +
  (await on.database.db.selectFrom('reseller_sessions').select('id').execute()).length

describe.each([
  ['an owner', makeOwner],
  ['a reseller', makeSeller],
] as const)('%s', (_who, make) => {
  test('has no factor at first, and signs in with the password alone', async () => {
    const person = await make()
    expect(await factorsOf(person)).toEqual({ totp: false, passkeys: [], recoveryCodes: 0 })
    expect((await signIn(on, person)).json.data.token).toEqual(expect.any(String))
  })

  test('turns an authenticator app on with its first code and gets ten recovery codes', async () => {
    const person = await make()
    const begun = await on.call('POST', `${person.base}/totp`, { token: person.token })
    const { secret, uri } = begun.json.data
    expect(uri).toContain(`secret=${secret}`)
    expect(await factorsOf(person)).toMatchObject({ totp: false })
    expect((await signIn(on, person)).json.data.token).toEqual(expect.any(String))
    const confirm = (code: string) =>
      on.call('POST', `${person.base}/totp/confirm`, { token: person.token, body: { code } })
    expect(refusal(await confirm(wrongCode(secret, on.clock.now())))).toBe('invalid_code')
    const { recoveryCodes } = (await confirm(codeOf(secret, on.clock.now()))).json.data
    expect(new Set(recoveryCodes).size).toBe(10)
    expect(await factorsOf(person)).toEqual({ totp: true, passkeys: [], recoveryCodes: 10 })
    expect(refusal(await on.call('POST', `${person.base}/totp`, { token: person.token }))).toBe('totp_on')
    // The session that turned it on stays.
    expect(await isOpen(person, person.token)).toBe(true)
  })

  test('gets a challenge and no session for the right password, and the session for a code', async () => {
    const person = await make()
    const { secret } = await addTotp(on, person)
    const before = await sessions()
    const asked = await askedBy(on, person)
    expect(asked).toEqual({ challenge: expect.any(String), methods: ['totp', 'recovery'], options: null })
    expect(await sessions()).toBe(before)
    expect(await isOpen(person, asked.challenge)).toBe(false)
    const answer = await show(on, person, {
      challenge: asked.challenge,
      code: codeOf(secret, on.clock.now()),
    })
    const withoutFactor = (await signIn(on, await make())).json.data
    expect(Object.keys(answer.json.data)).toEqual(Object.keys(withoutFactor))
    expect(await isOpen(person, answer.json.data.token)).toBe(true)
  })

  test('learns nothing of the factor before the password is right', async () => {
    const person = await make()
    await addTotp(on, person)
    const wrong = await signIn(on, { ...person, password: 'wrong password' })
    const unknown = await signIn(on, { ...person, email: 'nobody@example.com' })
    expect(wrong.raw.toString()).toBe(unknown.raw.toString())
    expect(refusal(wrong)).toBe('invalid_credentials')
  })

  test('cannot use a code twice, nor an earlier one after it', async () => {
    const person = await make()
    const { secret } = await addTotp(on, person)
    const earlier = codeOf(secret, on.clock.now())
    nextStep(on)
    const code = codeOf(secret, on.clock.now())
    const tryWith = async (tried: string) =>
      show(on, person, { challenge: (await askedBy(on, person)).challenge, code: tried })
    expect((await tryWith(code)).status).toBe(200)
    expect(refusal(await tryWith(code))).toBe('invalid_code')
    expect(refusal(await tryWith(earlier))).toBe('invalid_code')
    nextStep(on)
    expect((await tryWith(codeOf(secret, on.clock.now()))).status).toBe(200)
  })

  test('cannot sign in with the code that turned the app on', async () => {
    const person = await make()
    const { secret } = await addTotp(on, person)
    on.clock.advance(-30_000)
    const { challenge } = await askedBy(on, person)
    expect(refusal(await show(on, person, { challenge, code: codeOf(secret, on.clock.now()) }))).toBe(
      'invalid_code',
    )
    nextStep(on)
  })

  test('opens one session with one code, of 32 concurrent calls with a challenge each', async () => {
    const person = await make()
    const { secret } = await addTotp(on, person)
    const challenges: string[] = []
    for (let at = 0; at < 32; at += 1) challenges.push((await askedBy(on, person)).challenge)
    const before = await sessions()
    const code = codeOf(secret, on.clock.now())
    const answers = await Promise.all(challenges.map((challenge) => show(on, person, { challenge, code })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await sessions()).toBe(before + 1)
  })

  test('opens one session with one code and one challenge, of 32 concurrent calls', async () => {
    const person = await make()
    const { secret } = await addTotp(on, person)
    const { challenge } = await askedBy(on, person)
    const before = await sessions()
    const body = { challenge, code: codeOf(secret, on.clock.now()) }
    const answers = await Promise.all(Array.from({ length: 32 }, () => show(on, person, body)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(['challenge_ended', 'invalid_code', 'rate_limited']).toContain(refusal(answer))
    expect(await sessions()).toBe(before + 1)
  })

  test('has five minutes, and one sign-in for each challenge', async () => {
    const person = await make()
    const { secret } = await addTotp(on, person)
    const late = await askedBy(on, person)
    on.clock.advance(5 * minute)
    const showLate = () =>
      show(on, person, { challenge: late.challenge, code: codeOf(secret, on.clock.now()) })
    expect(refusal(await showLate())).toBe('challenge_ended')
    const { challenge } = await askedBy(on, person)
    on.clock.advance(5 * minute - 1)
    const body = () => ({ challenge, code: codeOf(secret, on.clock.now()) })
    expect((await show(on, person, body())).status).toBe(200)
    nextStep(on)
    expect(refusal(await show(on, person, body()))).toBe('challenge_ended')
  })

  test('cannot use the challenge of another account, or of the other kind', async () => {
    const [person, other] = [await make(), await make()]
    const { secret } = await addTotp(on, person)
    await addTotp(on, other)
    const { challenge } = await askedBy(on, other)
    const code = codeOf(secret, on.clock.now())
    expect(refusal(await show(on, person, { challenge, code }))).toBe('invalid_code')
    const own = await askedBy(on, person)
    const base = person.base === '/auth' ? '/resellers/auth' : '/auth'
    expect(refusal(await show(on, { ...person, base }, { challenge: own.challenge, code }))).toBe(
      'challenge_ended',
    )
    expect(refusal(await show(on, person, { challenge: `${own.challenge}x`, code }))).toBe('challenge_ended')
    expect((await show(on, person, { challenge: own.challenge, code })).status).toBe(200)
  })

  test('can use each recovery code once, in any spelling', async () => {
    const person = await make()
    const { recoveryCodes } = await addTotp(on, person)
    const [code = '', other = ''] = recoveryCodes
    const tryWith = async (recoveryCode: string) =>
      show(on, person, { challenge: (await askedBy(on, person)).challenge, recoveryCode })
    expect((await tryWith(` ${code.toLowerCase().replaceAll('-', ' ')}`)).status).toBe(200)
    expect(refusal(await tryWith(code))).toBe('invalid_code')
    expect((await factorsOf(person)).recoveryCodes).toBe(9)
    const { challenge } = await askedBy(on, person)
    const body = { challenge, recoveryCode: other }
    const answers = await Promise.all(Array.from({ length: 8 }, () => show(on, person, body)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await factorsOf(person)).recoveryCodes).toBe(8)
  })

  test('cannot use the recovery code of another account', async () => {
    const [person, other] = [await make(), await make()]
    const { recoveryCodes } = await addTotp(on, other)
    await addTotp(on, person)
    const { challenge } = await askedBy(on, person)
    expect(refusal(await show(on, person, { challenge, recoveryCode: recoveryCodes[0] }))).toBe(
      'invalid_code',
    )
    expect((await factorsOf(other)).recoveryCodes).toBe(10)
  })

  test('turns the app off with a code or a recovery code, and then needs no factor', async () => {
    const person = await make()
    const remove = (code: string) =>
      on.call('DELETE', `${person.base}/totp`, { token: person.token, body: { code } })
    const { secret } = await addTotp(on, person)
    expect(refusal(await remove(wrongCode(secret, on.clock.now())))).toBe('invalid_code')
    const { challenge } = await askedBy(on, person)
    expect((await remove(codeOf(secret, on.clock.now()))).status).toBe(200)
    expect(await factorsOf(person)).toEqual({ totp: false, passkeys: [], recoveryCodes: 0 })
    nextStep(on)
    expect(refusal(await show(on, person, { challenge, code: codeOf(secret, on.clock.now()) }))).toBe(
      'challenge_ended',
    )
    expect((await signIn(on, person)).json.data.token).toEqual(expect.any(String))
    expect(refusal(await remove('000000'))).toBe('not_found')
    const { recoveryCodes } = await addTotp(on, person)
    expect((await remove(recoveryCodes[3] ?? '')).status).toBe(200)
    expect(await factorsOf(person)).toMatchObject({ totp: false, recoveryCodes: 0 })
  })

  test('gets 429 after ten wrong codes over all challenges and addresses, for fifteen minutes, and no other account does', async () => {
    const [person, other] = [await make(), await make()]
    const { secret, recoveryCodes } = await addTotp(on, person)
    const { secret: otherSecret } = await addTotp(on, other)
    const wrong = wrongCode(secret, on.clock.now())
    for (let at = 0; at < 10; at += 1) {
      const { challenge } = await askedBy(on, person, `203.0.113.${at}`)
      const guess = await show(on, person, { challenge, code: wrong }, `198.51.100.${at}`)
      expect(refusal(guess)).toBe('invalid_code')
    }
    const { challenge } = await askedBy(on, person)
    const right = { challenge, code: codeOf(secret, on.clock.now()) }
    const refused = await show(on, person, right)
    expect(refusal(refused)).toBe('rate_limited')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(refusal(await show(on, person, { challenge, recoveryCode: recoveryCodes[0] }))).toBe(
      'rate_limited',
    )
    const removed = await on.call('DELETE', `${person.base}/totp`, {
      token: person.token,
      body: { code: right.code },
    })
    expect(refusal(removed)).toBe('rate_limited')
    const ofOther = await askedBy(on, other)
    const code = codeOf(otherSecret, on.clock.now())
    expect((await show(on, other, { challenge: ofOther.challenge, code })).status).toBe(200)
    on.clock.advance(15 * minute)
    const again = await askedBy(on, person)
    const later = { challenge: again.challenge, code: codeOf(secret, on.clock.now()) }
    expect((await show(on, person, later)).status).toBe(200)
  })

  test('is guessed at ten times at most, by 64 concurrent calls', async () => {
    const person = await make()
    const { secret } = await addTotp(on, person)
    const { challenge } = await askedBy(on, person)
    const wrong = wrongCode(secret, on.clock.now())
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => show(on, person, { challenge, code: wrong })),
    )
    const counted = answers.map(refusal)
    expect(counted.filter((code) => code === 'invalid_code')).toHaveLength(10)
    expect(counted.filter((code) => code === 'rate_limited')).toHaveLength(54)
  })

  test('may sign in ten times and more: right codes are not counted', async () => {
    const person = await make()
    const { secret } = await addTotp(on, person)
    for (let at = 0; at < 12; at += 1) {
      const { challenge } = await askedBy(on, person)
      expect((await show(on, person, { challenge, code: codeOf(secret, on.clock.now()) })).status).toBe(200)
      nextStep(on)
    }
  })

  test('cannot go on with a sign-in whose password has changed since', async () => {
    const person = await make()
    const { secret } = await addTotp(on, person)
    const { challenge } = await askedBy(on, person)
    const table = person.base === '/auth' ? 'accounts' : 'resellers'
    await on.database.db
      .updateTable(table)
      .set({ password_hash: 'another' })
      .where('email', '=', person.email)
      .execute()
    const code = codeOf(secret, on.clock.now())
    expect(refusal(await show(on, person, { challenge, code }))).toBe('challenge_ended')
  })

  test('has at most fifty open challenges', async () => {
    const person = await make()
    const { secret } = await addTotp(on, person)
    const first = await askedBy(on, person)
    for (let at = 0; at < 50; at += 1) {
      on.clock.advance(1)
      await askedBy(on, person)
    }
    const code = codeOf(secret, on.clock.now())
    expect(refusal(await show(on, person, { challenge: first.challenge, code }))).toBe('challenge_ended')
    const rows = await on.database.db
      .selectFrom('factor_challenges')
      .innerJoin('second_factors', 'second_factors.id', 'factor_challenges.factor_id')
      .select('token_hash')
      .where('totp_sealed', 'is not', null)
      .execute()
    expect(rows.length).toBeGreaterThanOrEqual(50)
  })

  test('keeps its secrets sealed and hashed', async () => {
    const person = await make()
    const { secret, recoveryCodes } = await addTotp(on, person)
    const { challenge } = await askedBy(on, person)
    const stored = JSON.stringify([
      await on.database.db.selectFrom('second_factors').selectAll().execute(),
      await on.database.db.selectFrom('recovery_codes').selectAll().execute(),
      await on.database.db.selectFrom('factor_challenges').selectAll().execute(),
      await on.database.db.selectFrom('audit').selectAll().execute(),
    ])
    for (const text of [
      secret,
      challenge,
      ...recoveryCodes,
      ...recoveryCodes.map((one) => one.replaceAll('-', '')),
    ])
      expect(stored).not.toContain(text)
  })
})
