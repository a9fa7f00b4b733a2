import { sign } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KeywardSignatureError } from '../src/errors.ts'
import { toKeyRing } from '../src/keys.ts'
import { contentDigest, isSigned, signatureBase, verifyAnswer } from '../src/signature.ts'
import { parseDictionary } from '../src/structured-fields.ts'
import { coveredFor, otherKey, type Signing, signAnswer, testKey, toPublic } from './signer.ts'

const keys = toKeyRing([toPublic(testKey)])
const sent = {
  method: 'POST',
  path: '/api/client/login',
  nonce: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  authorization: 'Bearer session-1',
  contentDigest: await contentDigest(Buffer.from('{}')),
}
const request = {
  method: sent.method,
  path: sent.path,
  headers: {
    'keyward-nonce': sent.nonce,
    authorization: sent.authorization,
    'content-digest': sent.contentDigest,
  },
}
const body = Buffer.from('{"success":true,"data":{}}')

function answerWith(headers: Record<string, string | undefined>, status = 200, bytes: Uint8Array = body) {
  return { status, body: bytes, headers: { get: (name: string) => headers[name.toLowerCase()] ?? null } }
}

function answer(how?: Signing) {
  return answerWith(signAnswer(request, 200, body, how).headers)
}

async function refusal(attempt: () => Promise<unknown>): Promise<string> {
  try {
    await attempt()
  } catch (error) {
    if (error instanceof KeywardSignatureError) return error.code
    throw error
  }
  return 'accepted'
}

describe('the Ed25519 example of RFC 9421, appendix B.2.6', () => {
  const input =
    '("date" "@method" "@path" "@authority" "content-type" "content-length")' +
    ';created=1618884473;keyid="test-key-ed25519"'
  const base = [
    '"date": Tue, 20 Apr 2021 02:07:55 GMT',
    '"@method": POST',
    '"@path": /foo',
    '"@authority": example.com',
    '"content-type": application/json',
    '"content-length": 18',
    `"@signature-params": ${input}`,
  ].join('\n')
  const signature =
    'sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:'

  it('is parsed and verified with a key of the key ring', async () => {
    const parsed = parseDictionary(signature).get('sig-b26')
    if (parsed?.kind !== 'item' || parsed.value.type !== 'bytes') throw new Error('not parsed')
    expect(await keys.get('test-key-ed25519')!(Buffer.from(base), parsed.value.value)).toBe(true)
    const list = parseDictionary(`sig-b26=${input}`).get('sig-b26')
    if (list?.kind !== 'list') throw new Error('not parsed')
    expect(list.items.map((item) => item.value.value)).toEqual([
      'date',
      '@method',
      '@path',
      '@authority',
      'content-type',
      'content-length',
    ])
    expect(list.params.get('created')).toEqual({ type: 'integer', value: 1618884473 })
  })

  it("is reproduced exactly by the test signer's key", async () => {
    const privateKey = { key: testKey, format: 'jwk' } as const
    expect(`sig-b26=:${sign(null, Buffer.from(base), privateKey as never).toString('base64')}:`).toBe(
      signature,
    )
  })
})

