// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { activateKey, makeApp, refusal, signUp } from '../actors.ts'
import { digestOf, type Exchange, exchange, keysOf, type Sent, verifies } from '../exchange.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { type Answer, startServer } from '../harness.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const send = (sent: Sent) => exchange(on, sent)
const publishedKeys = (appId: string) => keysOf(on, appId)

const covered = ({ answer }: Exchange): string | undefined =>
  /^keyward=\((.*)\);created=\d{10};keyid="[\w-]{43}";alg="ed25519"$/.exec(
    String(answer.headers['signature-input']),
  )?.[1]

const usualComponents = '"@status" "content-digest" "@method";req "@path";req'
const nonce = 'nonce-0123456789abcdef'
const init = () => ({
  method: 'POST',
  path: '/client/init',
  body: { appId: app.appId, secret: app.appSecret, version: '1.0.0' },
})

describe('the covered components', () => {
  test.each([
    ['nothing else', {}, ''],
    ['the nonce', { nonce }, ' "keyward-nonce";req'],
    ['the digest of the request', { withDigest: true }, ' "content-digest";req'],
    ['both, in order', { nonce, withDigest: true }, ' "keyward-nonce";req "content-digest";req'],
  ])('include the fixed part and %s', async (_what, options, more) => {
    const found = await send({ ...init(), ...options })
    expect(found.answer.status).toBe(200)
    expect(covered(found)).toBe(`${usualComponents}${more}`)
    expect(await verifies(found, await publishedKeys(app.appId))).toBe(true)
  })

  test('include the session between nonce and digest', async () => {
    const { program, license } = await activateKey(on, owner, app)
    const found = await send({
      method: 'POST',
      path: '/client/license',
      body: { licenseKey: license.key },
      token: program.session,
      headers: { 'keyward-app': app.appId },
      nonce,
      withDigest: true,
    })
    expect(found.answer.status).toBe(200)
    expect(covered(found)).toBe(
      `${usualComponents} "keyward-nonce";req "authorization";req "content-digest";req`,
    )
    expect(await verifies(found, await publishedKeys(app.appId))).toBe(true)
  })

  test('reject an answer to another request', async () => {
    const keys = await publishedKeys(app.appId)
    const found = await send({ ...init(), nonce, withDigest: true })
    const { answer, request } = found
    const accepted = (change: { answer?: object; request?: object }) =>
      verifies({ answer: { ...answer, ...change.answer }, request: { ...request, ...change.request } }, keys)
    const sent = (header: object) => ({ request: { headers: { ...request.headers, ...header } } })
    expect(await accepted({})).toBe(true)
    expect(await accepted(sent({ 'keyward-nonce': `${nonce}x` }))).toBe(false)
    expect(await accepted(sent({ 'content-digest': digestOf('{}') }))).toBe(false)
    expect(await accepted({ request: { url: 'http://localhost/api/client/validate' } })).toBe(false)
    expect(await accepted({ request: { method: 'PUT' } })).toBe(false)
    expect(await accepted({ answer: { status: 201 } })).toBe(false)
    const forged = Buffer.from('{"success":true}')
    expect(await accepted({ answer: { raw: forged } })).toBe(false)
    const headers = { ...answer.headers, 'content-digest': digestOf(forged) }
    expect(await accepted({ answer: { raw: forged, headers } })).toBe(false)
    const other = await publishedKeys((await makeApp(owner, 'Other')).appId)
    const [key] = keys
    expect(await verifies(found, [{ kid: key?.kid ?? '', x: other[0]?.x ?? '' }])).toBe(false)
  })
})

