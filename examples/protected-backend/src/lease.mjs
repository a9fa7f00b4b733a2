import { createPublicKey, verify } from 'node:crypto'

/** The keys of the app that may sign leases, by `kid`. The leases of a revoked key end at once. */
export function readKeys(publicKeys) {
  const usable = publicKeys.filter(
    ({ kty, crv, use, status }) =>
      kty === 'OKP' && crv === 'Ed25519' && (use ?? 'sig') === 'sig' && status !== 'revoked',
  )
  return new Map(usable.map((jwk) => [jwk.kid, createPublicKey({ key: jwk, format: 'jwk' })]))
}

/**
 * The claims of a lease that Keyward has signed for this app and that runs at `now`, in seconds; undefined for any other
 * text. The grace after `exp` is for programs without a connection, and this one has reached us.
 */
export function readLease(text, { appId, keys, now = Date.now() / 1000 }) {
  const [, head, body, signature] = /^([\w-]+)\.([\w-]+)\.([\w-]{86})$/.exec(text) ?? []
  const { alg, typ, kid } = parse(head)
  const key = alg === 'EdDSA' && typ === 'keyward-lease+jws' && keys.get(kid)
  if (!key || !verify(null, Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))) return
  const lease = parse(body)
  const { iss, aud, sub, iat, exp, features, featuresUntil = {} } = lease
  const isOurs = iss === 'keyward' && aud === appId && typeof sub === 'string' && Array.isArray(features)
  const isNow = Number.isSafeInteger(iat) && Number.isSafeInteger(exp) && iat <= now + 300 && now < exp
  if (!isOurs || !isNow) return
  // Some features end before the lease.
  const more = Object.keys(featuresUntil).filter((name) => now < featuresUntil[name])
  return { ...lease, features: [...features, ...more] }
}

function parse(part = '') {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) ?? {}
  } catch {
    return {}
  }
}
