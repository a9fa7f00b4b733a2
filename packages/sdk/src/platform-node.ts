import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto'
import { readBoot } from './boot.ts'
import { toBase64Url } from './bytes.ts'
import { describeDevice } from './device.ts'
import { download } from './download.ts'
import { environmentFetch } from './environment-proxy.ts'
import { defaultHwid } from './hwid.ts'
import type { Platform } from './platform.ts'
import { proxyFetch } from './proxy.ts'
import { userDataFile } from './user-data.ts'
import { sdk } from './version.ts'

/** Their `fetch` reads the environment itself. */
const readsEnvironment = 'bun' in process.versions || 'deno' in process.versions

export const platform: Platform = {
  sha256: async (bytes) => createHash('sha256').update(bytes).digest(),
  randomBytes: (length) => randomBytes(length),
  toVerifier(publicKey) {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: toBase64Url(publicKey) }
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    return async (message, signature) => verify(null, message, key, signature)
  },
  findHwid: (appId) => defaultHwid(appId),
  describeDevice: (appId) => describeDevice(appId),
  openStorage: (appId) => userDataFile(appId),
  userAgent: sdk,
  proxyFetch,
  ...(readsEnvironment ? {} : { environmentFetch }),
  boot: readBoot,
  target: { platform: process.platform, architecture: process.arch },
  download,
  warn: (code, message) => process.emitWarning(message, { type: 'KeywardWarning', code }),
}