describe('verifyAnswer', () => {
  it('accepts a response that covers the request, and returns the signing time', async () => {
    expect(await verifyAnswer(sent, answer({ created: 1_700_000_000 }), keys)).toEqual({
      created: 1_700_000_000,
    })
  })

  it('builds the same signature base as an independent signer', async () => {
    const { base, headers } = signAnswer(request, 200, body)
    const parameters = { created: 1_750_000_000, keyid: testKey.kid }
    expect(signatureBase(sent, answerWith(headers), parameters)).toBe(base)
  })

  it('ignores signatures under other labels', async () => {
    const headers = signAnswer(request, 200, body).headers
    const more = answerWith({
      ...headers,
      'signature-input': `proxy=("@status");created=1, ${headers['signature-input']}`,
      signature: `${headers.signature}, proxy=:AAAA:`,
    })
    expect((await verifyAnswer(sent, more, keys)).created).toBe(1_750_000_000)
  })

  it('finds sha-256 among other digests', async () => {
    const digest = `sha-512=:AAAA:, ${await contentDigest(body)}`
    expect(await refusal(() => verifyAnswer(sent, answer({ digest }), keys))).toBe('accepted')
  })

  const all = coveredFor(request.headers)
  it.each(all)('rejects a response that does not cover %s', async (name) => {
    const components = all.filter((each) => each !== name)
    expect(await refusal(() => verifyAnswer(sent, answer({ components }), keys))).toBe('wrong_coverage')
  })

  it.each([
    ['another order', [all[1]!, all[0]!, ...all.slice(2)]],
    ['a component twice', [...all, all[0]!]],
    ['an extra component', [...all, '"date"']],
    [
      'the method of the answer instead of the request',
      all.map((name) => name.replace('"@method";req', '"@method"')),
    ],
    ['a component as a token', all.map((name) => name.replace('"content-digest";req', 'content-digest;req'))],
    ['a further parameter on a component', all.map((name) => name.replace('"@path";req', '"@path";req;sf'))],
    ['no component', []],
  ])('rejects coverage with %s', async (_, components) => {
    expect(await refusal(() => verifyAnswer(sent, answer({ components }), keys))).toBe('wrong_coverage')
  })

  it.each([
    ['no created', ';keyid="test-key-ed25519";alg="ed25519"'],
    ['no keyid', ';created=1;alg="ed25519"'],
    ['no alg', ';created=1;keyid="test-key-ed25519"'],
    ['another alg', ';created=1;keyid="test-key-ed25519";alg="hmac-sha256"'],
    ['alg as a token', ';created=1;keyid="test-key-ed25519";alg=ed25519'],
    ['created as a string', ';created="1";keyid="test-key-ed25519";alg="ed25519"'],
    ['a negative created', ';created=-1;keyid="test-key-ed25519";alg="ed25519"'],
    ['another order', ';keyid="test-key-ed25519";created=1;alg="ed25519"'],
    ['an extra parameter', ';created=1;keyid="test-key-ed25519";alg="ed25519";tag="x"'],
  ])('rejects parameters with %s', async (_, params) => {
    expect(await refusal(() => verifyAnswer(sent, answer({ params }), keys))).toBe('wrong_parameters')
  })

  it('rejects a duplicate parameter', async () => {
    const params = ';created=1;created=2;keyid="test-key-ed25519";alg="ed25519"'
    expect(await refusal(() => verifyAnswer(sent, answer({ params }), keys))).toBe('malformed_signature')
  })

  it('rejects a duplicate label', async () => {
    const headers = signAnswer(request, 200, body).headers
    const twice = answerWith({ ...headers, signature: `${headers.signature}, ${headers.signature}` })
    expect(await refusal(() => verifyAnswer(sent, twice, keys))).toBe('malformed_signature')
  })

  it("rejects another app's key, even under the correct key id", async () => {
    expect(await refusal(() => verifyAnswer(sent, answer({ key: otherKey }), keys))).toBe('unknown_key')
    const borrowed = answer({ key: otherKey, keyid: testKey.kid })
    expect(await refusal(() => verifyAnswer(sent, borrowed, keys))).toBe('bad_signature')
  })

  it('rejects a response to a request with another path, method, nonce, session or body', async () => {
    const changes = [
      { path: '/api/client/license' },
      { method: 'GET' },
      { nonce: 'BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB' },
      { authorization: 'Bearer session-2' },
      { contentDigest: await contentDigest(Buffer.from('{"a":1}')) },
    ]
    for (const change of changes) {
      expect(await refusal(() => verifyAnswer({ ...sent, ...change }, answer(), keys))).toBe('bad_signature')
    }
  })

  it('rejects a signature without its input and an input without its signature', async () => {
    const { headers } = signAnswer(request, 200, body)
    for (const missing of ['signature', 'signature-input']) {
      const half = answerWith({ ...headers, [missing]: undefined })
      expect(await refusal(() => verifyAnswer(sent, half, keys))).toBe('malformed_signature')
      expect(isSigned(half)).toBe(true)
    }
  })

  it.each(['', 'sha-256=:AAAA:', 'sha-256="x"', 'md5=:AAAA:', 'broken=='])(
    'rejects the digest "%s", even when signed',
    async (digest) => {
      expect(await refusal(() => verifyAnswer(sent, answer({ digest }), keys))).toBe('digest_mismatch')
    },
  )

  it('rejects any changed status, body or signature', async () => {
    const { headers } = signAnswer(request, 200, body)
    const bits = fc.integer({ min: 0, max: 511 })
    await fc.assert(
      fc.asyncProperty(bits, async (bit) => {
        const signature = Buffer.from(headers.signature.slice('keyward=:'.length, -1), 'base64')
        signature[bit >> 3]! ^= 1 << (bit & 7)
        const forged = { ...headers, signature: `keyward=:${signature.toString('base64')}:` }
        expect(await refusal(() => verifyAnswer(sent, answerWith(forged), keys))).toBe('bad_signature')
      }),
      { numRuns: 200 },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 100, max: 599 }),
        fc.uint8Array({ maxLength: 60 }),
        async (status, bytes) => {
          if (status === 200 || Buffer.compare(bytes, body) === 0) return
          expect(await refusal(() => verifyAnswer(sent, answerWith(headers, status), keys))).toBe(
            'bad_signature',
          )
          expect(await refusal(() => verifyAnswer(sent, answerWith(headers, 200, bytes), keys))).toBe(
            'digest_mismatch',
          )
        },
      ),
    )
  })

  it('accepts an edited header only if its signature is unchanged', async () => {
    const { headers } = signAnswer(request, 200, body)
    const name = fc.constantFrom('signature', 'signature-input', 'content-digest' as const)
    const insert = fc.string({ unit: fc.constantFrom(...' ",;:=()?-AZaz019+/\\'), maxLength: 2 })
    await fc.assert(
      fc.asyncProperty(
        name,
        fc.nat({ max: 400 }),
        fc.nat({ max: 2 }),
        insert,
        async (name, at, cut, insert) => {
          const original = headers[name]
          const start = at % original.length
          const edited = original.slice(0, start) + insert + original.slice(start + cut)
          if (edited.trim() === original) return
          const verdict = await refusal(() =>
            verifyAnswer(sent, answerWith({ ...headers, [name]: edited }), keys),
          )
          if (verdict !== 'accepted') return
          expect(name).not.toBe('content-digest')
          expect(parseDictionary(edited).get('keyward')).toEqual(parseDictionary(original).get('keyward'))
        },
      ),
      { numRuns: 3_000 },
    )
  })
})

