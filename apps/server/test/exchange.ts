import { createHash, createPublicKey, verify } from 'node:crypto'
import { httpbis } from 'http-message-signatures'
import type { Answer, TestServer } from './harness.ts'

/** A program's request, sent unchanged. */
export interface Sent {
  method: string
  path: string
  body?: unknown
  token?: string
  headers?: Record<string, string>
  nonce?: string | undefined
  /** Whether to send the digest of the body. */
  withDigest?: boolean
  /** The body's bytes, instead of `body`. */
  raw?: string
}

export const digestOf = (body: Buffer | string) =>
  `sha-256=:${createHash('sha256').update(body).digest('base64')}:`

/** Sends a request and returns it with its response: the signature covers both. */
export async function exchange(on: TestServer, sent: Sent) {
  const payload = sent.raw ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body))
  const headers: Record<string, string> = {
    ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
    ...(sent.token === undefined ? {} : { authorization: `Bearer ${sent.token}` }),
    ...(sent.nonce === undefined ? {} : { 'keyward-nonce': sent.nonce }),
    ...(sent.withDigest && payload !== undefined ? { 'content-digest': digestOf(payload) } : {}),
    ...sent.headers,
  }
  const response = await on.server.inject({
    method: sent.method as 'GET',
    url: `/api${sent.path}`,
    headers,
    ...(payload === undefined ? {} : { payload }),
  })
  const answer: Answer = {
    status: response.statusCode,
    headers: response.headers,
    raw: response.rawPayload,
    json: response.json(),
  }
  return { answer, request: { method: sent.method, url: `http://localhost/api${sent.path}`, headers } }
}

export type Exchange = Awaited<ReturnType<typeof exchange>>

export interface PublicKey {
  kid: string
  x: string
}

export async function keysOf(on: TestServer, appId: string): Promise<PublicKey[]> {
  return (await on.call('GET', `/client/apps/${appId}/keys`)).json.data.keys
}

/** Whether an independent implementation of RFC 9421 verifies the response with the app's published keys. */
export async function verifies({ answer, request }: Exchange, keys: readonly PublicKey[]): Promise<boolean> {
  const headers = answer.headers as Record<string, string>
  if (headers['content-digest'] !== digestOf(answer.raw)) return false
  const verified = await httpbis.verifyMessage(
    {
      tolerance: 60,
      requiredParams: ['created', 'keyid', 'alg'],
      keyLookup: async ({ keyid }) => {
        const jwk = keys.find((key) => key.kid === keyid)
        if (!jwk) return null
        const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: jwk.x }, format: 'jwk' })
        return { algs: ['ed25519'], verify: async (data, signature) => verify(null, data, key, signature) }
      },
    },
    { status: answer.status, headers },
    request,
  )
  return verified === true
}
