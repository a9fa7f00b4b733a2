import { BlockList, isIP } from 'node:net'
import { KeywardNetworkError } from './errors.ts'
import type { HttpProxy } from './platform.ts'
import { proxyFetch } from './proxy.ts'
import { toProxy } from './proxy-address.ts'
import type { Fetch } from './types.ts'

type Environment = Record<string, string | undefined>

/** Requests through the proxy of the environment, which is read again for every request. */
export function environmentFetch(direct: Fetch): Fetch {
  return async (url, init) => {
    const proxy = findProxy(new URL(url), process.env)
    return (proxy ? proxyFetch(proxy) : direct)(url, init)
  }
}

/**
 * The proxy that `https_proxy`, `http_proxy` or else `all_proxy` names for an address that `no_proxy` does not list, in
 * lower or upper case. Throws `KeywardNetworkError` if it is no HTTP proxy.
 */
export function findProxy(target: URL, environment: Environment): HttpProxy | undefined {
  const scheme = target.protocol.slice(0, -1)
  const isListed = () => isExempt(target, read(environment, 'no_proxy') ?? '')
  const own = scheme === 'http' ? readHttpProxy(environment) : read(environment, `${scheme}_proxy`)
  if (own !== undefined) return own === '' || isListed() ? undefined : readProxy(own, `${scheme}_proxy`)
  const all = read(environment, 'all_proxy')
  // Often a SOCKS proxy of the desktop, which most programs ignore.
  return all && /^http:|^(?!.*:\/\/)/i.test(all) && !isListed() ? readProxy(all, 'all_proxy') : undefined
}

function read(environment: Environment, name: string): string | undefined {
  return (environment[name] ?? environment[name.toUpperCase()])?.trim()
}

/** A web server hands the header `Proxy` of a request to a CGI program as `HTTP_PROXY`; Windows knows no lower case. */
function readHttpProxy(environment: Environment): string | undefined {
  const isCgi = environment.REQUEST_METHOD !== undefined || environment.GATEWAY_INTERFACE !== undefined
  if (!isCgi) return read(environment, 'http_proxy')
  return process.platform === 'win32' ? undefined : environment.http_proxy?.trim()
}

/** The message does not repeat the setting, which may contain a password. */
function readProxy(setting: string, name: string): HttpProxy {
  try {
    return toProxy(setting.includes('://') ? setting : `http://${setting}`)
  } catch {
    const message = `The proxy in ${name.toUpperCase()} is not of the form http://user:password@host:port`
    throw new KeywardNetworkError('unreachable', message, { outcomeUnknown: false })
  }
}

/** Whether a list such as `localhost,.example.com,10.0.0.0/8,host:8443` names the address. */
function isExempt(target: URL, list: string): boolean {
  const host = bare(target.hostname)
  const port = target.port || (target.protocol === 'https:' ? '443' : '80')
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry !== '' && (entry === '*' || matches(entry, host, port)))
}

function matches(entry: string, host: string, port: string): boolean {
  const [, named = entry, ofPort = port] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? []
  if (ofPort !== port) return false
  const name = bare(named).replace(/^\*?\./, '')
  if (isIP(host) === 0) return name !== '' && (host === name || host.endsWith(`.${name}`))
  return inNetwork(name, host)
}

/** Whether an address is that of the entry, or in its network `address/bits`. */
function inNetwork(entry: string, host: string): boolean {
  const [address = '', bits] = entry.split('/')
  const family = isIP(address)
  if (family === 0 || family !== isIP(host)) return false
  const length = bits === undefined ? (family === 4 ? 32 : 128) : Number(bits)
  if (bits === '' || !(length >= 0 && length <= (family === 4 ? 32 : 128))) return false
  const type = family === 4 ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  list.addSubnet(address, length, type)
  return list.check(host, type)
}

const bare = (host: string) => host.replace(/^\[|\]$|\.$/g, '')
