import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Keyward } from '../src/index.ts'
import { coveredFor, otherKey, signAnswer } from './signer.ts'
import {
  type Behaviour,
  type Prepared,
  plain,
  refuse,
  type StandIn,
  signed,
  startStandIn,
  succeed,
  user,
} from './stand-in.ts'

let server: StandIn
let keyward: Keyward

beforeEach(async () => {
  server = await startStandIn()
  server.on('license', succeed({ user }))
  server.on('session', succeed({ user }))
  const { baseUrl, publicKeys } = server
  keyward = new Keyward({
    baseUrl,
    publicKeys,
    appId: 'app12345',
    secret: 'secret',
    version: '1.0.0',
    hwid: 'hw',
  })
  await keyward.license('KEY')
})

afterEach(() => server.close())

const genuine: Behaviour = succeed({ user })

/** A genuine response, modified in transit. */
function tampered(change: (prepared: Prepared) => Partial<Prepared>): Behaviour {
  return (seen, response) => {
    const prepared = genuine(seen, response)!
    return { ...prepared, ...change(prepared) }
  }
}

const forgeries: [what: string, code: string, behaviour: Behaviour][] = [
  [
    'a body with a changed expiry',
    'digest_mismatch',
    tampered(({ body }) => ({ body: body.replace('2030', '2099') })),
  ],
  [
    'another body with a matching digest',
    'bad_signature',
    tampered(({ headers }) => {
      const body = '{"success":true,"data":{"user":{}}}'
      return {
        body,
        headers: {
          ...headers,
          'content-digest': signAnswer({ method: '', path: '', headers: {} }, 200, body).headers[
            'content-digest'
          ],
        },
      }
    }),
  ],
  [
    'a rejection with its status changed to 200',
    'bad_signature',
    (seen, response) => ({ ...refuse(403, 'userBanned')(seen, response)!, status: 200 }),
  ],
  [
    "an answer signed with another app's key",
    'unknown_key',
    (seen) => signed(seen, 200, { success: true, data: { user } }, { key: otherKey }),
  ],
  [
    "another app's key under this app's key id",
    'bad_signature',
    (seen) =>
      signed(seen, 200, { success: true, data: { user } }, { key: otherKey, keyid: 'test-key-ed25519' }),
  ],
  [
    'a rotated key id',
    'unknown_key',
    (seen) => signed(seen, 200, { success: true, data: { user } }, { keyid: 'key-of-2019' }),
  ],
  ...['keyward-nonce', 'authorization', '@status', '@path', 'content-digest'].map(
    (name): (typeof forgeries)[number] => [
      `a signature that does not cover ${name}`,
      'wrong_coverage',
      (seen) => {
        const components = coveredFor(seen.headers).filter((each) => !each.startsWith(`"${name}"`))
        return signed(seen, 200, { success: true, data: { user } }, { components })
      },
    ],
  ),
  [
    'a wrong digest, signed',
    'digest_mismatch',
    (seen) => signed(seen, 200, { success: true, data: { user } }, { digest: 'sha-256=:AAAA:' }),
  ],
  [
    'a 500 with a broken signature',
    'wrong_parameters',
    (seen) => signed(seen, 500, {}, { params: ';created=1' }),
  ],
  ['a body of a megabyte', 'body_too_large', (seen) => signed(seen, 200, 'x'.repeat(1_000_000))],
]

describe('a response of something other than the server', () => {
  it.each([
    ['captive_portal', plain(302, '', { location: 'http://127.0.0.1:9/' })],
    ['captive_portal', plain(200, '<html>Welcome to our hotel</html>', { 'content-type': 'text/html' })],
    ['captive_portal', plain(511, '')],
    ['wrong_address', plain(404, '{"message":"Not Found"}')],
    ['unknown_app', plain(403, JSON.stringify({ success: false, code: 'appDisabled' }))],
    ['blocked', plain(200, JSON.stringify({ success: true, data: { user } }))],
    ['blocked', plain(403, JSON.stringify({ success: false, code: 'userBanned' }))],
    ['blocked', (seen) => signed(seen, 200, { success: true, data: { user } }, { label: 'sig1' })],
    ['blocked', plain(403, 'error code: 1010', { 'content-type': 'text/plain' })],
    ['blocked', plain(408)],
    ['blocked', plain(200, 'x'.repeat(1_000_000))],
  ] as [string, Behaviour][])('is reported as %s, and never retried', async (code, behaviour) => {
    server.on('session', behaviour)
    const before = server.seen.length
    await expect(keyward.session()).rejects.toMatchObject({ name: 'KeywardNetworkError', code })
    expect(server.seen.length - before).toBe(1)
  })
})

describe('a forged response', () => {
  it.each(forgeries)('is rejected: %s', async (_, code, behaviour) => {
    server.on('session', behaviour)
    const before = server.seen.length
    await expect(keyward.session()).rejects.toMatchObject({ name: 'KeywardSignatureError', code })
    expect(server.seen.length - before, 'a forgery is not retried').toBe(1)
  })

  it('is rejected: a replayed response', async () => {
    let recorded: Prepared | undefined
    server.on(
      'session',
      (seen, response) => (recorded = genuine(seen, response)),
      () => recorded,
    )
    expect((await keyward.session()).ok).toBe(true)
    await expect(keyward.session()).rejects.toMatchObject({ code: 'bad_signature' })
  })

  it('is rejected: the response to another call', async () => {
    let recorded: Prepared | undefined
    server.on('license', (seen, response) => (recorded = genuine(seen, response)))
    await keyward.license('KEY')
    server.on('session', () => recorded)
    await expect(keyward.session()).rejects.toMatchObject({ code: 'wrong_coverage' })
    server.on('login', () => recorded)
    await expect(keyward.login({ username: 'a', password: 'b' })).rejects.toMatchObject({
      code: 'bad_signature',
    })
  })

  it('is rejected: a truncated body', async () => {
    server.on(
      'session',
      tampered(({ body }) => ({ body: body.slice(0, -10) })),
    )
    await expect(keyward.session()).rejects.toMatchObject({ code: 'digest_mismatch' })
  })

  it('is not followed to another address', async () => {
    const other = await startStandIn()
    server.on('session', plain(307, '', { location: `${other.baseUrl}/api/client/session` }))
    await expect(keyward.session()).rejects.toMatchObject({ code: 'captive_portal', status: 307 })
    expect(other.seen).toHaveLength(0)
    await other.close()
  })
})
