import { isIPv6 } from 'node:net'

/**
 * Maps an address to the unit that rate limits count: the /64 network of an IPv6 address, because every customer
 * controls at least one, and the IPv4 address of an IPv4-mapped one.
 */
export function visitorOf(given: string): string {
  if (!given.includes(':')) return given
  const address = withoutPort(given)
  if (!isIPv6(address)) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [bare = ''] = address.split('%', 1)
  // NAT64: every IPv4 address maps into this prefix, so the network would be shared by all.
  if (/^64:ff9b:/i.test(bare)) return bare.toLowerCase()
  const [head = '', tail] = bare.split('::')
  const parts = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const after = tail === '' ? 0 : tail.split(':').length + (tail.includes('.') ? 1 : 0)
    const zeros = 8 - parts.length - after
    parts.push(...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...tail.split(':').filter(Boolean))
  }
  const network = parts.slice(0, 4).map((part) => Number.parseInt(part, 16).toString(16))
  return `${network.join(':')}::/64`
}

/** Some proxies forward an address together with its port, and each connection has another one. */
const withoutPort = (address: string): string =>
  /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address)?.[1] ?? /^\[(.+)\](?::\d+)?$/.exec(address)?.[1] ?? address