describe('every answer of a known app is signed', () => {
  async function exchanges(): Promise<Record<string, Exchange>> {
    const { program, license, user } = await activateKey(on, owner, app, 'pc-1')
    const named = { 'keyward-app': app.appId }
    const call = (path: string, more: Partial<Sent> = {}) =>
      send({ method: 'POST', path, token: program.session, headers: named, nonce, withDigest: true, ...more })
    const validate = (body: object) =>
      send({
        method: 'POST',
        path: '/client/validate',
        body: { appId: app.appId, ...body },
        nonce,
        withDigest: true,
      })
    const found: Record<string, Exchange> = {
      '200 init': await send({ ...init(), nonce, withDigest: true }),
      '200 session': await call('/client/session', { method: 'GET' }),
      '200 validate': await validate({ licenseKey: license.key, hwid: 'pc-1' }),
      '200 validate of nothing': await validate({ licenseKey: 'nothing' }),
      '200 keys': await send({ method: 'GET', path: `/client/apps/${app.appId}/keys`, nonce }),
      '200 keys by _id': await send({ method: 'GET', path: `/client/apps/${app._id}/keys?x=1`, nonce }),
      'appDisabled wrong secret': await send({
        ...init(),
        body: { appId: app.appId, secret: 'wrong', version: '1' },
        nonce,
      }),
      'keyNotFound license': await call('/client/license', { body: { licenseKey: 'nothing' } }),
      'hwidMismatch license': await call('/client/license', { body: { licenseKey: license.key } }),
      'usernameNotFound login': await call('/client/login', { body: { username: 'nobody', password: 'x' } }),
      'passMismatch login': await call('/client/login', { body: { username: license.key, password: 'x' } }),
      'unTooShort register': await call('/client/register', {
        body: { username: 'ab', password: 'secret1', licenseKey: license.key },
      }),
      'keyUsed register': await call('/client/register', {
        body: { username: 'abc', password: 'secret1', licenseKey: license.key },
      }),
      'invalid_input session call': await call('/client/login', { body: { username: 7 } }),
      'invalid_input init': await send({ ...init(), body: { appId: app.appId, extra: 1 }, nonce }),
      'invalid_digest wrong digest': await call('/client/login', {
        body: { username: 'abc', password: 'x' },
        headers: { ...named, 'content-digest': digestOf('{}') },
      }),
      'invalid_digest other algorithm': await call('/client/login', {
        body: { username: 'abc', password: 'x' },
        headers: { ...named, 'content-digest': 'md5=:AAAA:' },
      }),
      'invalid_json broken': await call('/client/login', { raw: '{"username":' }),
      'unsupported_media_type form': await call('/client/login', {
        raw: 'username=a',
        headers: { ...named, 'content-type': 'application/x-www-form-urlencoded' },
      }),
      payload_too_large: await call('/client/login', { raw: JSON.stringify('x'.repeat(16_383)) }),
      'invalid_nonce short': await call('/client/session', { method: 'GET', nonce: 'short' }),
      'sessionUnauthed no token': await call('/client/session', {
        method: 'GET',
        token: `kwc_${'x'.repeat(43)}`,
      }),
    }
    await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`)
    found['keyBanned session'] = await call('/client/session', { method: 'GET' })
    await owner.call('PATCH', `/clients/${user._id}/toggle-ban`)
    found['userBanned session'] = await call('/client/session', { method: 'GET' })
    found['200 logout'] = await call('/client/logout', { body: {} })
    found['sessionUnauthed after logout'] = await call('/client/session', { method: 'GET' })
    await owner.call('PUT', `/apps/${app._id}`, { paused: true })
    found['pausedApp session'] = await call('/client/session', { method: 'GET' })
    await owner.call('PUT', '/settings', { pauseApplications: true })
    found['appDisabled init'] = await send({ ...init(), nonce })
    await owner.call('PUT', '/settings', { pauseApplications: false })
    return found
  }

  test('so that an independent implementation verifies successes and failures', async () => {
    const keys = await publishedKeys(app.appId)
    for (const [name, found] of Object.entries(await exchanges())) {
      const expected = name.split(' ')[0] ?? ''
      const { answer } = found
      expect({ name, code: answer.json.success ? String(answer.status) : refusal(answer) }).toEqual({
        name,
        code: expected,
      })
      expect({ name, verified: await verifies(found, keys) }).toEqual({ name, verified: true })
    }
  })

  test("with the app's own key, which secret rotation keeps", async () => {
    const before = await publishedKeys(app.appId)
    await owner.call('POST', `/apps/${app._id}/rotate-secret`)
    expect(await publishedKeys(app.appId)).toEqual(before)
    expect(await publishedKeys((await makeApp(owner, 'Other')).appId)).not.toEqual(before)
    expect(before).toEqual([
      {
        kty: 'OKP',
        crv: 'Ed25519',
        alg: 'EdDSA',
        use: 'sig',
        kid: expect.any(String),
        x: expect.any(String),
        status: 'current',
      },
    ])
    const thumbprint = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${before[0]?.x}"}`)
    expect(before[0]?.kid).toBe(thumbprint.digest('base64url'))
  })

  test('except for an unknown app', async () => {
    const unknown: Sent[] = [
      { method: 'POST', path: '/client/init', body: { appId: 'ZZZZZZZZ', secret: 'x', version: '1' } },
      { method: 'POST', path: '/client/validate', body: { appId: 'ZZZZZZZZ', licenseKey: 'x' } },
      { method: 'GET', path: '/client/apps/ZZZZZZZZ/keys' },
      { method: 'GET', path: '/client/session', headers: { 'keyward-app': 'ZZZZZZZZ' } },
    ]
    for (const sent of unknown) {
      const { answer } = await send({ ...sent, nonce })
      expect(refusal(answer)).toBe('appDisabled')
      expect(answer.headers).not.toHaveProperty('signature')
      expect(answer.headers).not.toHaveProperty('signature-input')
    }
  })
})

