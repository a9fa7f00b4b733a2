import { describe, expect, test } from 'vitest'
import { minute } from '../../src/core/clock.ts'
import { makeApp, makePremium, refusal, signUp, wrongFields } from '../actors.ts'
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
  base: string
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
