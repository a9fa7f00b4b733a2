import { platform } from '#platform'
import { KeywardUsageError } from './errors.ts'
import { type KeyRing, toKeyRing } from './keys.ts'
import { Offline } from './offline.ts'
import type { Fetch, KeywardOptions } from './types.ts'

export interface CheckedOptions {
  origin: string
  prefix: string
  appId: string
  secret: string
  keys: KeyRing
  version: string
  hash: string | undefined
  locale: string | undefined
  hwid: KeywardOptions['hwid']
  device: boolean
  offline: Offline | undefined
  fetch: Fetch
  timeoutMs: number
}

const wrong = (message: string) => new KeywardUsageError('invalid_options', message)

/**
 * Validates the constructor's options; throws `KeywardUsageError` (`invalid_options`) that names the first invalid
 * one.
 */
export function checkOptions(options: KeywardOptions): CheckedOptions {
  if (typeof options !== 'object' || options === null) throw wrong('Expected an object of options')
  const { hwid, device = hwid === undefined, timeoutMs = 15_000, fetch = globalThis.fetch as Fetch } = options
  if (typeof fetch !== 'function') throw wrong('fetch is not a function')
  if (typeof timeoutMs !== 'number' || !(timeoutMs >= 100 && timeoutMs <= 600_000)) {
    throw wrong('timeoutMs must be 100 to 600000')
  }
  if (hwid !== undefined && hwid !== null && typeof hwid !== 'function') text('hwid', hwid, 256)
  return {
    ...toAddress(options.baseUrl),
    appId: text('appId', options.appId, 64),
    secret: text('secret', options.secret, 128),
    keys: toKeyRing(options.publicKeys),
    version: text('version', options.version, 32),
    hash: options.hash === undefined ? undefined : text('hash', options.hash, 256),
    locale: options.locale === undefined ? undefined : text('locale', options.locale, 35),
    hwid,
    device,
    offline: toOffline(options),
    fetch,
    timeoutMs,
  }
}

function toOffline({ storage, appId, publicKeys }: KeywardOptions): Offline | undefined {
  if (storage === undefined) return undefined
  const place = storage === 'user-data' ? platform.openStorage(appId) : storage
  if (typeof place?.read !== 'function' || typeof place.write !== 'function') {
    throw wrong("storage must be 'user-data' or an object with read and write")
  }
  return new Offline(place, appId, toKeyRing(publicKeys))
}

function text(name: string, value: unknown, max: number): string {
  if (typeof value === 'string' && value.length >= 1 && value.length <= max) return value
  throw wrong(`${name} must be a text of 1 to ${max} characters`)
}

function toAddress(baseUrl: unknown): { origin: string; prefix: string } {
  let url: URL
  try {
    url = new URL(text('baseUrl', baseUrl, 2048))
  } catch (error) {
    throw error instanceof KeywardUsageError ? error : wrong('baseUrl is not an address')
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw wrong('baseUrl must be http or https')
  if (url.username !== '' || url.password !== '') throw wrong('baseUrl must not carry a user or a password')
  if (url.search !== '' || url.hash !== '') throw wrong('baseUrl must not have a query or a fragment')
  warnOfPlainHttp(url)
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') }
}

/** Signatures protect verdicts over plain HTTP, but passwords are sent in clear text. */
function warnOfPlainHttp(url: URL): void {
  const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|.+\.localhost)$/.test(url.hostname)
  if (url.protocol === 'https:' || loopback) return
  const warning = `${url.origin} is not encrypted: passwords and keys can be read on the way`
  platform.warn('KEYWARD_PLAIN_HTTP', warning)
}
