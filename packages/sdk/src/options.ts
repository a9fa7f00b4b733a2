import { platform } from '#platform'
import { KeywardUsageError } from './errors.ts'
import { type KeyRing, toKeyRing } from './keys.ts'
import { Offline } from './offline.ts'
import type { HttpProxy } from './platform.ts'
import { toProxy } from './proxy-address.ts'
import type { Fetch, KeywardOptions, KeywardStorage, LogEvent } from './types.ts'

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
  log: (event: LogEvent) => void
}

const wrong = (message: string) => new KeywardUsageError('invalid_options', message)

/**
 * Validates the constructor's options; throws `KeywardUsageError` (`invalid_options`) that names the first invalid
 * one.
 */
export function checkOptions(options: KeywardOptions): CheckedOptions {
  if (typeof options !== 'object' || options === null) throw wrong('Expected an object of options')
  const { hwid, device = hwid === undefined, timeoutMs = 15_000 } = options
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
    fetch: toFetch(options),
    timeoutMs,
    log: toLog(options.log),
  }
}

function toOffline({ storage, appId, publicKeys }: KeywardOptions): Offline | undefined {
  if (storage === undefined) return undefined
  const place = storage === 'user-data' ? openUserData(appId) : storage
  if (typeof place?.read !== 'function' || typeof place.write !== 'function') {
    throw wrong("storage must be 'user-data' or an object with read and write")
  }
  return new Offline(place, appId, toKeyRing(publicKeys))
}

function toFetch({ fetch, proxy }: KeywardOptions): Fetch {
  if (proxy !== undefined) {
    if (fetch !== undefined) throw wrong('Pass either proxy or fetch')
    if (!platform.proxyFetch) throw wrong('A browser takes its proxy from the settings of the system')
    return platform.proxyFetch(checkProxy(proxy))
  }
  const used = fetch ?? (globalThis.fetch as Fetch)
  if (typeof used !== 'function') throw wrong('fetch is not a function')
  return fetch === undefined && platform.environmentFetch ? platform.environmentFetch(used) : used
}

/** The message does not repeat the option, which may contain a password. */
function checkProxy(proxy: unknown): HttpProxy {
  try {
    return toProxy(text('proxy', proxy, 2048))
  } catch {
    throw wrong('proxy must be an address such as http://user:password@host:port')
  }
}

/** A hook must not change the result of a call, whatever it does. */
function toLog(log: unknown): (event: LogEvent) => void {
  if (log === undefined) return () => {}
  if (typeof log !== 'function') throw wrong('log is not a function')
  return (event) => {
    try {
      Promise.resolve(log(event)).catch(() => {})
    } catch {}
  }
}

function openUserData(appId: string): KeywardStorage {
  try {
    return platform.openStorage(appId)
  } catch {
    // A user of a container may have neither a HOME nor an entry in the list of users.
    throw wrong('storage: this user has no data folder. Pass an object with read and write')
  }
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
