import { toBase64, toUtf8 } from './bytes.ts'
import type { HttpProxy } from './platform.ts'

/** Reads `http://[user:password@]host:port`; throws for anything else, with messages that must not be shown. */
export function toProxy(address: string): HttpProxy {
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(address)
  const [user, secret] = [decodeURIComponent(username), decodeURIComponent(password)]
  const isPlain = protocol === 'http:' && `${pathname}${search}${hash}` === '/' && hostname !== ''
  if (!isPlain || /[:\p{Cc}]/u.test(user) || /\p{Cc}/u.test(secret)) throw new TypeError('another form')
  const host = hostname.replace(/^\[|\]$/g, '')
  if (user === '' && secret === '') return { host, port: Number(port || 80) }
  const authorization = `Basic ${toBase64(toUtf8(`${user}:${secret}`))}`
  return { host, port: Number(port || 80), authorization }
}
