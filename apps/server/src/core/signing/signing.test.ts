import { createPrivateKey, createPublicKey, verify } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { loadSigners } from './ed25519.ts'
import {
  type Component,
  contentDigest,
  digestMatches,
  importPrivateKey,
  newSigningKey,
  signatureBase,
  signOnPool,
  toJwk,
} from './signing.ts'

// RFC 9421, section B.1.4 (the key) and B.2.6 (the message, its signature base and its signature).
const rfcKey = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----`
const rfcComponents: Component[] = [
  ['"date"', 'Tue, 20 Apr 2021 02:07:55 GMT'],
  ['"@method"', 'POST'],
  ['"@path"', '/foo'],
  ['"@authority"', 'example.com'],
  ['"content-type"', 'application/json'],
  ['"content-length"', '18'],
]
const rfcInput =
  '("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"'
const rfcBase = [
  '"date": Tue, 20 Apr 2021 02:07:55 GMT',
  '"@method": POST',
  '"@path": /foo',
  '"@authority": example.com',
  '"content-type": application/json',
  '"content-length": 18',
  `"@signature-params": ${rfcInput}`,
].join('\n')
const rfcSignature =
  'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=='

describe("the RFC's own Ed25519 example", () => {
  test('has the same signature base, plus the algorithm that Keyward always names', () => {
    const { base, input } = signatureBase(rfcComponents, { created: 1618884473, keyid: 'test-key-ed25519' })
    expect(input).toBe(`${rfcInput};alg="ed25519"`)
    expect(base).toBe(`${rfcBase};alg="ed25519"`)
  })

  test("yields the RFC's signature byte for byte", async () => {
    const signature = await signOnPool(rfcBase, createPrivateKey(rfcKey))
    expect(signature).toBe(rfcSignature)
    const toSigner = await loadSigners()
    expect(toSigner(createPrivateKey(rfcKey))(Buffer.from(rfcBase))).toBe(rfcSignature)
  })
})

test("a digest matches the RFC's example", () => {
  expect(contentDigest('{"hello": "world"}')).toBe('sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:')
})

const body = Buffer.from('{"hello": "world"}')
const right = contentDigest(body)
test.each([
  ['its own digest', right, true],
  ['its own beside another algorithm', `sha-512=:AAAA:, ${right}`, true],
  ['its own before another algorithm', `${right},sha-512=:AAAA:`, true],
  ['its own between others, with spaces and tabs', ` sha-512=:AAAA:\t, ${right} ,\tunixsum=1 `, true],
  ['its own twice', `${right}, ${right}`, true],
  ['its own as the last of two', `${contentDigest('x')}, ${right}`, true],
  ['its own before that of another body', `${right}, ${contentDigest('x')}`, false],
  ['that of another body', contentDigest('x'), false],
  ['another algorithm alone', 'sha-512=:AAAA:', false],
  ['nothing', '', false],
  ['a truncated digest', right.slice(0, -3), false],
  ['its own under another name', right.replace('sha-256', 'xsha-256'), false],
])('a digest header with %s (%s) matches: %s', (_what, header, expected) => {
  expect(digestMatches(header, body)).toBe(expected)
})

test('a new key verifies with its own public half only', async () => {
  const [one, other] = [newSigningKey(), newSigningKey()]
  const signature = Buffer.from(await signOnPool('text', importPrivateKey(one.privateKey)), 'base64')
  const published = (key: { kid: string; x: string }) =>
    createPublicKey({ key: toJwk(key.kid, key.x), format: 'jwk' })
  expect(verify(null, Buffer.from('text'), published(one), signature)).toBe(true)
  expect(verify(null, Buffer.from('text'), published(other), signature)).toBe(false)
  expect(verify(null, Buffer.from('texT'), published(one), signature)).toBe(false)
})
