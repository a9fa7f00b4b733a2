// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { permissions } from '@keyward/contract'
import { beforeAll, describe, expect, test } from 'vitest'
import { day, hour } from '../../src/core/clock.ts'
import { Passwords } from '../../src/core/passwords/passwords.ts'
import { hashed, type Owner, refusal, signUp, wrongFields } from '../actors.ts'
import { serverForAll } from '../fixtures.ts'
import { startServer } from '../harness.ts'

const on = serverForAll({}, { passwords: new Passwords() })

const register = (email: string, password = 'correct horse') =>
  on.call('POST', '/auth/register', { body: { name: 'Ada', email, password } })
const login = (email: string, password: string) =>
  on.call('POST', '/auth/login', { body: { email, password } })
const profile = (token: string) => on.call('GET', '/auth/profile', { token })

describe('registration', () => {
  test('creates an account on the free plan and signs in', async () => {
    const { status, json } = await register('ada@example.com')
    expect(status).toBe(201)
    expect(json.data.user).toEqual({
      _id: expect.stringMatching(/^acc_/),
      name: 'Ada',
      email: 'ada@example.com',
      emailConfirmed: false,
      role: 'owner',
      allApps: true,
      permissions: [...permissions],
      vendor: { _id: expect.stringMatching(/^own_/), name: 'Ada', paused: false },
      plan: 'free',
      maxApps: 2,
      maxLicensesPerApp: 30,
      maxResellers: 0,
      apps: [],
      appCount: 0,
      paymentStatus: 'unpaid',
      createdAt: new Date(on.clock.now()).toISOString(),
      subscription: {
        plan: 'free',
        expiryDate: null,
        subscriptionId: null,
        hasActiveSubscription: false,
        source: null,
        appLimit: 2,
        licenseLimitPerApp: 30,
        orderId: null,
        paymentId: null,
        cancelledAt: null,
        endedAt: null,
        moneyBack: null,
      },
    })
    expect((await profile(json.data.token)).json.data.user).toEqual(json.data.user)
  })

  test('rejects a taken email in any letter case', async () => {
    await register('twice@example.com')
    for (const email of ['twice@example.com', 'TWICE@Example.com', ' twice@example.com ']) {
      const answer = await register(email)
      expect(refusal(answer)).toBe('email_taken')
      expect(answer.status).toBe(409)
      expect(answer.json.message).toContain('already exists')
      expect(answer.json.errors).toEqual([{ path: 'email', message: answer.json.message }])
    }
  })

  test('concurrent registrations with one email create exactly one account', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => register(at % 2 ? 'Race@example.com' : 'race@example.com')),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409, 409, 409, 409])
  })

  test.each([
    ['no name', { email: 'a@b.co', password: 'secret1' }, ['name']],
    ['an empty name', { name: ' ', email: 'a@b.co', password: 'secret1' }, ['name']],
    ['a name with a control character', { name: 'a\u0007b', email: 'a@b.co', password: 'secret1' }, ['name']],
    ['a short password', { name: 'A', email: 'a@b.co', password: '12345' }, ['password']],
    ['an invalid email', { name: 'A', email: 'nobody', password: 'secret1' }, ['email']],
    ['an empty body', {}, ['name', 'email', 'password']],
    ['an unknown field', { name: 'A', email: 'a@b.co', password: 'secret1', role: 'x' }, ['role']],
  ])('rejects %s and names the field', async (_what, body, paths) => {
    expect(wrongFields(await on.call('POST', '/auth/register', { body })).sort()).toEqual(paths.sort())
  })

  test('accepts a password of six characters', async () => {
    expect((await register('short@example.com', '123456')).status).toBe(201)
  })
})

