// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { minute } from '../../src/core/clock.ts'
import { makeApp, makePremium, refusal, signUp } from '../actors.ts'
import { addPasskey, addTotp, askedBy, codeOf, type Person, passkeyLogin, show, signIn } from '../factors.ts'
import { startServer, type TestServer } from '../harness.ts'
import { mailedLinks } from '../mailed.ts'
import { makeReseller } from '../reseller-actor.ts'
import { SmtpSink } from '../smtp-sink.ts'

let sink: SmtpSink
let on: TestServer
beforeAll(async () => {
  sink = await SmtpSink.start()
  on = await startServer({ SMTP_URL: `smtp://${sink.host}`, RATE_LIMITS: 'on' })
})
afterAll(async () => {
  await on.close()
  await sink.stop()
})

async function makeOwner(confirmedAt: number | null): Promise<Person> {
  const { accountId, email, password, token } = await signUp(on)
  await on.database.db
    .updateTable('accounts')
    .set({ email_confirmed_at: confirmedAt })
    .where('id', '=', accountId)
    .execute()
  return { base: '/auth', email, password, token }
}

async function makeSeller(): Promise<Person> {
  const owner = await signUp(on)
  await makePremium(on, owner)
  const { email, password, token } = await makeReseller(on, owner, await makeApp(owner))
  return { base: '/resellers/auth', email, password, token }
}

async function requestToken({ base, email }: Person): Promise<string> {
  const before = mailedLinks(sink, email).length
  await on.call('POST', `${base}/forgot-password`, { body: { email } })
  await expect.poll(() => mailedLinks(sink, email).length).toBe(before + 1)
  return (mailedLinks(sink, email).at(-1) ?? '').split('#')[1] ?? ''
}

const newPassword = 'a better horse'
const reset = ({ base }: Person, token: string, password = newPassword) =>
  on.call('POST', `${base}/reset-password`, { body: { token, password } })
const hasSession = async ({ base, token }: Person) =>
  (await on.call('GET', `${base}/profile`, { token })).status === 200

const kinds = [
  ['an owner with a confirmed address', () => makeOwner(1)],
  ['a reseller', makeSeller],
] as const

test.each(kinds)('a mailed reset of %s changes nothing before the factor is shown', async (_who, make) => {
  const person = await make()
  const { secret } = await addTotp(on, person)
  const token = await requestToken(person)
  const { json } = await reset(person, token)
  expect(Object.keys(json.data)).toEqual(['secondFactor'])
  const { challenge } = json.data.secondFactor
  expect(refusal(await signIn(on, { ...person, password: newPassword }))).toBe('invalid_credentials')
  await askedBy(on, person)
  expect(await hasSession(person)).toBe(true)
  const answer = await show(on, person, { challenge, code: codeOf(secret, on.clock.now()) })
  expect((await on.call('GET', `${person.base}/profile`, { token: answer.json.data.token })).status).toBe(200)
  expect(await hasSession(person)).toBe(false)
  expect(refusal(await signIn(on, person))).toBe('invalid_credentials')
  // The factor stays, and the link is used up.
  await askedBy(on, { ...person, password: newPassword })
  expect(refusal(await reset(person, token))).toBe('reset_link_invalid')
})

test.each(kinds)('a reset of %s that ran out of time can start again with its link', async (_who, make) => {
  const person = await make()
  const { secret, recoveryCodes } = await addTotp(on, person)
  const token = await requestToken(person)
  const late = (await reset(person, token)).json.data.secondFactor
  on.clock.advance(5 * minute)
  const code = codeOf(secret, on.clock.now())
  expect(refusal(await show(on, person, { challenge: late.challenge, code }))).toBe('challenge_ended')
  const [first, second] = [await reset(person, token), await reset(person, token, 'another horse')]
  const challenges = [first, second].map(({ json }) => json.data.secondFactor.challenge as string)
  const [one = '', other = ''] = challenges
  const recovered = await show(on, person, { challenge: one, recoveryCode: recoveryCodes[0] })
  expect(recovered.status).toBe(200)
  // The link works once, with the password of the call whose factor was shown.
  expect(refusal(await show(on, person, { challenge: other, code }))).toBe('challenge_ended')
  await askedBy(on, { ...person, password: newPassword })
})

