import { type BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Config } from '../../config.ts'
import { contains, isLoopback, isPublic, isUnspecified, toBlockList } from './addresses.ts'
import { type OutboundFailure, refused } from './failures.ts'

/** Where a request goes, read from an address that somebody typed. */
export interface Target {
  url: URL
  /** Without brackets and without the dot at the end. */
  host: string
  port: number
  isEncrypted: boolean
}

const urlLengthMax = 2048
const defaultPorts: Record<string, number> = { 'https:': 443, 'http:': 80 }
const hostName =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/
/** Parsers disagree about these characters: some drop them, some end the host at them. */
const ambiguous = /[\s\\\p{Cc}\p{Cf}]/u

export type OutboundSettings = Pick<Config, 'development' | 'webhookNetworks' | 'publicUrl' | 'port'>

/** Decides which addresses typed by vendors the server may call. */
export class AddressRules {
  readonly #settings: OutboundSettings
  readonly #listed: BlockList
  readonly #ownHost: string | undefined

  constructor(settings: OutboundSettings) {
    this.#settings = settings
    this.#listed = toBlockList(settings.webhookNetworks)
    const host = settings.publicUrl === undefined ? undefined : hostOf(new URL(settings.publicUrl))
    // On a development instance the port tells the server from its neighbors on the same machine.
    this.#ownHost = host === undefined || isLocalName(host) || isLoopback(host) ? undefined : host
  }

  /** Reads an address and throws an `OutboundError` unless it may be called, as far as that shows without its DNS entries. */
  read(text: string): Target {
    const url = text.length > urlLengthMax || ambiguous.test(text) ? null : URL.parse(text)
    if (!url || !(url.protocol in defaultPorts)) throw refused('invalid')
    const isEncrypted = url.protocol === 'https:'
    if (!isEncrypted && !this.#reachesPrivate()) throw refused('unencrypted')
    if (url.username !== '' || url.password !== '' || authorityOf(text).includes('@'))
      throw refused('password')
    const host = hostOf(url)
    if (isIP(host) === 0 && !hostName.test(host)) throw refused('invalid')
    const port = url.port === '' ? defaultPorts[url.protocol]! : Number(url.port)
    if (port !== 443 && port < 1024 && (isEncrypted || port !== 80)) throw refused('port')
    if (host === this.#ownHost) throw refused('host')
    const target = { url, host, port, isEncrypted }
    if (isIP(host) !== 0 && !this.allows(host, target)) throw refused('host')
    return target
  }

  /** The reason why an address is not acceptable. */
  findFault(text: string): OutboundFailure | undefined {
    try {
      this.read(text)
      return undefined
    } catch (error) {
      return (error as { failure: OutboundFailure }).failure
    }
  }

  /** Whether a target may be reached at this IP address. */
  allows(address: string, { port, isEncrypted }: Target): boolean {
    if (address.includes('%')) return false
    const isOwn = isUnspecified(address) || isLoopback(address) || isOfInterface(address)
    if (isOwn && port === this.#settings.port) return false
    if (contains(this.#listed, address)) return true
    if (this.#settings.development && isLoopback(address)) return true
    return isEncrypted && !isOwn && isPublic(address)
  }

  #reachesPrivate(): boolean {
    return this.#settings.development || this.#settings.webhookNetworks.length > 0
  }
}

/** Names that mean the machine itself without any DNS server (RFC 6761). */
export const isLocalName = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost')

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')

const authorityOf = (text: string): string => /^[a-z]+:\/*([^/?#]*)/i.exec(text)?.[1] ?? ''

const isOfInterface = (address: string): boolean =>
  contains(
    toBlockList(
      Object.values(networkInterfaces()).flatMap((found) => (found ?? []).map(({ address: own }) => own)),
    ),
    address,
  )
