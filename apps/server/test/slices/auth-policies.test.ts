// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { day, hour, minute } from '../../src/core/clock.ts'
import { makeFirstOwnerLink } from '../../src/modules/account/first-owner.ts'
import {
  makeApp,
  makeLicenses,
  makePremium,
  type Owner,
  refusal,
  signUp,
  single,
  startProgram,
  wrongFields,
} from '../actors.ts'
import { ownerForAll, serverForAll } from '../fixtures.ts'
import { startServer } from '../harness.ts'

test('forwarded headers that are ignored are reported once, and trusted ones never', async () => {
  const reachable = { PUBLIC_URL: 'https://keys.example.com', RATE_LIMITS: 'on', PAYMENTS: 'off' }
  const warningsWith = async (trust: Record<string, string>) => {
    const lines: string[] = []
    const log = { write: (line: string) => void lines.push(line) }
    const on = await startServer({ ...reachable, ...trust }, { logLevel: 'warn', log })
    for (const name of ['accept', 'x-forwarded-for', 'forwarded'])
      await on.call('GET', '/health', { headers: { [name]: 'for=10.9.9.9' } })
    await on.close()
    return lines.filter((line) => line.includes('TRUST_PROXY'))
  }
  expect(await warningsWith({})).toHaveLength(1)
  expect(await warningsWith({ TRUST_PROXY: '1' })).toEqual([])
})