test.each(['x'.repeat(15), 'x'.repeat(65), 'with space in the middle', 'ünïcode-nonce-0123456'])(
  'rejects the nonce %j',
  async (wrong) => {
    expect(refusal((await send({ ...init(), nonce: wrong })).answer)).toBe('invalid_nonce')
  },
)

test.each(['x'.repeat(16), 'x'.repeat(64), '!#$%&()*+,-./:;<=>?@~'])(
  'covers the nonce %j',
  async (validNonce) => {
    const found = await send({ ...init(), nonce: validNonce })
    expect(found.answer.status).toBe(200)
    expect(await verifies(found, await publishedKeys(app.appId))).toBe(true)
  },
)

test('signs the public path behind a proxy', async () => {
  const proxied = await startServer({ PUBLIC_URL: 'http://localhost/licensing/' })
  try {
    const vendor = await signUp(proxied)
    const { appId } = await makeApp(vendor)
    // One proxy strips the path prefix, another one keeps it.
    for (const passedOn of ['', '/licensing']) {
      const url = `${passedOn}/api/client/apps/${appId}/keys`
      const response = await proxied.server.inject({ method: 'GET', url })
      const answer: Answer = {
        status: response.statusCode,
        headers: response.headers,
        raw: response.rawPayload,
        json: response.json(),
      }
      const asked = (path: string): Exchange => ({
        answer,
        request: { method: 'GET', url: `http://localhost${path}/api/client/apps/${appId}/keys`, headers: {} },
      })
      expect(await verifies(asked('/licensing'), answer.json.data.keys)).toBe(true)
      expect(await verifies(asked(''), answer.json.data.keys)).toBe(false)
    }
  } finally {
    await proxied.close()
  }
})

test('a sealed key or secret moved to another app neither decrypts nor signs', async () => {
  const other = await makeApp(owner, 'Other')
  const apps = on.database.db.updateTable('apps')
  const { signing_sealed, secret_sealed } = await on.database.db
    .selectFrom('apps')
    .select(['signing_sealed', 'secret_sealed'])
    .where('id', '=', app._id)
    .executeTakeFirstOrThrow()
  await apps.set({ signing_sealed, secret_sealed }).where('id', '=', other._id).execute()
  const signed = await on.call('GET', `/client/apps/${other.appId}/keys`)
  expect(refusal(signed)).toBe('internal')
  expect(signed.headers).not.toHaveProperty('signature')
  expect(refusal(await owner.call('GET', `/apps/${other._id}`))).toBe('internal')
  await owner.call('DELETE', `/apps/${other._id}`)
})
