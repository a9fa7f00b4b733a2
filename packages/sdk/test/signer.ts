import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto'

/** The published Ed25519 test key of RFC 9421, appendix B.1.4. For tests only. */
export const testKey = {
  kty: 'OKP',
  crv: 'Ed25519',
  kid: 'test-key-ed25519',
  d: 'n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU',
  x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs',
}

/** The key of another app, from RFC 8032, section 7.1, test 1. */
export const otherKey = {
  kty: 'OKP',
  crv: 'Ed25519',
  kid: 'another-app',
  d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
  x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
}

export type TestKey = typeof testKey

export function toPublic({ kty, crv, kid, x }: TestKey) {
  return { kty, crv, kid, x, alg: 'EdDSA', use: 'sig' }
}

export interface Signing {
  label?: string
  key?: TestKey
  keyid?: string
  created?: number
  /** Replaces the parameters after the component list. */
  params?: string
  /** Component identifiers as written in the list. */
  components?: string[]
  digest?: string
}

export interface Request {
  method: string
  path: string
  /** Header names in lower case. */
  headers: Record<string, string | undefined>
}

export const digestOf = (body: string | Uint8Array) =>
  `sha-256=:${createHash('sha256').update(body).digest('base64')}:`

export function coveredFor(headers: Request['headers']): string[] {
  const sent = ['keyward-nonce', 'authorization', 'content-digest'].filter(
    (name) => headers[name] !== undefined,
  )
  return [
    '"@status"',
    '"content-digest"',
    '"@method";req',
    '"@path";req',
    ...sent.map((name) => `"${name}";req`),
  ]
}

function privateKey(key: TestKey): KeyObject {
  return createPrivateKey({ key, format: 'jwk' })
}

/** Signs a response like the server. Independent of the SDK's code, which it checks. */
export function signAnswer(request: Request, status: number, body: string | Uint8Array, how: Signing = {}) {
  const key = how.key ?? testKey
  const digest = how.digest ?? digestOf(body)
  const values: Record<string, string> = {
    '"@status"': `${status}`,
    '"content-digest"': digest,
    '"@method";req': request.method,
    '"@path";req': request.path,
  }
  for (const [name, value] of Object.entries(request.headers)) values[`"${name}";req`] = value ?? ''
  const components = how.components ?? coveredFor(request.headers)
  const created = how.created ?? 1_750_000_000
  const params = how.params ?? `;created=${created};keyid="${how.keyid ?? key.kid}";alg="ed25519"`
  const input = `(${components.join(' ')})${params}`
  const base = [
    ...components.map((name) => `${name}: ${values[name] ?? ''}`),
    `"@signature-params": ${input}`,
  ].join('\n')
  const label = how.label ?? 'keyward'
  return {
    base,
    headers: {
      'content-digest': digest,
      'signature-input': `${label}=${input}`,
      signature: `${label}=:${sign(null, Buffer.from(base), privateKey(key)).toString('base64')}:`,
    },
  }
}
