import { KeywardUsageError } from './errors.ts'
import type { Platform } from './platform.ts'

/** The Web Crypto API, which browsers offer on HTTPS and loopback pages only. */
function subtle() {
  const found = globalThis.crypto?.subtle
  if (found) return found
  throw new KeywardUsageError('crypto_unavailable', 'Web Crypto is missing: serve the page over HTTPS')
}

/** Copies, because Web Crypto rejects views on shared memory. */
const copy = (bytes: Uint8Array) => new Uint8Array(bytes)

export const platform: Platform = {
  sha256: async (bytes) => new Uint8Array(await subtle().digest('SHA-256', copy(bytes))),
  randomBytes: (length) => globalThis.crypto.getRandomValues(new Uint8Array(length)),
  toVerifier(publicKey) {
    let key: ReturnType<typeof importKey> | undefined
    return async (message, signature) => {
      key ??= importKey(publicKey)
      return subtle().verify('Ed25519', await key, copy(signature), copy(message))
    }
  },
  async findHwid() {
    throw new KeywardUsageError(
      'hwid_unavailable',
      'A browser has no id of the machine. Pass the option hwid, or null to send none.',
    )
  },
  describeDevice: async () => undefined,
  openStorage: (appId) => ({
    read: async () => localStorage.getItem(`keyward:${appId}`),
    write: async (text) => localStorage.setItem(`keyward:${appId}`, text),
  }),
  warn: (code, message) => console.warn(`${code}: ${message}`),
}

async function importKey(publicKey: Uint8Array) {
  try {
    return await subtle().importKey('raw', copy(publicKey), 'Ed25519', false, ['verify'])
  } catch (error) {
    if (error instanceof KeywardUsageError) throw error
    throw new KeywardUsageError('crypto_unavailable', 'This browser cannot verify Ed25519 signatures')
  }
}
