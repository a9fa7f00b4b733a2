import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto'
import { expect } from 'vitest'
import { keysOf } from './exchange.ts'
import type { TestServer } from './harness.ts'

const symbols = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const sha256 = (...data: (string | Uint8Array)[]) => {
  const hash = createHash('sha256')
  for (const one of data) hash.update(one)
  return hash.digest()
}

/** Crockford base32, written differently from the code that it checks. */
const crockford = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => symbols[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('')
}

interface Machine {
  licenseKey: string
  hwid?: string
  nonce?: Uint8Array
  version?: number
}

/** The bytes of a request before its check. */
export const requestBody = ({ licenseKey, hwid = 'pc-1', nonce = randomBytes(8), version = 1 }: Machine) =>
  Buffer.concat([Buffer.of(version), nonce, sha256(hwid), Buffer.from(licenseKey)])

export const requestOf = (appId: string, body: Uint8Array): string =>
  `KWR1-${crockford(Buffer.concat([body, sha256(appId, body).subarray(0, 4)]))
    .match(/.{1,5}/g)!
    .join('-')}`

/** What a program shows on a machine that is never online. */
export const makeRequest = (app: { appId: string }, machine: Machine): string =>
  requestOf(app.appId, requestBody(machine))

interface FileClaims {
  nonce: string
  iat: number
  exp: number | null
  seq: number
  deactivation: string
  [name: string]: unknown
}

/** Takes the lines of a file apart after verifying each with the published key that it names. */
export async function readFile(on: TestServer, app: { appId: string }, file: string) {
  const keys = await keysOf(on, app.appId)
  const lines = file.trimEnd().split('\n')
  const read = lines.map((line) => {
    const [header, claims, signature] = line.split('.') as [string, string, string]
    const parse = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
    const { kid, ...rest } = parse(header)
    expect(rest).toEqual({ alg: 'EdDSA', typ: 'keyward-activation+jws' })
    const jwk = keys.find((one) => one.kid === kid)!
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: jwk.x }, format: 'jwk' })
    const isGenuine = verify(
      null,
      Buffer.from(`${header}.${claims}`),
      key,
      Buffer.from(signature, 'base64url'),
    )
    expect(isGenuine).toBe(true)
    return { kid: kid as string, claims: parse(claims) as FileClaims }
  })
  for (const { claims } of read) expect(claims).toEqual(read[0]!.claims)
  return { kids: read.map(({ kid }) => kid), claims: read[0]!.claims }
}
