import { type KeyObject, sign } from 'node:crypto'

/** Signs a text on the calling thread; returns base64. */
export type Signer = (text: Buffer) => string

type Sodium = typeof import('sodium-native')['default']

const signerOfOpenSsl =
  (key: KeyObject): Signer =>
  (text) =>
    sign(null, text, key).toString('base64')

const signerOfSodium =
  (sodium: Sodium) =>
  (key: KeyObject): Signer => {
    const { d = '', x = '' } = key.export({ format: 'jwk' })
    const secretKey = Buffer.alloc(sodium.crypto_sign_SECRETKEYBYTES)
    secretKey.write(d, 'base64url')
    secretKey.write(x, sodium.crypto_sign_SEEDBYTES, 'base64url')
    const signature = Buffer.alloc(sodium.crypto_sign_BYTES)
    return (text) => {
      sodium.crypto_sign_detached(signature, text, secretKey)
      return signature.toString('base64')
    }
  }

type Load = () => Promise<{ default: Sodium }>
const loadSodium: Load = () => import('sodium-native')

/** Whether a build of libsodium fits this machine. */
export const hasSodium = (load: Load = loadSodium): Promise<boolean> =>
  load().then(
    () => true,
    () => false,
  )

/**
 * Loads what signs: libsodium, which needs two fifths of OpenSSL's time for the same signature, or OpenSSL where no
 * build of libsodium fits the machine.
 */
export async function loadSigners(load: Load = loadSodium): Promise<(key: KeyObject) => Signer> {
  const sodium = await load().catch(() => undefined)
  return sodium ? signerOfSodium(sodium.default) : signerOfOpenSsl
}