describe('toKeyRing', () => {
  const jwk = toPublic(testKey)

  it('accepts an array of keys, a JWK set or one key', async () => {
    for (const publicKeys of [[jwk], { keys: [jwk] }, jwk])
      expect([...toKeyRing(publicKeys).keys()]).toEqual([jwk.kid])
  })

  it('keeps all keys of a rotation and ignores other key types', async () => {
    const rsa = { kty: 'RSA', kid: 'rsa' }
    const sealing = { ...jwk, kid: 'enc', use: 'enc' }
    expect([...toKeyRing([jwk, rsa, sealing, toPublic(otherKey)]).keys()]).toEqual([jwk.kid, otherKey.kid])
  })

  it.each([
    ['nothing', undefined],
    ['a string', 'key'],
    ['an empty set', { keys: [] }],
    ['a set that is not an array', { keys: 'x' }],
    ['only other key types', [{ kty: 'RSA', kid: 'rsa' }]],
    ['a private key', [testKey]],
    ['a key without kid', [{ ...jwk, kid: undefined }]],
    ['the same kid twice', [jwk, jwk]],
    ['a short key', [{ ...jwk, x: 'AAAA' }]],
    ['a key with extra trailing bits', [{ ...jwk, x: `${jwk.x.slice(0, -1)}t` }]],
  ])('rejects %s', (_, publicKeys) => {
    expect(() => toKeyRing(publicKeys as never)).toThrow(expect.objectContaining({ code: 'invalid_options' }))
  })

  it('returns keys that verify signatures of Node', async () => {
    const message = Buffer.from('message')
    const signature = sign(null, message, { key: testKey, format: 'jwk' } as never)
    const verify = toKeyRing(jwk).get(jwk.kid)!
    expect(await verify(message, signature)).toBe(true)
    expect(await verify(Buffer.from('other'), signature)).toBe(false)
  })
})