describe('attempt limits', () => {
  const on = serverForAll({ RATE_LIMITS: 'on', PAYMENTS: 'off' })
  const owner = ownerForAll(on)

  const login = (password: string, from = '10.0.0.1', email = owner.email) =>
    on.call('POST', '/auth/login', { body: { email, password }, from })

  test('ten failures block an account from that address for 15 minutes, even with the correct password', async () => {
    for (let failure = 0; failure < 10; failure += 1) {
      expect(
        refusal(await login('wrong', '10.0.0.1', failure % 2 ? owner.email : owner.email.toUpperCase())),
      ).toBe('invalid_credentials')
    }
    on.clock.advance(5 * minute)
    const refused = await login(owner.password)
    expect(refusal(refused)).toBe('rate_limited')
    expect(refused.headers['retry-after']).toBe(String(10 * 60))
    expect((await login(owner.password, '10.0.0.2')).status).toBe(200)
    on.clock.advance(10 * minute)
    expect((await login(owner.password)).status).toBe(200)
  })

  test('counts an IPv6 /64 as one address and IPv4-mapped IPv6 as IPv4', async () => {
    for (let failure = 0; failure < 10; failure += 1) {
      expect(refusal(await login('wrong', `2001:db8:1:2::${failure}`))).toBe('invalid_credentials')
      expect(refusal(await login('wrong', failure % 2 ? '10.0.0.9' : '::ffff:10.0.0.9'))).toBe(
        'invalid_credentials',
      )
    }
    for (const from of ['2001:db8:1:2:ffff::1', '10.0.0.9', '::ffff:10.0.0.9']) {
      expect(refusal(await login(owner.password, from))).toBe('rate_limited')
    }
    expect((await login(owner.password, '2001:db8:1:3::1')).status).toBe(200)
  })

  test('does not count successful sign-ins', async () => {
    for (let success = 0; success < 12; success += 1) {
      expect((await login(owner.password, '10.0.0.3')).status).toBe(200)
    }
  })

  test('answers at most ten concurrent guesses', async () => {
    const answers = await Promise.all(Array.from({ length: 24 }, () => login('wrong', '10.0.0.4')))
    const codes = answers.map(refusal)
    expect(codes.filter((code) => code === 'invalid_credentials').length).toBeLessThanOrEqual(10)
    expect(codes.filter((code) => code === 'rate_limited').length).toBeGreaterThanOrEqual(14)
  })

  test('a wrong password in a password change counts like one at sign-in', async () => {
    const victim = await signUp(on)
    const change = (currentPassword: string) =>
      on.call('PUT', '/auth/password', {
        token: victim.token,
        from: '10.0.0.5',
        body: { currentPassword, newPassword: 'another horse' },
      })
    for (let failure = 0; failure < 10; failure += 1) {
      expect(wrongFields(await change('wrong'))).toEqual(['currentPassword'])
    }
    expect(refusal(await change(victim.password))).toBe('rate_limited')
    expect(refusal(await login(victim.password, '10.0.0.5', victim.email))).toBe('rate_limited')
  })

  test('a wrong password in a platform reset counts like one at sign-in', async () => {
    const victim = await signUp(on)
    const reset = (password: string) =>
      on.call('POST', '/settings/reset', { token: victim.token, from: '10.0.6.1', body: { password } })
    for (let failure = 0; failure < 10; failure += 1) {
      expect(wrongFields(await reset('wrong'))).toEqual(['password'])
    }
    expect(refusal(await reset(victim.password))).toBe('rate_limited')
    expect(refusal(await login(victim.password, '10.0.6.1', victim.email))).toBe('rate_limited')
  })

  test('allows 100 registrations per hour and address', async () => {
    const register = (from: string) =>
      on.call('POST', '/auth/register', {
        body: { name: 'A', email: owner.email, password: 'secret1' },
        from,
      })
    for (let made = 0; made < 100; made += 1) expect(refusal(await register('10.0.1.1'))).toBe('email_taken')
    const refused = await register('10.0.1.1')
    expect(refusal(refused)).toBe('rate_limited')
    expect(refused.headers['retry-after']).toBe('3600')
    expect(refusal(await register('10.0.1.2'))).toBe('email_taken')
    on.clock.advance(hour)
    expect(refusal(await register('10.0.1.1'))).toBe('email_taken')
  })

  test('ignores a forwarded header unless the operator trusts the proxy', async () => {
    for (let failure = 0; failure < 10; failure += 1) await login('wrong', '10.0.2.1')
    const spoofed = await on.call('POST', '/auth/login', {
      body: { email: owner.email, password: owner.password },
      from: '10.0.2.1',
      headers: { 'x-forwarded-for': '10.9.9.9' },
    })
    expect(refusal(spoofed)).toBe('rate_limited')
  })

  test('a program gets ten wrong passwords per end user', async () => {
    const app = await makeApp(owner)
    await owner.call('POST', '/clients/create-direct', {
      username: 'alice',
      password: 'swordfish',
      appId: app.appId,
      expiresAt: on.clock.inDays(3),
    })
    const program = await startProgram(on, app, { from: '10.0.3.1' })
    const guess = (password: string) => program.call('POST', '/login', { username: 'Alice', password })
    for (let failure = 0; failure < 10; failure += 1)
      expect(refusal(await guess('wrong'))).toBe('passMismatch')
    const refused = await guess('swordfish')
    expect(refusal(refused)).toBe('rate_limited')
    expect(refused.headers['retry-after']).toBe('900')
    const otherProgram = await startProgram(on, app, { from: '10.0.3.2' })
    const right = await otherProgram.call('POST', '/login', { username: 'alice', password: 'swordfish' })
    expect(right.status).toBe(200)
  })

  test('wrong passwords of one app lock no end user of the same name in an app of another owner', async () => {
    const makeTwin = async (vendor: Owner) => {
      const app = await makeApp(vendor, 'Twin')
      const user = {
        username: 'twin',
        password: 'swordfish',
        appId: app.appId,
        expiresAt: on.clock.inDays(3),
      }
      await vendor.call('POST', '/clients/create-direct', user)
      const program = await startProgram(on, app, { from: '10.0.3.3' })
      return (password: string) => program.call('POST', '/login', { username: 'twin', password })
    }
    const [mine, theirs] = [await makeTwin(await signUp(on)), await makeTwin(await signUp(on))]
    for (let failure = 0; failure < 10; failure += 1) await mine('wrong')
    expect(refusal(await mine('swordfish'))).toBe('rate_limited')
    expect((await theirs('swordfish')).status).toBe(200)
  })

  test('allows 100 key guesses per address in 15 minutes', async () => {
    const app = await makeApp(owner, 'Second')
    const program = await startProgram(on, app, { from: '10.0.4.1' })
    const guess = () => program.call('POST', '/license', { licenseKey: 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA' })
    for (let guessed = 0; guessed < 100; guessed += 1) expect(refusal(await guess())).toBe('keyNotFound')
    expect(refusal(await guess())).toBe('rate_limited')
  })
})

describe('behind a trusted proxy', () => {
  const on = serverForAll({ RATE_LIMITS: 'on', TRUST_PROXY: '1' })

  test('uses the last forwarded address and ignores what the visitor put before it', async () => {
    const owner = await signUp(on)
    const login = (password: string, forwarded: string) =>
      on.call('POST', '/auth/login', {
        body: { email: owner.email, password },
        headers: { 'x-forwarded-for': forwarded },
      })
    for (let failure = 0; failure < 10; failure += 1) await login('wrong', `10.7.7.${failure}, 10.8.8.8`)
    expect(refusal(await login(owner.password, '10.8.8.9, 10.8.8.8'))).toBe('rate_limited')
    expect((await login(owner.password, '10.8.8.8, 10.8.8.9')).status).toBe(200)
  })
})

describe('a closed server', () => {
  test('rejects registration and reports it in the public configuration', async () => {
    const on = await startServer({ REGISTRATION: 'closed' })
    try {
      const body = { name: 'A', email: 'a@example.com', password: 'secret1' }
      expect(refusal(await on.call('POST', '/auth/register', { body }))).toBe('registration_closed')
      expect((await on.call('GET', '/config')).json.data.registration).toBe('closed')
    } finally {
      await on.close()
    }
  })

  test('lets one owner register with a printed link, however many use the links of all nodes at once', async () => {
    const on = await startServer({ REGISTRATION: 'closed' })
    const { clock } = on
    const make = async () => (await makeFirstOwnerLink(on.database, clock.now()))?.token ?? ''
    let count = 0
    const register = (link: string) => {
      count += 1
      const body = { name: 'A', email: `first${count}@example.com`, password: 'secret1', link }
      return on.call('POST', '/auth/register', { body })
    }
    const end = 'first_owner_link_invalid'
    try {
      expect(refusal(await register(`kwf_${'a'.repeat(43)}`))).toBe(end)
      const expired = await make()
      clock.advance(day)
      expect(refusal(await register(expired))).toBe(end)
      const replaced = await make()
      clock.advance(10 * minute)
      const [one, other] = await Promise.all([make(), make()])
      expect(refusal(await register(replaced))).toBe(end)
      const { value } = await on.database.db
        .selectFrom('meta')
        .select('value')
        .where('name', '=', 'first-owner-links')
        .executeTakeFirstOrThrow()
      expect(JSON.parse(value)).toHaveLength(2)
      for (const link of [one, other]) expect(value).not.toContain(link)
      const answers = await Promise.all([one, other, one, other, one, other].map(register))
      expect(answers.map((answer) => (answer.status === 201 ? 201 : refusal(answer))).sort()).toEqual([
        201,
        ...Array(5).fill(end),
      ])
      expect(refusal(await register(one))).toBe(end)
      expect(await make()).toBe('')
      const owners = await on.database.db.selectFrom('owners').select('id').execute()
      expect(owners).toHaveLength(1)
    } finally {
      await on.close()
    }
  })
})

describe('the basic password policy', () => {
  const on = serverForAll()

  test('accepts a common password for an end user', async () => {
    const owner = await signUp(on)
    const app = await makeApp(owner)
    const license = single(await makeLicenses(on, owner, app))
    const program = await startProgram(on, app)
    const user = { username: 'alice', password: 'butterfly', licenseKey: license.key }
    expect((await program.call('POST', '/register', user)).status).toBe(200)
  })
})

describe('the strict password policy', () => {
  const on = serverForAll({ PASSWORD_POLICY: 'strict' })

  test.each(['1234567', 'password', 'PassWord123', 'aaaaaaaaaaaa'])('rejects %s', async (password) => {
    const body = { name: 'A', email: 'a@example.com', password }
    expect(wrongFields(await on.call('POST', '/auth/register', { body }))).toEqual(['password'])
  })

  test('applies to end users: an owner gets the field error, a program gets pwLeaked and the key stays unused', async () => {
    const owner = await signUp(on)
    const app = await makeApp(owner)
    const license = single(await makeLicenses(on, owner, app))
    const user = (password: string) => ({ username: 'alice', password })
    const direct = (password: string) =>
      owner.call('POST', '/clients/create-direct', {
        ...user(password),
        appId: app.appId,
        expiresAt: on.clock.inDays(1),
      })
    const program = await startProgram(on, app)
    const register = (password: string) =>
      program.call('POST', '/register', { ...user(password), licenseKey: license.key })
    for (const password of ['butterfly', '1234567']) {
      expect(wrongFields(await direct(password))).toEqual(['password'])
    }
    const leaked = await register('Butterfly')
    expect(refusal(leaked)).toBe('pwLeaked')
    expect(leaked.json.message).toBe('Password has been compromised')
    expect(wrongFields(await register('1234567'))).toEqual(['password'])
    expect((await register('correct horse')).status).toBe(200)
    expect(wrongFields(await direct('correct'))).toEqual(['password'])
  })

  test('applies to resellers', async () => {
    const owner = await signUp(on)
    await makePremium(on, owner)
    const app = await makeApp(owner)
    const body = { email: 'r@example.com', app_id: app._id, allowed_license_keys: 1 }
    const answer = await owner.call('POST', '/resellers', { ...body, password: 'butterfly' })
    expect(wrongFields(answer)).toEqual(['password'])
  })

  test('applies to password changes', async () => {
    const owner = await signUp(on)
    const answer = await owner.call('PUT', '/auth/password', {
      currentPassword: owner.password,
      newPassword: 'iloveyou',
    })
    expect(wrongFields(answer)).toEqual(['newPassword'])
  })
})
