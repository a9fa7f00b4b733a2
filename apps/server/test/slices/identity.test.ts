// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { toOwnerActor } from '../../src/core/actor.ts'
import { minute } from '../../src/core/clock.ts'
import { selfOf } from '../../src/modules/account/account.factors.ts'
import { confirmIdentity } from '../../src/modules/second-factors/identity.service.ts'
import type { Factors } from '../../src/modules/second-factors/second-factors.proofs.ts'
import { makeApp, makePremium, refusal, signUp, wrongFields } from '../actors.ts'
import { addPasskey, addTotp, askedBy, codeOf, show, wrongCode } from '../factors.ts'
import { serverForAll } from '../fixtures.ts'
import { QuickPasswords } from '../quick-passwords.ts'
import { makeReseller } from '../reseller-actor.ts'

/** Holds the answer of one check on request. */
class HeldPasswords extends QuickPasswords {
  #hold: (() => Promise<void>) | undefined

  holdNext(): { reached: Promise<void>; release: () => void } {
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    this.#hold = () => {
      this.#hold = undefined
      reach()
      return released
    }
    return { reached, release }
  }

  override async verify(...check: Parameters<QuickPasswords['verify']>): Promise<boolean> {
    const isRight = await super.verify(...check)
    await this.#hold?.()
    return isRight
  }
}

const passwords = new HeldPasswords()
const on = serverForAll({ RATE_LIMITS: 'on' }, { passwords })

interface Account {
  base: '/auth' | '/resellers/auth'
  token: string
  email: string
  password: string
  table: 'owner_sessions' | 'reseller_sessions'
}

const kinds = {
  'an owner': async (): Promise<Account> => ({
    base: '/auth',
    table: 'owner_sessions',
    ...(await signUp(on)),
  }),
  'a reseller': async (): Promise<Account> => {
    const owner = await signUp(on)
    await makePremium(on, owner)
    const reseller = await makeReseller(on, owner, await makeApp(owner))
    return { base: '/resellers/auth', table: 'reseller_sessions', ...reseller }
  },
}

describe.each(Object.entries(kinds))('the proof of identity of %s', (_name, make) => {
  const confirm = ({ base, token }: Account, body: object, from = '127.0.0.1') =>
    on.call('POST', `${base}/confirm`, { token, body, from })
  const optionsOf = async ({ base, token }: Account) =>
    (await on.call('POST', `${base}/confirm/options`, { token })).json
  const proofs = async ({ base, token, table }: Account) => {
    const { sessions } = (await on.call('GET', `${base}/sessions`, { token })).json.data
    const ids = sessions.map(({ _id }: { _id: string }) => _id)
    return on.database.db.selectFrom(table).select(['id', 'confirmed_at']).where('id', 'in', ids).execute()
  }

  test('is renewed by the password, for this session alone', async () => {
    const account = await make()
    const { email, password, base } = account
    await on.call('POST', `${base}/login`, { body: { email, password } })
    const signedInAt = on.clock.now()
    on.clock.advance(minute)
    expect((await confirm(account, { password })).status).toBe(200)
    const { sessions } = (await on.call('GET', `${base}/sessions`, { token: account.token })).json.data
    const current = sessions.find((session: { current: boolean }) => session.current)
    const found = await proofs(account)
    expect(found).toHaveLength(2)
    for (const { id, confirmed_at } of found)
      expect(confirmed_at).toBe(id === current._id ? on.clock.now() : signedInAt)
  })

  test('is not renewed by a wrong password', async () => {
    const account = await make()
    on.clock.advance(minute)
    const before = await proofs(account)
    expect(wrongFields(await confirm(account, { password: 'wrong' }))).toEqual(['password'])
    expect(wrongFields(await confirm(account, {}))).toEqual(['password'])
    expect(wrongFields(await confirm(account, { password: account.password, more: 1 }))).toEqual(['more'])
    expect(await proofs(account)).toEqual(before)
  })

  test('cannot be guessed with a stolen session, not by 32 requests at once', async () => {
    const account = await make()
    on.clock.advance(20 * minute)
    const before = await proofs(account)
    const tries = await Promise.all(
      Array.from({ length: 32 }, (_, at) => confirm(account, { password: `guess ${at}` }, '203.0.113.66')),
    )
    const checked = tries.filter(({ status }) => status === 400)
    expect(checked.length).toBeGreaterThan(0)
    expect(checked.length).toBeLessThanOrEqual(10)
    expect(tries.filter(({ status }) => status === 429)).toHaveLength(32 - checked.length)
    // The right one comes too late.
    const late = await confirm(account, { password: account.password }, '203.0.113.66')
    expect(refusal(late)).toBe('rate_limited')
    expect(await proofs(account)).toEqual(before)
  })

  test('shares its allowance with sign-ins', async () => {
    const account = await make()
    const { base, email, password } = account
    const from = '203.0.113.67'
    for (let at = 0; at < 10; at += 1) await confirm(account, { password: 'wrong' }, from)
    const signIn = await on.call('POST', `${base}/login`, { body: { email, password }, from })
    expect(refusal(signIn)).toBe('rate_limited')
  })

  test('is renewed by 32 requests at once', async () => {
    const account = await make()
    on.clock.advance(minute)
    const { password } = account
    const answers = await Promise.all(Array.from({ length: 32 }, () => confirm(account, { password })))
    const statuses = new Set(answers.map(({ status }) => status))
    // Some have to wait for their turn.
    expect([...statuses].filter((status) => status !== 200 && status !== 429)).toEqual([])
    expect(statuses).toContain(200)
    expect(await proofs(account)).toEqual([{ id: expect.any(String), confirmed_at: on.clock.now() }])
  })

  test('is never asked of an account without a second factor by a code', async () => {
    const account = await make()
    expect((await optionsOf(account)).data).toEqual({ methods: ['password'], options: null })
    expect(wrongFields(await confirm(account, { code: '123456' }))).toEqual(['password'])
    expect(wrongFields(await confirm(account, { password: account.password, code: '1' }))).toEqual([
      'password',
    ])
  })

  describe('with a second factor', () => {
    /** With an authenticator app, and a session that is too old to count. */
    const makeOld = async () => {
      const account = await make()
      const { secret } = await addTotp(on, account)
      on.clock.advance(20 * minute)
      return { account, secret, code: () => codeOf(secret, on.clock.now()) }
    }

    test('is renewed by a code, which counts once, not by the password', async () => {
      const { account, secret, code } = await makeOld()
      const before = await proofs(account)
      expect((await optionsOf(account)).data).toEqual({ methods: ['totp'], options: null })
      expect(wrongFields(await confirm(account, { password: account.password }))).toEqual(['password'])
      const wrong = await confirm(account, { code: wrongCode(secret, on.clock.now()) })
      expect(refusal(wrong)).toBe('invalid_code')
      expect(await proofs(account)).toEqual(before)
      expect((await confirm(account, { code: code() })).status).toBe(200)
      expect(await proofs(account)).toEqual([{ id: expect.any(String), confirmed_at: on.clock.now() }])
      expect(refusal(await confirm(account, { code: code() }))).toBe('invalid_code')
    })

    test('is renewed by a passkey, whose answer counts once', async () => {
      const account = await make()
      const { authenticator } = await addPasskey(on, account)
      on.clock.advance(20 * minute)
      const { methods, options } = (await optionsOf(account)).data
      expect(methods).toEqual(['passkey'])
      const credential = authenticator.get(options)
      expect((await confirm(account, { credential })).status).toBe(200)
      expect(await proofs(account)).toEqual([{ id: expect.any(String), confirmed_at: on.clock.now() }])
      expect(refusal(await confirm(account, { credential }))).toBe('challenge_ended')
    })

    test('is renewed once by 32 requests with the same code', async () => {
      const { account, code } = await makeOld()
      const body = { code: code() }
      const answers = await Promise.all(Array.from({ length: 32 }, () => confirm(account, body)))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    })

    test('cannot be guessed: ten wrong codes close it, for sign-ins too', async () => {
      const { account, secret, code } = await makeOld()
      const body = { code: wrongCode(secret, on.clock.now()) }
      const answers = await Promise.all(Array.from({ length: 32 }, () => confirm(account, body)))
      const checked = answers.filter(({ json }) => json.code === 'invalid_code')
      expect(checked.length).toBeLessThanOrEqual(10)
      for (let at = checked.length; at < 10; at += 1) await confirm(account, body)
      expect(refusal(await confirm(account, { code: code() }))).toBe('rate_limited')
      const { challenge } = await askedBy(on, account)
      expect(refusal(await show(on, account, { challenge, code: code() }))).toBe('rate_limited')
    })

    test('is what a thief of session and password lacks to remove the factor', async () => {
      const { account, code } = await makeOld()
      const { base, token, password } = account
      const remove = (by = token) => on.call('DELETE', `${base}/totp`, { token: by, body: { code: code() } })
      expect(refusal(await remove())).toBe('confirm_identity')
      await confirm(account, { password })
      expect(refusal(await remove())).toBe('confirm_identity')
      if (base === '/auth') {
        const body = { currentPassword: password, newPassword: 'a better horse' }
        const changed = await on.call('PUT', '/auth/password', { token, body })
        expect(refusal(await remove(changed.json.data.token))).toBe('confirm_identity')
      }
    })
  })
})

