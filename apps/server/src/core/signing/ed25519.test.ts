import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { loadSigners } from './ed25519.ts'
import { importPrivateKey, newSigningKey } from './signing.ts'

const newKey = (): KeyObject => importPrivateKey(newSigningKey().privateKey)

test('returns the signatures of OpenSSL, whatever the key and the text', async () => {
  // Fails where libsodium is missing, instead of comparing OpenSSL with itself.
  const sodium = await import('sodium-native')
  const toSigner = await loadSigners(async () => sodium)
  fc.assert(
    fc.property(fc.constant(0).map(newKey), fc.uint8Array({ maxLength: 3000 }), (key, bytes) => {
      const text = Buffer.from(bytes)
      expect(toSigner(key)(text)).toBe(sign(null, text, key).toString('base64'))
    }),
  )
})

test('signs with OpenSSL where libsodium cannot be loaded', async () => {
  const toSigner = await loadSigners(() => Promise.reject(new Error('no build for this machine')))
  const key = newKey()
  const signature = toSigner(key)(Buffer.from('text'))
  expect(verify(null, Buffer.from('text'), createPublicKey(key), Buffer.from(signature, 'base64'))).toBe(true)
})