describe('sign-in', () => {
  test('accepts the email in any letter case', async () => {
    const owner = await signUp(on)
    expect((await login(owner.email.toUpperCase(), owner.password)).status).toBe(200)
  })

  test('returns identical bytes for an unknown email and a wrong password', async () => {
    const owner = await signUp(on)
    const wrong = await login(owner.email, 'not the password')
    const unknown = await login('nobody@example.com', 'not the password')
    expect(refusal(wrong)).toBe('invalid_credentials')
    expect(wrong.status).toBe(401)
    expect(wrong.json.message).toBe('Invalid email or password')
    expect(unknown.raw.equals(wrong.raw)).toBe(true)
    expect(unknown.status).toBe(wrong.status)
  })

  test('stores tokens only as hashes', async () => {
    const owner = await signUp(on)
    const row = await on.database.db
      .selectFrom('owner_sessions')
      .selectAll()
      .where('owner_id', '=', owner.id)
      .executeTakeFirstOrThrow()
    expect(row.token_hash).toBe(hashed(owner.token))
    expect(JSON.stringify(row)).not.toContain(owner.token)
  })

  test('stores passwords as argon2id with their parameters', async () => {
    const owner = await signUp(on)
    const row = await on.database.db
      .selectFrom('accounts')
      .select('password_hash')
      .where('id', '=', owner.accountId)
      .executeTakeFirstOrThrow()
    expect(row.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  })

  test('rehashes a password with weaker parameters at the next sign-in', async () => {
    const { hash } = await import('@node-rs/argon2')
    const owner = await signUp(on)
    const weak = await hash(owner.password, { memoryCost: 8192, timeCost: 1, parallelism: 1 })
    const row = on.database.db.updateTable('accounts').where('id', '=', owner.accountId)
    await row.set({ password_hash: weak }).execute()
    expect((await login(owner.email, owner.password)).status).toBe(200)
    const { password_hash } = await on.database.db
      .selectFrom('accounts')
      .select('password_hash')
      .where('id', '=', owner.accountId)
      .executeTakeFirstOrThrow()
    expect(password_hash).toContain('$m=19456,t=2,p=1$')
    expect((await login(owner.email, owner.password)).status).toBe(200)
  })
})

describe("an owner's session", () => {
  test('ends at logout; other sessions stay', async () => {
    const owner = await signUp(on)
    const other = (await login(owner.email, owner.password)).json.data.token
    expect((await owner.call('POST', '/auth/logout')).status).toBe(200)
    expect(refusal(await profile(owner.token))).toBe('unauthorized')
    expect((await profile(other)).status).toBe(200)
  })

  test('expires 30 days after its last use', async () => {
    const own = await startServer()
    try {
      const owner = await signUp(own)
      const status = async () => (await owner.call('GET', '/auth/profile')).status
      own.clock.advance(20 * day)
      expect(await status()).toBe(200)
      own.clock.advance(30 * day - hour)
      expect(await status()).toBe(200)
      own.clock.advance(30 * day)
      expect(await status()).toBe(401)
    } finally {
      await own.close()
    }
  })

  test.each(['', 'Bearer', 'Bearer x', 'Basic abc', `Bearer kwo_${'A'.repeat(43)}`])(
    'rejects the header %j',
    async (authorization) => {
      const answer = await on.call('GET', '/auth/profile', { headers: { authorization } })
      expect(refusal(answer)).toBe('unauthorized')
    },
  )
})

describe('changing the password', () => {
  let owner: Owner
  beforeAll(async () => {
    owner = await signUp(on)
  })

  test('rejects a wrong current password on its field and changes nothing', async () => {
    const answer = await owner.call('PUT', '/auth/password', {
      currentPassword: 'wrong one',
      newPassword: 'another horse',
    })
    expect(wrongFields(answer)).toEqual(['currentPassword'])
    expect((await login(owner.email, owner.password)).status).toBe(200)
  })

  test('ends all sessions and returns a new token', async () => {
    const other = (await login(owner.email, owner.password)).json.data.token
    const { status, json } = await owner.call('PUT', '/auth/password', {
      currentPassword: owner.password,
      newPassword: 'another horse',
    })
    expect(status).toBe(200)
    expect((await profile(other)).status).toBe(401)
    expect((await profile(owner.token)).status).toBe(401)
    expect((await profile(json.data.token)).status).toBe(200)
    expect((await login(owner.email, owner.password)).status).toBe(401)
    expect((await login(owner.email, 'another horse')).status).toBe(200)
  })
})

describe('changing the email', () => {
  test('requires the password, rejects a taken address, and changes the sign-in', async () => {
    const [owner, other] = [await signUp(on), await signUp(on)]
    const change = (email: string, password: string) => owner.call('PUT', '/auth/email', { email, password })
    expect(wrongFields(await change('new@example.com', 'wrong one'))).toEqual(['password'])
    expect(refusal(await change(other.email.toUpperCase(), owner.password))).toBe('email_taken')
    const { status, json } = await change('New@example.com', owner.password)
    expect(status).toBe(200)
    expect(json.data.user).toMatchObject({ _id: owner.accountId, email: 'New@example.com' })
    expect((await login(owner.email, owner.password)).status).toBe(401)
    expect((await login('new@example.com', owner.password)).status).toBe(200)
  })

  test('accepts a different letter case of the current address', async () => {
    const owner = await signUp(on)
    const { status } = await owner.call('PUT', '/auth/email', {
      email: owner.email.toUpperCase(),
      password: owner.password,
    })
    expect(status).toBe(200)
  })
})
