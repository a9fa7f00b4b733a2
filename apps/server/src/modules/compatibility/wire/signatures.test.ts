import { createPrivateKey, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { decrypt, encrypt } from '../../../core/keyauth-cipher.ts'
import { hmacKey, hmacOf, stampedBody } from './signatures.ts'
import { asciiJson } from './text.ts'

const secret = '6c1c5677ee7740103a2969bbb60094bf53ad53b500f5baf80e635bc38ffd9e49'

test('protocol 1.2 signs init with the secret, and later answers with the session’s key before it', () => {
  const appinfo = {
    numUsers: '3',
    numOnlineUsers: '1',
    numKeys: '5',
    version: '1.0.0',
    customerPanelLink: 'https://licence.example/panel/',
  }
  const session = { sessionid: 'Ab3dE5gH7j', appinfo, newSession: true }
  const init = asciiJson(
    { success: true, message: 'Initialized', ...session, nonce: '0123456789abcdefghijABCDEFGHIJ01' },
    true,
  )
  expect(init).toHaveLength(263)
  expect(hmacOf(hmacKey(secret), init)).toBe(
    'acf750d735b116e0ee3cdd7928e4721b0cccec7c25dc934898b8f3d45fe47803',
  )
  const later = hmacKey(secret, '1f3c9a60-7b2d-4e')
  expect(hmacOf(later, asciiJson({ success: false, message: 'Passwort stimmt nicht überein' }, true))).toBe(
    '2da4094f922f33a485bbf2cff214d41710640f3fbf9e23775b6c66673414ba47',
  )
  expect(hmacOf(later, '')).toBe('ef13a1f2b65ee2b4e309d05b3a1c47569a9b3ccec26746d7587e1012264a298f')
})

test('protocol 1.0 encrypts fields and answers with AES-256-CBC', () => {
  expect(encrypt('1.0.0', secret, '8a4c2e10')).toBe('4e6abe99e412bd4a2e2768d12ae8b6b3')
  expect(decrypt('4e6abe99e412bd4a2e2768d12ae8b6b3', secret, '8a4c2e10')).toBe('1.0.0')
  const enckey = '25c39bfd3e6f2f56b3fbe8d5e370bf8ddfab35a1675202f1b4643d72b419d879'
  const answer = asciiJson({ success: true, message: 'Session is validated.' }, true)
  expect(encrypt(answer, enckey, '8a4c2e10')).toBe(
    '1283f10aea3f8da8a46aa2ac130a2250f0e15d13ae874ab265b73acde73ea15726f2a7ff910b3b9d9a124ff03ba43200abc18a29c699eb7848dd7b91e0dbca67',
  )
})

test.each(['', 'zz', '4e6a', 'ff'.repeat(16)])(
  'a field that was not encrypted decrypts to null: %j',
  (hex) => {
    expect(decrypt(hex, secret, '8a4c2e10')).toBeNull()
  },
)

test('protocol 1.3 signs the time and the body with Ed25519', () => {
  const seed = 'd51cf2b08247e355e96389448828d69ca8f86fcf5df76c57b05ada3151d30c70'
  const key = createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.from(seed, 'hex')]),
    format: 'der',
    type: 'pkcs8',
  })
  const body = asciiJson(
    {
      success: true,
      code: 68,
      message: 'Session is validated.',
      nonce: '0b9f5c3e-52d8-4c1b-9a0e-6f3d2c1b0a99',
      ownerid: 'Kw3nD0rId1',
    },
    false,
  )
  expect(sign(null, stampedBody(1795290772, body), key).toString('hex')).toBe(
    '9d2736560433ddc392ee4a09cb62b0631dad8fe9e21d9b7de1538ba5ca987ae0c2ef05bffdcc1c140f21d398060e3088b0d8abca58b79a8c2d51ac6ffc4c4e00',
  )
})
