import { expect, test } from 'vitest'
import { createSeal, sameDigest, sha256 } from './crypto.ts'

const seal = createSeal('a secret key of the tests, 32+ characters')

test('decrypts a value in its place, and encrypts to a different text each time', () => {
  const [one, two] = [seal.seal('private ü', 'apps.secret:1'), seal.seal('private ü', 'apps.secret:1')]
  expect(one).not.toBe(two)
  expect(one).not.toContain('private')
  expect(seal.open(one, 'apps.secret:1')).toBe('private ü')
  expect(seal.open(two, 'apps.secret:1')).toBe('private ü')
})

test.each(['apps.secret:2', 'apps.signing:1', '', 'apps.secret:1 '])(
  'rejects a value moved to %j',
  (otherPlace) => {
    const sealed = seal.seal('private', 'apps.secret:1')
    expect(() => seal.open(sealed, otherPlace)).toThrow()
  },
)

test('rejects a value with any bit changed', () => {
  const sealed = seal.seal('private', 'here')
  const bytes = Buffer.from(sealed.slice(3), 'base64url')
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(() => seal.open(`v1.${changed.toString('base64url')}`, 'here')).toThrow()
  }
})

test('rejects a truncated value and an unknown format', () => {
  const sealed = seal.seal('private', 'here')
  for (const wrong of ['', 'v1.', sealed.slice(0, 20), sealed.slice(0, -2), sealed.replace('v1', 'v2')]) {
    expect(() => seal.open(wrong, 'here')).toThrow()
  }
})

test('another key decrypts nothing and has another fingerprint, which does not contain the key', () => {
  const other = createSeal('a secret key of the tests, 32+ characterS')
  expect(() => other.open(seal.seal('private', 'here'), 'here')).toThrow()
  expect(other.fingerprint).not.toBe(seal.fingerprint)
  expect(createSeal('a secret key of the tests, 32+ characters').fingerprint).toBe(seal.fingerprint)
})

test.each([
  [sha256('a'), sha256('a'), true],
  [sha256('a'), sha256('b'), false],
  [sha256('a'), sha256('a').slice(0, -1), false],
  [sha256('a'), '', false],
  ['', sha256('a'), false],
])('digests %s and %s match: %s', (one, other, expected) => {
  expect(sameDigest(one, other)).toBe(expected)
})