test('one of 8 concurrent factors for one reset link sets the password', async () => {
  const person = await makeOwner(1)
  const { recoveryCodes } = await addTotp(on, person)
  const token = await requestToken(person)
  const challenges: string[] = []
  for (let at = 0; at < 8; at += 1)
    challenges.push((await reset(person, token)).json.data.secondFactor.challenge)
  const answers = await Promise.all(
    challenges.map((challenge, at) => show(on, person, { challenge, recoveryCode: recoveryCodes[at] })),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  for (const answer of answers.filter(({ status }) => status !== 200))
    expect(['challenge_ended', 'reset_link_invalid']).toContain(refusal(answer))
})

test('a mailed reset removes the factors of an account whose address no mailed link has ever confirmed', async () => {
  const person = await makeOwner(null)
  await addTotp(on, person)
  const { authenticator } = await addPasskey(on, person)
  const made = { name: 'Script', permissions: ['apps:read'] }
  const { key } = (await on.call('POST', '/api-keys', { token: person.token, body: made })).json.data
  const useKey = async () => (await on.call('GET', '/apps', { token: key })).status
  expect(await useKey()).toBe(200)
  const answer = await reset(person, await requestToken(person))
  expect(answer.json.data.token).toEqual(expect.any(String))
  expect([await hasSession(person), await useKey()]).toEqual([false, 401])
  const { token } = (await signIn(on, { ...person, password: newPassword })).json.data
  const factors = await on.call('GET', '/auth/second-factor', { token })
  expect(factors.json.data).toEqual({ totp: false, passkeys: [], recoveryCodes: 0 })
  expect(refusal(await passkeyLogin(on, '/auth', authenticator))).toBe('invalid_code')
})

test('a new password or address keeps the factor', async () => {
  const person = await makeOwner(1)
  const { secret } = await addTotp(on, person)
  const body = { currentPassword: person.password, newPassword }
  const changed = await on.call('PUT', '/auth/password', { token: person.token, body })
  const { token } = changed.json.data
  await askedBy(on, { ...person, password: newPassword })
  const email = `moved-${person.email}`
  const moved = await on.call('PUT', '/auth/email', { token, body: { email, password: newPassword } })
  expect(moved.status).toBe(200)
  const { challenge } = await askedBy(on, { ...person, email, password: newPassword })
  expect((await show(on, person, { challenge, code: codeOf(secret, on.clock.now()) })).status).toBe(200)
})

test.each([
  ['a confirmed address', 1],
  ['an address that was never confirmed', null],
])('a reset at a new address, in place of %s, asks for the factor', async (_which, confirmedAt) => {
  const person = await makeOwner(confirmedAt)
  await addTotp(on, person)
  const email = `thief-${person.email}`
  const body = { email, password: person.password }
  expect((await on.call('PUT', '/auth/email', { token: person.token, body })).status).toBe(200)
  const answer = await reset(person, await requestToken({ ...person, email }))
  expect(Object.keys(answer.json.data)).toEqual(['secondFactor'])
})

test('an invitation asks a person for its factor, and adds no member before', async () => {
  const [owner, person] = [await signUp(on), await makeOwner(1)]
  const { secret } = await addTotp(on, person)
  const made = await owner.call('POST', '/members', { email: person.email, role: 'viewer' })
  const token = String(made.json.data.link).split('#')[1]
  const accept = (password: string) =>
    on.call('POST', '/auth/invitations/accept', { body: { token, password } })
  expect(refusal(await accept('a wrong password'))).toBe('invalid_credentials')
  const answer = await accept(person.password)
  expect(Object.keys(answer.json.data)).toEqual(['secondFactor'])
  const invited = async () => (await owner.call('GET', '/members')).json.data.members[0]
  expect(await invited()).toMatchObject({ invited: true })
  const late = answer.json.data.secondFactor.challenge
  on.clock.advance(5 * minute)
  const code = () => codeOf(secret, on.clock.now())
  expect(refusal(await show(on, person, { challenge: late, code: code() }))).toBe('challenge_ended')
  const { challenge } = (await accept(person.password)).json.data.secondFactor
  const joined = await show(on, person, { challenge, code: code() })
  expect(joined.json.data.user).toMatchObject({ vendor: { _id: owner.id }, role: 'viewer' })
  expect(await invited()).toMatchObject({ invited: false, secondFactor: true })
  expect(refusal(await accept(person.password))).toBe('invitation_invalid')
})
