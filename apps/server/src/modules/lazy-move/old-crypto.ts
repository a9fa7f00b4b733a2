import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto'

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
