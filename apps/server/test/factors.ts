import { Secret, TOTP } from 'otpauth'
import { expect } from 'vitest'
import { second } from '../src/core/clock.ts'
import { Authenticator, type Deviation } from './authenticator.ts'
import type { Answer, TestServer } from './harness.ts'

/** Who has second factors: a signed-in person or a reseller, with its path. */
export interface Person {
  base: '/auth' | '/resellers/auth'
  email: string
  password: string
  token: string
}

/** The code that an authenticator app shows now. */
export const codeOf = (secret: string, now: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now })

/** Another code than the ones that are accepted now. */
export function wrongCode(secret: string, now: number): string {
  const accepted = [-30, 0, 30].map((seconds) => codeOf(secret, now + seconds * second))
  return ['000000', '111111', '222222', '333333'].find((code) => !accepted.includes(code)) ?? ''
}

export const signIn = (on: TestServer, { base, email, password }: Person, from?: string): Promise<Answer> =>
  on.call('POST', `${base}/login`, { body: { email, password }, from })

/** Signs in with the password; fails unless the answer asks for a second factor. */
export async function askedBy(on: TestServer, person: Person, from?: string) {
  const { status, json } = await signIn(on, person, from)
  expect([status, Object.keys(json.data)]).toEqual([200, ['secondFactor']])
  return json.data.secondFactor
}

export const show = (on: TestServer, { base }: Person, body: object, from?: string): Promise<Answer> =>
  on.call('POST', `${base}/second-factor`, { body, from })

/** The next code is one that was not used yet. */
export const nextStep = (on: TestServer) => on.clock.advance(30 * second)

export async function addTotp(on: TestServer, { base, token }: Person) {
  const begun = await on.call('POST', `${base}/totp`, { token })
  expect(begun.status).toBe(200)
  const { secret } = begun.json.data as { secret: string }
  const confirmed = await on.call('POST', `${base}/totp/confirm`, {
    token,
    body: { code: codeOf(secret, on.clock.now()) },
  })
  expect(confirmed.status).toBe(200)
  nextStep(on)
  return { secret, recoveryCodes: confirmed.json.data.recoveryCodes as string[] }
}

export async function beginPasskey(on: TestServer, { base, token }: Person, deviation?: Deviation) {
  const { json } = await on.call('POST', `${base}/passkeys/options`, { token })
  const authenticator = new Authenticator()
  return { authenticator, credential: authenticator.create(json.data.options, deviation) }
}

export async function addPasskey(on: TestServer, person: Person, name = 'Phone') {
  const { authenticator, credential } = await beginPasskey(on, person)
  const body = { name, credential }
  const { status, json } = await on.call('POST', `${person.base}/passkeys`, { token: person.token, body })
  expect(status).toBe(201)
  return { authenticator, ...json.data } as {
    authenticator: Authenticator
    passkey: { _id: string; name: string }
    recoveryCodes: string[] | null
  }
}

/** Signs in with a passkey alone. */
export async function passkeyLogin(
  on: TestServer,
  base: Person['base'],
  authenticator: Authenticator,
  deviation?: Deviation,
  from?: string,
): Promise<Answer> {
  const { json } = await on.call('POST', `${base}/passkey-login/options`, { body: {}, from })
  const { challenge, options } = json.data
  const body = { challenge, credential: authenticator.get(options, deviation) }
  return on.call('POST', `${base}/passkey-login`, { body, from })
}
