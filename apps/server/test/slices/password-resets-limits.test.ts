// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hour, minute } from '../../src/core/clock.ts'
import { refusal, signUp, wrongFields } from '../actors.ts'
import { serverForAll } from '../fixtures.ts'
import { startServer, type TestServer } from '../harness.ts'
import { mailedLinks, textsTo } from '../mailed.ts'
import { SmtpSink } from '../smtp-sink.ts'

let sink: SmtpSink
beforeAll(async () => {
  sink = await SmtpSink.start()
})
afterAll(() => sink.stop())

test('answers without waiting for the mail server', async () => {
  const silentServer = await SmtpSink.start({ isSilent: true })
  const slow = await startServer({ SMTP_URL: `smtp://${silentServer.host}` })
  try {
    const owner = await signUp(slow)
    const { status } = await slow.call('POST', '/auth/forgot-password', { body: { email: owner.email } })
    expect(status).toBe(200)
    await expect.poll(() => silentServer.connections).toBe(1)
  } finally {
    await silentServer.stop()
    await slow.close()
  }
})

describe('requests', () => {
  let limited: TestServer
  beforeAll(async () => {
    limited = await startServer({ SMTP_URL: `smtp://${sink.host}`, RATE_LIMITS: 'on' })
  })
  afterAll(() => limited.close())
  const requestLink = (email: string, from = '10.1.0.1') =>
    limited.call('POST', '/auth/forgot-password', { body: { email }, from })

  test.each(['known', 'unknown'])('for a %s account are accepted three times in 30 minutes', async (kind) => {
    const email = kind === 'known' ? (await signUp(limited)).email : 'nobody-here@example.com'
    for (let asked = 0; asked < 3; asked += 1) {
      expect((await requestLink(email, `10.1.1.${asked}`)).status).toBe(200)
    }
    const refused = await requestLink(email.toUpperCase(), '10.1.1.9')
    expect(refusal(refused)).toBe('rate_limited')
    expect(refused.headers['retry-after']).toBe('1800')
    limited.clock.advance(30 * minute)
    expect((await requestLink(email, '10.1.1.9')).status).toBe(200)
  })

  test('for an owner leave those for a reseller with the same address, and the reverse', async () => {
    const ask = (kind: 'auth' | 'resellers/auth', at: number) =>
      limited.call('POST', `/${kind}/forgot-password`, {
        body: { email: 'both@example.com' },
        from: `10.1.7.${at}`,
      })
    for (let asked = 0; asked < 3; asked += 1) expect((await ask('auth', asked)).status).toBe(200)
    expect(refusal(await ask('auth', 3))).toBe('rate_limited')
    for (let asked = 0; asked < 3; asked += 1) expect((await ask('resellers/auth', asked)).status).toBe(200)
    expect(refusal(await ask('resellers/auth', 3))).toBe('rate_limited')
  })

  test('by a stranger use up the limit but leave working links in the mailbox until it resets', async () => {
    const { email } = await signUp(limited)
    const before = mailedLinks(sink, email).length
    for (let asked = 0; asked < 3; asked += 1) await requestLink(email, `10.1.2.${asked}`)
    await expect.poll(() => mailedLinks(sink, email).length).toBe(before + 3)
    limited.clock.advance(30 * minute - 1)
    expect(refusal(await requestLink(email))).toBe('rate_limited')
    const token = mailedLinks(sink, email).at(-1)?.split('#')[1]
    const body = { token, password: 'a better horse' }
    expect((await limited.call('POST', '/auth/reset-password', { body })).status).toBe(200)
  })

  test('from one address are accepted 30 times an hour, for any accounts', async () => {
    for (let asked = 0; asked < 30; asked += 1) {
      expect((await requestLink(`person${asked}@example.com`, '10.1.3.1')).status).toBe(200)
    }
    expect(refusal(await requestLink('one-more@example.com', '10.1.3.1'))).toBe('rate_limited')
    expect((await requestLink('one-more@example.com', '10.1.3.2')).status).toBe(200)
    limited.clock.advance(hour)
    expect((await requestLink('one-more@example.com', '10.1.3.1')).status).toBe(200)
  })

  test('with a wrong token are answered 30 times in 15 minutes', async () => {
    const setPassword = (from: string) =>
      limited.call('POST', '/auth/reset-password', { body: { token: 'kwp_x', password: 'whatever' }, from })
    for (let tried = 0; tried < 30; tried += 1) {
      expect(refusal(await setPassword('10.1.4.1'))).toBe('reset_link_invalid')
    }
    expect(refusal(await setPassword('10.1.4.1'))).toBe('rate_limited')
    expect(refusal(await setPassword('10.1.4.2'))).toBe('reset_link_invalid')
  })

  test('reset the password even while guesses block the sign-in', async () => {
    const owner = await signUp(limited)
    const signIn = (password: string) =>
      limited.call('POST', '/auth/login', { body: { email: owner.email, password }, from: '10.1.5.1' })
    for (let failure = 0; failure < 10; failure += 1) await signIn('wrong')
    expect(refusal(await signIn(owner.password))).toBe('rate_limited')
    await requestLink(owner.email, '10.1.5.1')
    await expect.poll(() => mailedLinks(sink, owner.email).length).toBe(1)
    const token = mailedLinks(sink, owner.email)[0]?.split('#')[1]
    const body = { token, password: 'a better horse' }
    const chosen = await limited.call('POST', '/auth/reset-password', { body, from: '10.1.5.1' })
    expect(chosen.status).toBe(200)
  })

  test('make the address known to the account once the new password is set', async () => {
    const owner = await signUp(limited)
    const known = async () =>
      (await limited.database.db.selectFrom('known_addresses').select('address').execute()).length
    const before = await known()
    await requestLink(owner.email, '10.1.6.1')
    await expect.poll(() => mailedLinks(sink, owner.email).length).toBe(1)
    expect(await known()).toBe(before)
    const token = mailedLinks(sink, owner.email)[0]?.split('#')[1]
    const body = { token, password: 'a better horse' }
    await limited.call('POST', '/auth/reset-password', { body, from: '10.1.6.1' })
    expect(await known()).toBe(before + 1)
    const again = { email: owner.email, password: 'a better horse' }
    expect((await limited.call('POST', '/auth/login', { body: again, from: '10.1.6.1' })).status).toBe(200)
    expect(await known()).toBe(before + 1)
  })
})

