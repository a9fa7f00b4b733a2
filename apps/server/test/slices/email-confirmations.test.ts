// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { day, hour } from '../../src/core/clock.ts'
import { refusal, signUp } from '../actors.ts'
import { serverForAll } from '../fixtures.ts'
import { startServer } from '../harness.ts'
import { textsTo } from '../mailed.ts'
import { SmtpSink } from '../smtp-sink.ts'

const path = '/settings/notifications/confirm-email'

async function withMail(
  work: (on: Awaited<ReturnType<typeof startServer>>, sink: SmtpSink) => Promise<void>,
) {
  const sink = await SmtpSink.start()
  const on = await startServer({
    SMTP_URL: `smtp://${sink.host}`,
    PUBLIC_URL: 'http://127.0.0.1:4000/keys',
    RATE_LIMITS: 'on',
  })
  try {
    await work(on, sink)
  } finally {
    await on.close()
    await sink.stop()
  }
}

const tokensTo = (sink: SmtpSink, email: string) =>
  textsTo(sink, email).flatMap(
    (text) => /http:\/\/127\.0\.0\.1:4000\/keys\/settings\/notifications#([\w-]+)/.exec(text)?.[1] ?? [],
  )

test('confirms the address that the link was mailed to, in a session of its account alone', () =>
  withMail(async (on, sink) => {
    const [owner, other] = [await signUp(on), await signUp(on)]
    const isConfirmed = async () => (await owner.call('GET', '/auth/profile')).json.data.user.emailConfirmed
    expect(await isConfirmed()).toBe(false)
    expect((await owner.call('POST', path, {})).json.data).toEqual({ confirmed: false })
    await expect.poll(() => tokensTo(sink, owner.email)).toHaveLength(1)
    const [token = ''] = tokensTo(sink, owner.email)
    expect(refusal(await other.call('POST', path, { token }))).toBe('reset_link_invalid')
    expect(refusal(await owner.call('POST', path, { token: `${token}A` }))).toBe('reset_link_invalid')
    expect(await isConfirmed()).toBe(false)
    expect((await owner.call('POST', path, { token })).json.data).toEqual({ confirmed: true })
    expect(await isConfirmed()).toBe(true)

    const email = `moved.${owner.email}`
    await owner.call('PUT', '/auth/email', { email, password: owner.password })
    expect(await isConfirmed()).toBe(false)
    expect(refusal(await owner.call('POST', path, { token }))).toBe('reset_link_invalid')
    await owner.call('POST', path, {})
    await expect.poll(() => tokensTo(sink, email)).toHaveLength(1)
    on.clock.advance(24 * hour)
    const [late = ''] = tokensTo(sink, email)
    expect(refusal(await owner.call('POST', path, { token: late }))).toBe('reset_link_invalid')
  }))

test('a link is mailed three times a day at most, also to accounts that take turns with an address', () =>
  withMail(async (on, sink) => {
    const [first, second] = [await signUp(on), await signUp(on)]
    const email = 'victim@example.com'
    for (const owner of [first, second]) {
      await owner.call('PUT', '/auth/email', { email, password: owner.password })
      for (let at = 0; at < 2; at += 1) await owner.call('POST', path, {})
      await owner.call('PUT', '/auth/email', { email: owner.email, password: owner.password })
    }
    await second.call('PUT', '/auth/email', { email, password: second.password })
    expect(refusal(await second.call('POST', path, {}))).toBe('rate_limited')
    await expect.poll(() => tokensTo(sink, email)).toHaveLength(3)
    on.clock.advance(day)
    expect((await second.call('POST', path, {})).status).toBe(200)
  }))

const off = serverForAll()

test('a server without a mail server mails no link', async () => {
  const owner = await signUp(off)
  expect(refusal(await owner.call('POST', path, {}))).toBe('mail_off')
})
