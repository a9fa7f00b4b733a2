import { randomBytes, randomInt, randomUUID } from 'node:crypto'

const alphanumeric = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const pick = (length: number): string =>
  Array.from({ length }, () => alphanumeric[randomInt(alphanumeric.length)]).join('')

export const newOwnerId = (): string => pick(10)
export const newSecret = (): string => randomBytes(32).toString('hex')
/** No program reads it. */
export const newNonce = (): string => randomUUID().replaceAll('-', '')

/** What sealed values of an app are bound to. */
export const secretContext = (appId: string): string => `compatibility.secret:${appId}`
export const keyContext = (appId: string): string => `compatibility.key:${appId}`

/** An Ed25519 public key as 64 hexadecimal digits. */
export const toHex = (x: string): string => Buffer.from(x, 'base64url').toString('hex')