describe.each([
  ['no mail server', {}],
  ['no address for links', { HOST: '0.0.0.0', SMTP_URL: 'smtp://127.0.0.1:9', RATE_LIMITS: 'on' }],
])('with %s', (_name, environment) => {
  const off = serverForAll(environment)

  test('offers no reset link, for existing and missing accounts alike', async () => {
    const owner = await signUp(off)
    expect((await off.call('GET', '/config')).json.data.passwordReset).toBe('operator')
    for (const path of ['/auth/forgot-password', '/resellers/auth/forgot-password']) {
      for (const email of [owner.email, 'nobody@example.com']) {
        expect(refusal(await off.call('POST', path, { body: { email } }))).toBe('mail_off')
      }
    }
    expect(await off.database.db.selectFrom('password_resets').selectAll().execute()).toEqual([])
  })
})

test('links ignore the Host header', async () => {
  const environment = { PUBLIC_URL: 'https://keys.example.com/k/', PAYMENTS: 'off', RATE_LIMITS: 'on' }
  const open = await startServer({ SMTP_URL: `smtp://${sink.host}`, ...environment })
  try {
    const owner = await signUp(open)
    const headers = { host: 'evil.example', origin: 'http://evil.example', referer: 'http://evil.example/' }
    const body = { email: owner.email }
    expect((await open.call('POST', '/auth/forgot-password', { body, headers })).status).toBe(200)
    await expect.poll(() => mailedLinks(sink, owner.email).length).toBe(1)
    expect(mailedLinks(sink, owner.email)[0]).toMatch(/^https:\/\/keys\.example\.com\/k\/auth\/reset#kwp_/)
    expect(textsTo(sink, owner.email).join()).not.toContain('evil.example')
  } finally {
    await open.close()
  }
})

describe('on a development instance', () => {
  test('links use the loopback address of the server', async () => {
    const local = await startServer({ SMTP_URL: `smtp://${sink.host}`, HOST: '127.0.0.1', PORT: '0' })
    try {
      const url = await local.server.listen({ host: '127.0.0.1', port: 0 })
      const owner = await signUp(local)
      await local.call('POST', '/auth/forgot-password', { body: { email: owner.email } })
      await expect.poll(() => mailedLinks(sink, owner.email).length).toBe(1)
      expect(mailedLinks(sink, owner.email)[0]).toMatch(new RegExp(`^${url}/auth/reset#kwp_`))
      expect((await local.call('GET', '/config')).json.data.passwordReset).toBe('mail')
    } finally {
      await local.close()
    }
  })
})

describe('under the strict password policy', () => {
  test('rejects a weak new password and keeps the link valid', async () => {
    const strict = await startServer({ SMTP_URL: `smtp://${sink.host}`, PASSWORD_POLICY: 'strict' })
    try {
      const owner = await signUp(strict)
      await strict.call('POST', '/auth/forgot-password', { body: { email: owner.email } })
      await expect.poll(() => mailedLinks(sink, owner.email).length).toBe(1)
      const token = mailedLinks(sink, owner.email)[0]?.split('#')[1]
      const setPassword = (password: string) =>
        strict.call('POST', '/auth/reset-password', { body: { token, password } })
      for (const password of ['1234567', 'password', 'iloveyou']) {
        expect(wrongFields(await setPassword(password))).toEqual(['password'])
      }
      expect((await setPassword('a better horse')).status).toBe(200)
    } finally {
      await strict.close()
    }
  })
})
