import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPublicKey,
  hash,
  timingSafeEqual,
  verify,
} from 'node:crypto'

/** AES-256-CBC of protocol 1.0: key and initial vector are the beginnings of hexadecimal digests, as text. */
function cipherParts(key: string, initIv: string): [algorithm: 'aes-256-cbc', key: Buffer, iv: Buffer] {
  const begin = (text: string, length: number) => Buffer.from(hash('sha256', text).slice(0, length), 'ascii')
  return ['aes-256-cbc', begin(key, 32), begin(initIv, 16)]
}

export function encryptField(text: string, key: string, initIv: string): string {
  const cipher = createCipheriv(...cipherParts(key, initIv))
  return Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]).toString('hex')
}

/** Undefined unless the answer was encrypted with this key. */
export function decryptAnswer(hex: string, key: string, initIv: string): string | undefined {
  const bytes = Buffer.from(hex, 'hex')
  if (bytes.length === 0 || bytes.length * 2 !== hex.length) return undefined
  try {
    const decipher = createDecipheriv(...cipherParts(key, initIv))
    return Buffer.concat([decipher.update(bytes), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/** Whether protocol 1.2 signed these bytes. */
export function isKeyedBy(key: string, body: Buffer, signature: string): boolean {
  const expected = createHmac('sha256', key).update(body).digest()
  const sent = Buffer.from(signature, 'hex')
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}

/** Whether protocol 1.3 signed these bytes at that time, in Unix seconds. */
export function isSignedBy(publicKey: string, seconds: string, body: Buffer, signature: string): boolean {
  if (!/^[0-9a-f]{128}$/i.test(signature)) return false
  try {
    const x = Buffer.from(publicKey, 'hex').toString('base64url')
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    return verify(null, Buffer.concat([Buffer.from(seconds), body]), key, Buffer.from(signature, 'hex'))
  } catch {
    return false
  }
}
