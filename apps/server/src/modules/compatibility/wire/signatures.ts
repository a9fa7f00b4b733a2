import { createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto'

/** The key of an HMAC of protocol 1.2: the secret alone for `init`, else the session's `enckey` before it. */
export const hmacKey = (secret: string, enckey?: string): string =>
  enckey === undefined ? secret : `${enckey}-${secret}`

/** The header `signature` of protocol 1.2: 64 hex digits over the exact body. */
export const hmacOf = (key: string, body: string): string =>
  createHmac('sha256', key).update(body).digest('hex')

/** The bytes that protocol 1.3 signs with Ed25519; the time is in Unix seconds. */
export const stampedBody = (seconds: number, body: string): Buffer => Buffer.from(`${seconds}${body}`)

const hexDigest = (text: string): string => createHash('sha256').update(text).digest('hex')
const keyOf = (key: string) => Buffer.from(hexDigest(key).slice(0, 32), 'ascii')
const ivOf = (initIv: string) => Buffer.from(hexDigest(initIv).slice(0, 16), 'ascii')

/** A text of protocol 1.0, as hex of AES-256-CBC. */
export function encrypt(text: string, key: string, initIv: string): string {
  const cipher = createCipheriv('aes-256-cbc', keyOf(key), ivOf(initIv))
  return cipher.update(text, 'utf8', 'hex') + cipher.final('hex')
}

/** The text of a field of protocol 1.0, or null if it was not encrypted with this key. */
export function decrypt(hex: string, key: string, initIv: string): string | null {
  if (!/^(?:[0-9a-f]{32})+$/i.test(hex)) return null
  const decipher = createDecipheriv('aes-256-cbc', keyOf(key), ivOf(initIv))
  try {
    return decipher.update(hex, 'hex', 'utf8') + decipher.final('utf8')
  } catch {
    return null
  }
}
