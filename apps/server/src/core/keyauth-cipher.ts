import { createCipheriv, createDecipheriv, hash } from 'node:crypto'

// Protocol 1.0 of KeyAuth's libraries, as our server answers it and as we speak it to an old provider.

const keyOf = (key: string) => Buffer.from(hash('sha256', key).slice(0, 32), 'ascii')
const ivOf = (initIv: string) => Buffer.from(hash('sha256', initIv).slice(0, 16), 'ascii')

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
