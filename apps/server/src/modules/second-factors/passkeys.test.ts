import { describe, expect, test } from 'vitest'
import { Authenticator, type Deviation } from '../../../test/authenticator.ts'
import type { PasskeyRow } from '../../db/tables.ts'
import { siteOf, toCreationOptions, toRequestOptions, verifyAnswer, verifyNewPasskey } from './passkeys.ts'

const publicUrl = 'https://licenses.example.com/keyward'
const site = siteOf({ publicUrl })
const origin = 'https://licenses.example.com'
const holder = { kind: 'account', id: 'own_1' } as const
const challenge = Buffer.from('a challenge of the server').toString('base64url')
const creation = toCreationOptions(site, { holder, name: 'a@example.com' }, { challenge, passkeys: [] })

async function register(authenticator = new Authenticator(origin)): Promise<{
  authenticator: Authenticator
  passkey: PasskeyRow
}> {
  const verified = await verifyNewPasskey(site, authenticator.create(creation), challenge)
  if (!verified) throw new Error('the passkey was refused')
  const row = { id: 'psk_1', factor_id: 'fac_1', name: 'Phone', created_at: 0, last_used_at: null }
  return { authenticator, passkey: { ...row, ...verified } }
}

test('the relying party is the host of PUBLIC_URL, or localhost on any port', () => {
  expect(site).toEqual({ host: 'licenses.example.com', origin })
  expect(siteOf({ publicUrl: undefined })).toEqual({ host: 'localhost', origin: undefined })
})

describe('a new passkey (W3C WebAuthn, section 7.1)', () => {
  test('is accepted with its key and count', async () => {
    const { passkey, authenticator } = await register()
    expect(passkey).toMatchObject({
      credential_id: authenticator.id.toString('base64url'),
      counter: 0,
      transports: '["internal"]',
    })
  })

  test.each<[string, Deviation]>([
    ['another origin', { origin: 'https://evil.example' }],
    ['another port of the origin', { origin: 'https://licenses.example.com:444' }],
    ['localhost', { origin: 'http://localhost:3000' }],
    ['another relying party', { host: 'evil.example' }],
    ['another challenge', { challenge: 'YW5vdGhlcg' }],
    ['the type of an answer', { type: 'webauthn.get' }],
    ['an absent user', { isUserPresent: false }],
  ])('is refused for %s', async (_what, deviation) => {
    const created = new Authenticator(origin).create(creation, deviation)
    expect(await verifyNewPasskey(site, created, challenge)).toBeUndefined()
  })

  test('is refused if it is no passkey at all', async () => {
    const { response, ...created } = new Authenticator(origin).create(creation)
    for (const broken of [
      { ...response, attestationObject: 'AAAA' },
      { ...response, attestationObject: '!' },
      { ...response, clientDataJSON: 'e30' },
      { ...response, clientDataJSON: '!' },
    ]) {
      expect(await verifyNewPasskey(site, { ...created, response: broken }, challenge)).toBeUndefined()
    }
  })
})

describe('an answer of a passkey (W3C WebAuthn, section 7.2)', () => {
  const verify = async (deviation: Deviation, isUserVerified = true) => {
    const { authenticator, passkey } = await register()
    const answer = authenticator.get(toRequestOptions(site, { challenge }), deviation)
    return verifyAnswer(site, passkey, answer, { challenge, isUserVerified })
  }

  test('is accepted with its new count', async () => {
    expect(await verify({})).toBe(1)
    expect(await verify({ counter: 7 })).toBe(7)
  })

  test.each<[string, Deviation]>([
    ['another origin', { origin: 'https://evil.example' }],
    ['another relying party', { host: 'evil.example' }],
    ['another challenge', { challenge: 'YW5vdGhlcg' }],
    ['the type of a new passkey', { type: 'webauthn.create' }],
    ['an absent user', { isUserPresent: false }],
    ['a user who was not verified', { isUserVerified: false }],
  ])('is refused for %s', async (_what, deviation) => {
    expect(await verify(deviation)).toBeUndefined()
  })

  test('needs no verified user as a second factor', async () => {
    expect(await verify({ isUserVerified: false }, false)).toBe(1)
  })

  test('is refused with the signature of another key, or over other data', async () => {
    const { authenticator, passkey } = await register()
    const expected = { challenge, isUserVerified: true }
    const answer = authenticator.get(toRequestOptions(site, { challenge }))
    const other = new Authenticator(origin).get(toRequestOptions(site, { challenge }))
    const forged = { ...answer, response: { ...answer.response, signature: other.response.signature } }
    expect(await verifyAnswer(site, passkey, forged, expected)).toBeUndefined()
    const changed = {
      ...answer,
      response: {
        ...answer.response,
        authenticatorData: other.response.authenticatorData.replace(/.$/, 'A'),
      },
    }
    expect(await verifyAnswer(site, passkey, changed, expected)).toBeUndefined()
    expect(await verifyAnswer(site, passkey, answer, expected)).toBe(1)
  })

  test('is refused if the count of signatures does not grow: the authenticator was copied', async () => {
    const { authenticator, passkey } = await register()
    const answer = (counter: number) =>
      verifyAnswer(
        site,
        { ...passkey, counter: 5 },
        authenticator.get(toRequestOptions(site, { challenge }), { counter }),
        { challenge, isUserVerified: true },
      )
    expect(await Promise.all([4, 5, 0, 6].map(answer))).toEqual([undefined, undefined, undefined, 6])
  })
})