test('an app is deleted without a further proof unless the account has a second factor', async () => {
  const [owner, guarded] = [await signUp(on), await signUp(on)]
  const [app, guardedApp] = [await makeApp(owner), await makeApp(guarded)]
  const { secret } = await addTotp(on, { base: '/auth', ...guarded })
  on.clock.advance(20 * minute)
  for (const [method, path] of [
    ['POST', `/apps/${guardedApp._id}/rotate-secret`],
    ['DELETE', '/licenses'],
    ['DELETE', `/apps/${guardedApp._id}`],
  ] as const)
    expect(refusal(await guarded.call(method, path))).toBe('confirm_identity')
  expect((await owner.call('DELETE', `/apps/${app._id}`)).status).toBe(200)
  const code = codeOf(secret, on.clock.now())
  expect((await guarded.call('POST', '/auth/confirm', { code })).status).toBe(200)
  expect((await guarded.call('DELETE', `/apps/${guardedApp._id}`)).status).toBe(200)
})

test('a password that is changed while it is checked renews nothing', async () => {
  const owner = await signUp(on)
  on.clock.advance(minute)
  const { reached, release } = passwords.holdNext()
  const confirmed = owner.call('POST', '/auth/confirm', { password: owner.password })
  await reached
  const changed = await owner.call('PUT', '/auth/password', {
    currentPassword: owner.password,
    newPassword: 'a better horse',
  })
  expect(changed.status).toBe(200)
  release()
  expect(refusal(await confirmed)).toBe('unauthorized')
})

test('a factor that is removed while a request shows it renews nothing', async () => {
  const { accountId, id: ownerId } = await signUp(on)
  const actor = toOwnerActor({
    accountId,
    ownerId,
    sessionId: 'ses_1',
    address: '127.0.0.1',
    hasFactor: true,
  })
  const factors = { ctx: { db: on.database.db } } as Factors
  const confirmed = confirmIdentity(factors, actor, selfOf(actor), { code: '123456' }, async () => {})
  await expect(confirmed).rejects.toMatchObject({ code: 'challenge_ended' })
})
