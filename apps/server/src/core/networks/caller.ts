import { AsyncLocalStorage } from 'node:async_hooks'
import { isIPv6 } from 'node:net'
import { limits } from '@keyward/contract'
import type { CustomerActor, ResellerActor, VendorActor } from '../actor.ts'
import { formatNetwork, parseNetwork, widen } from './networks.ts'

/** Who asks for a share of something scarce. */
export interface Caller {
  /** The address, or the /64 network of an IPv6 address. */
  address: string
  account: string
  /** The vendor of an API key: all its keys together get the share of one account. */
  keysOf?: string
  /** Whether it has a session, or has signed in to the same account from this address before. */
  isKnown?: boolean
}

/** Prefixes that one customer, a site, a hoster or a provider gets. A provider of IPv4 has many unrelated networks. */
const sharedBits = { 4: [24, 32], 6: [32, 48, 56, 64] } as const

/** A caller's place in the hierarchy by which shares are equal, widest group first. */
export const groupsOf = (caller: Caller): string[] => [
  ...networksOf(caller),
  ...(caller.keysOf === undefined ? [] : [`keys of ${caller.keysOf}`]),
  caller.account,
]

/** The groups that all accounts at the caller's address share, widest first. */
export function networksOf({ address, isKnown = false }: Omit<Caller, 'account'>): string[] {
  const network = parseNetwork(address)
  const networks = network
    ? sharedBits[network.family].map((bits) => `${bits}/${widen(network, bits).first}`)
    : [address]
  return [isKnown ? 'known' : 'new', ...networks]
}

/** A signed-in caller. */
export const callerOf = (actor: VendorActor | ResellerActor | CustomerActor): Caller => ({
  address: actor.address,
  account: accountOf(actor),
  ...(actor.kind === 'api_key' ? { keysOf: actor.ownerId } : {}),
  isKnown: true,
})

function accountOf(actor: VendorActor | ResellerActor | CustomerActor): string {
  if (actor.kind === 'reseller') return actor.resellerId
  return actor.kind === 'customer' ? actor.subject.id : actor.actorId
}

/** The operator at the command line, in a process of its own: no other caller competes with it. */
export const operator: Caller = { address: 'command line', account: 'operator', isKnown: true }

interface Handled {
  /** Undefined of a stranger. */
  caller: Caller | undefined
  userAgent: string | undefined
}

/**
 * The request that is being handled. Lists charge their queries to its caller, and a new session keeps its User-Agent. Both
 * happen below queries and transactions that know of no request: as arguments, the two would go through all that calls them.
 */
export const currentRequest = new AsyncLocalStorage<Handled>()

/** The User-Agent of the request as it is stored: bounded, without control characters; null without one. */
export const currentAgent = (): string | null =>
  currentRequest
    .getStore()
    ?.userAgent?.replace(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, limits.agentMax) || null

/** Work of the server itself, and of programs. */
export const server: Caller = { address: 'server', account: 'server', isKnown: true }

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
