import { isIPv6 } from 'node:net'
import { formatNetwork, parseNetwork } from './networks.ts'

/**
 * Maps an address to the unit that rate limits count: the /64 network of an IPv6 address, because every customer
 * controls at least one, and the IPv4 address that an IPv6 one contains, however it is written.
 */
export function visitorOf(ip: string): string {
  if (!ip.includes(':')) return ip
  const [address = ''] = withoutPort(ip).split('%', 1)
  const network = isIPv6(address) ? parseNetwork(address) : undefined
  if (!network) return address
  // A network's own NAT64 prefix: every IPv4 address maps into it, so its /64 would be shared by all.
  if (network.family === 6 && /^64:ff9b:/i.test(address)) return address.toLowerCase()
  return formatNetwork(network)
}

/** Some proxies forward an address together with its port, and each connection has another one. */
const withoutPort = (address: string): string =>
  /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address)?.[1] ?? /^\[(.+)\](?::\d+)?$/.exec(address)?.[1] ?? address

/** The network of a visitor: the /24 of an IPv4 address; IPv6 is counted by network already. */
export const networkOf = (visitor: string): string => visitor.replace(/^(\d+\.\d+\.\d+)\.\d+$/, '$1.0/24')
