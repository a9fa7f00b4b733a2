import { platform } from '#platform'
import { fromBase64Url } from './bytes.ts'
import { KeywardUsageError } from './errors.ts'
import type { Verify } from './platform.ts'
import type { KeywardOptions, PublicJwk } from './types.ts'

/** Verifies with public keys, by key id. */
export type KeyRing = ReadonlyMap<string, Verify>

const wrong = (message: string) => new KeywardUsageError('invalid_options', `publicKeys: ${message}`)

function toList(publicKeys: KeywardOptions['publicKeys']): readonly PublicJwk[] {
  if (typeof publicKeys !== 'object' || publicKeys === null) throw wrong('expected a JWK set')
  const list = Array.isArray(publicKeys) ? publicKeys : 'keys' in publicKeys ? publicKeys.keys : [publicKeys]
  if (!Array.isArray(list)) throw wrong('expected an array of keys')
  return list as readonly PublicJwk[]
}

/**
 * Reads the Ed25519 signing keys of a JWK set and ignores keys of other kinds, as RFC 7517 requires. Throws
 * `KeywardUsageError` if no key is left, or one is malformed or private.
 */
export function toKeyRing(publicKeys: KeywardOptions['publicKeys']): KeyRing {
  const ring = new Map<string, Verify>()
  for (const jwk of toList(publicKeys)) {
    if (typeof jwk !== 'object' || jwk === null) throw wrong('a key is not an object')
    if ('d' in jwk) throw wrong('a private key must never be part of a program')
    if (jwk.kty !== 'OKP' || jwk.crv !== 'Ed25519' || (jwk.use ?? 'sig') !== 'sig') continue
    if (jwk.status === 'revoked') continue
    if (typeof jwk.kid !== 'string' || !/^[\x20-\x2b\x2d-\x7e]{1,256}$/.test(jwk.kid))
      throw wrong('a key has no kid')
    if (ring.has(jwk.kid)) throw wrong(`kid ${jwk.kid} is there twice`)
    ring.set(jwk.kid, toVerify(jwk))
  }
  if (ring.size === 0) throw wrong('expected at least one Ed25519 key')
  return ring
}

function toVerify(jwk: PublicJwk): Verify {
  const x = typeof jwk.x === 'string' ? fromBase64Url(jwk.x) : undefined
  if (x?.length !== 32) throw wrong(`the key ${jwk.kid} is broken`)
  return platform.toVerifier(x)
}
