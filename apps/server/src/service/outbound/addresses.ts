import { BlockList, isIP } from 'node:net'

// `core/networks/networks.ts` compares IPv6 by /64 networks. Here one address more or less matters, so every bit is compared.

/** Networks by their usual notation, such as `10.0.0.0/8`; an address alone is a network of its own. */
export function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const type = typeOf(address)
    if (prefix === undefined) list.addAddress(address, type)
    else list.addSubnet(address, Number(prefix), type)
  }
  return list
}

/** Whether a list contains an address; false for text that is none. */
export const contains = (list: BlockList, address: string): boolean =>
  isIP(address) !== 0 && list.check(address, typeOf(address))

const typeOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** IPv4 addresses that are not on the public internet, or that lead to the machine's own surroundings. */
const reservedFour = toBlockList([
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by providers (CGNAT), with the metadata service of one cloud
  '127.0.0.0/8', // loopback
  '168.63.129.16', // a public address that one cloud uses for its metadata service
  '169.254.0.0/16', // link-local, with the metadata services of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments, with the metadata service of one cloud
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, with broadcast
])

/** All public IPv6 addresses; others are mapped, translated (NAT64), unique local, link-local, multicast or reserved. */
const publicSix = toBlockList(['2000::/3'])

/** Parts of the public range that lead elsewhere. */
const reservedSix = toBlockList([
  '2001::/23', // protocol assignments: Teredo, benchmarking, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which embeds any IPv4 address
  '3fff::/20', // documentation
])

/** Whether an address is on the public internet. */
export function isPublic(address: string): boolean {
  const kind = isIP(address)
  if (kind === 4) return !contains(reservedFour, address)
  return kind === 6 && contains(publicSix, address) && !contains(reservedSix, address)
}

const loopback = toBlockList(['127.0.0.0/8', '::1'])

export const isLoopback = (address: string): boolean => contains(loopback, address)

/** A connection to one of these also reaches the machine itself. */
const unspecified = toBlockList(['0.0.0.0/8', '::'])

export const isUnspecified = (address: string): boolean => contains(unspecified, address)
