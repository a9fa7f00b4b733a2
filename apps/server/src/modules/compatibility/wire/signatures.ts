import { createHmac } from 'node:crypto'

/** The key of an HMAC of protocol 1.2: the secret alone for `init`, else the session's `enckey` before it. */
export const hmacKey = (secret: string, enckey?: string): string =>
  enckey === undefined ? secret : `${enckey}-${secret}`

/** The header `signature` of protocol 1.2: 64 hex digits over the exact body. */
export const hmacOf = (key: string, body: string): string =>
  createHmac('sha256', key).update(body).digest('hex')

/** The bytes that protocol 1.3 signs with Ed25519; the time is in Unix seconds. */
export const stampedBody = (seconds: number, body: string): Buffer => Buffer.from(`${seconds}${body}`)
