import { otherKey, testKey, toPublic } from '../../packages/sdk/test/signer.ts'

type KeySetCase = {
  name: string
  publicKeys: unknown
} & ({ kids: string[] } | { error: 'invalid_options' })

const ours = toPublic(testKey)
const other = toPublic(otherKey)
const { d } = testKey
const rsa = { kty: 'RSA', kid: 'rsa', n: 'AQAB', e: 'AQAB', alg: 'RS256', use: 'sig' }
const p256 = { kty: 'EC', crv: 'P-256', kid: 'p256', x: ours.x, y: ours.x }

const read = (name: string, publicKeys: unknown, ...kids: string[]): KeySetCase => ({
  name,
  publicKeys,
  kids,
})
const rejected = (name: string, publicKeys: unknown): KeySetCase => ({
  name,
  publicKeys,
  error: 'invalid_options',
})

/** Which `publicKeys` a program can be built with. */
export const keySets: KeySetCase[] = [
  read('a list with one key', [ours], ours.kid),
  read('a JWK set', { keys: [ours] }, ours.kid),
  read('a single key', ours, ours.kid),
  read('several keys, in their order', [other, ours], other.kid, ours.kid),
  read('keys of other kinds, which are ignored', [rsa, p256, ours], ours.kid),
  read('a key for encryption, which is ignored', [{ ...other, use: 'enc' }, ours], ours.kid),
  read('another curve, which is ignored', [{ ...other, crv: 'X25519' }, ours], ours.kid),
  read('another spelling of the curve, which is ignored', [{ ...other, crv: 'ed25519' }, ours], ours.kid),
  read('a revoked key, which is ignored', [{ ...other, status: 'revoked' }, ours], ours.kid),
  read('a revoked key without a kid', [{ ...other, kid: undefined, status: 'revoked' }, ours], ours.kid),
  read('a revoked key under the same kid', [{ ...other, kid: ours.kid, status: 'revoked' }, ours], ours.kid),
  read(
    'the keys of a rotation',
    {
      keys: [
        { ...other, status: 'next' },
        { ...ours, status: 'current' },
      ],
    },
    other.kid,
    ours.kid,
  ),
  read('a retired key', [{ ...ours, status: 'retired' }], ours.kid),
  read('a status of a newer server', [{ ...ours, status: 'resting' }], ours.kid),
  read('a status of null', [{ ...ours, status: null }], ours.kid),
  read('a use of null', [{ ...ours, use: null }], ours.kid),
  read('no use', [{ ...ours, use: undefined }], ours.kid),
  read('the use of signatures', [{ ...ours, use: 'sig' }], ours.kid),
  read('a use in capitals, which is another one', [{ ...other, use: 'SIG' }, ours], ours.kid),
  read('an empty use, which is another one', [{ ...other, use: '' }, ours], ours.kid),
  read('an algorithm that is not looked at', [{ ...ours, alg: 'RS256' }], ours.kid),
  read('an ignored key without a kid', [{ ...other, kid: undefined, use: 'enc' }, ours], ours.kid),
  read('an ignored key under the same kid', [{ ...other, kid: ours.kid, use: 'enc' }, ours], ours.kid),
  read('an ignored key that is broken', [{ ...other, x: 'AAAA', status: 'revoked' }, ours], ours.kid),
  read('a key without a type, which is ignored', [{ ...other, kty: undefined }, ours], ours.kid),
  read('unknown members', [{ ...ours, x5c: [], note: 'ours' }], ours.kid),
  read('nothing but the members that count', [{ kty: 'OKP', crv: 'Ed25519', kid: 'k', x: ours.x }], 'k'),
  read('a kid of 256 characters', [{ ...ours, kid: 'k'.repeat(256) }], 'k'.repeat(256)),
  read('a kid of unusual characters', [{ ...ours, kid: ' "k\\~' }], ' "k\\~'),
  rejected('no key', []),
  rejected('no key in the set', { keys: [] }),
  rejected('a set without a list', { keys: ours }),
  rejected('nothing', null),
  rejected('a set whose list is null', { keys: null }),
  rejected('a set in a list', [{ keys: [ours] }]),
  rejected('a text', ours.x),
  rejected('a list of nothing', [null]),
  rejected('a list of texts', [ours.x]),
  rejected('no key of the right kind', [rsa, p256]),
  rejected('revoked keys alone', [{ ...ours, status: 'revoked' }]),
  rejected('a private key', [{ ...ours, d }]),
  rejected('a private key beside a public one', [ours, { ...other, d: otherKey.d }]),
  rejected('a private key of another kind', [ours, { ...rsa, d }]),
  rejected('a private key that is revoked', [ours, { ...other, d: otherKey.d, status: 'revoked' }]),
  rejected('an empty member d', [{ ...ours, d: '' }]),
  rejected('a member d of null', [{ ...ours, d: null }]),
  rejected('a member d of null in a key of another kind', [ours, { ...rsa, d: null }]),
  rejected('a member d of null in a revoked key', [ours, { ...other, d: null, status: 'revoked' }]),
  rejected('the same kid twice', [ours, { ...other, kid: ours.kid }]),
  rejected('the same key twice', [ours, ours]),
  rejected('no kid', [{ ...ours, kid: undefined }]),
  rejected('a kid of null', [{ ...ours, kid: null }]),
  rejected('an empty kid', [{ ...ours, kid: '' }]),
  rejected('a number as kid', [{ ...ours, kid: 1 }]),
  rejected('a kid of 257 characters', [{ ...ours, kid: 'k'.repeat(257) }]),
  rejected('a comma in the kid, which separates kids in a header', [{ ...ours, kid: 'a,b' }]),
  rejected('a line feed in the kid', [{ ...ours, kid: 'a\nb' }]),
  rejected('a kid beyond ASCII', [{ ...ours, kid: 'ключ' }]),
  rejected('no x', [{ ...ours, x: undefined }]),
  rejected('an x of null', [{ ...ours, x: null }]),
  rejected('an x of 31 bytes', [{ ...ours, x: `${ours.x.slice(0, 41)}A` }]),
  rejected('an x of 33 bytes', [{ ...ours, x: `${ours.x}A` }]),
  rejected('an x with padding', [{ ...ours, x: `${ours.x}=` }]),
  rejected('an x in base64 instead of base64url', [{ ...ours, x: toBase64(ours.x) }]),
  rejected('an x with extra trailing bits', [{ ...ours, x: ours.x.replace(/s$/, 't') }]),
  rejected('white space in x', [{ ...ours, x: ` ${ours.x}` }]),
  rejected('one broken key beside a good one', [ours, { ...other, x: 'AAAA' }]),
]

function toBase64(text: string): string {
  return text.replaceAll('-', '+').replaceAll('_', '/')
}
