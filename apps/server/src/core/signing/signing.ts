import { createPrivateKey, generateKeyPairSync, hash, type KeyObject, sign } from 'node:crypto'

/** A component of a signature base: its identifier as in Signature-Input, and its value. */
export type Component = readonly [identifier: string, value: string]

/** Builds the signature base of RFC 9421, section 2.5, and the value of Signature-Input. */
export function signatureBase(
  components: readonly Component[],
  parameters: { created: number; keyid: string },
): { base: string; input: string } {
  let identifiers = ''
  let lines = ''
  for (const [identifier, value] of components) {
    identifiers += identifiers === '' ? identifier : ` ${identifier}`
    lines += `${identifier}: ${value}\n`
  }
  const input = `(${identifiers});created=${parameters.created};keyid="${parameters.keyid}";alg="ed25519"`
  return { base: `${lines}"@signature-params": ${input}`, input }
}

/** The Content-Digest (RFC 9530) of a body. */
export const contentDigest = (body: Buffer | string): string => `sha-256=:${hash('sha256', body, 'base64')}:`

/** Whether the header's sha-256 digest matches the body; it is no secret. The last one counts (RFC 9651, section 4.2.2). */
export function digestMatches(header: string, body: Buffer): boolean {
  const right = contentDigest(body)
  if (header === right) return true
  const digests = header.split(',').map((digest) => digest.trim())
  return digests.findLast((digest) => digest.startsWith('sha-256=')) === right
}

/** Signs on libuv's thread pool; returns base64. */
export const signOnPool = (base: string, key: KeyObject): Promise<string> =>
  new Promise((resolve, reject) => {
    sign(null, Buffer.from(base, 'latin1'), key, (error, signature) =>
      error ? reject(error) : resolve(signature.toString('base64')),
    )
  })

/**
 * Generates an Ed25519 key pair: the public key with its RFC 7638 thumbprint, and the private key as base64url PKCS
 * #8.
 */
export function newSigningKey(): { kid: string; x: string; privateKey: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x } = publicKey.export({ format: 'jwk' })
  if (!x) throw new Error('an Ed25519 key has an x')
  return {
    kid: hash('sha256', `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`, 'base64url'),
    x,
    privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64url'),
  }
}

export const importPrivateKey = (privateKey: string): KeyObject =>
  createPrivateKey({ key: Buffer.from(privateKey, 'base64url'), format: 'der', type: 'pkcs8' })

/** The public key as a JWK, for programs to verify signatures. */
export const toJwk = (kid: string, x: string) =>
  ({ kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' }) as const
