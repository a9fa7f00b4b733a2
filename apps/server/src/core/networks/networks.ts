import { isIP } from 'node:net'

/**
 * A range of addresses that share a prefix. IPv6 is compared by its first 64 bits: each customer controls at least a
 * /64 network, so a single IPv6 address means nothing.
 */
export interface Network {
  family: 4 | 6
  /** The first 32 bits of IPv4 or 64 bits of IPv6. */
  first: bigint
  bits: number
}

/** Shorter prefixes would cover whole continents: one mistake would lock out every customer. */
const shortestBits = { 4: 8, 6: 16 } as const
const widths = { 4: 32, 6: 64 } as const

/**
 * Reads an address or a network such as `203.0.113.0/24`; undefined if it is neither, or too large. IPv4-mapped IPv6
 * and NAT64 count as the IPv4 address, and a longer IPv6 prefix as its /64 network.
 */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', prefix, ...rest] = text.trim().split('/')
  const parsed = parseAddress(address)
  if (!parsed || rest.length > 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return undefined
  const written = prefix === undefined ? parsed.bits : Number(prefix)
  if (written > parsed.bits) return undefined
  const bits = Math.min(written - (parsed.bits - parsed.mappedBits), widths[parsed.family])
  if (bits < shortestBits[parsed.family]) return undefined
  return { family: parsed.family, first: cut(parsed.value, parsed.family, bits), bits }
}

/** The shortest form of a network; equal networks have equal texts. */
export function formatNetwork({ family, first, bits }: Network): string {
  if (family === 4) {
    const parts = [24n, 16n, 8n, 0n].map((shift) => String((first >> shift) & 255n))
    return bits === 32 ? parts.join('.') : `${parts.join('.')}/${bits}`
  }
  const parts = [48n, 32n, 16n, 0n].map((shift) => ((first >> shift) & 0xffffn).toString(16))
  return `${parts.join(':')}::/${bits}`
}

/** The last address of a network, in the same units as `first`. */
export const lastOf = ({ family, first, bits }: Network): bigint =>
  first | ((1n << BigInt(widths[family] - bits)) - 1n)

/** The network of at most `bits` that contains another one. */
export const widen = ({ family, first, bits }: Network, most: number): Network => {
  const shorter = Math.min(bits, most)
  return { family, first: cut(first, family, shorter), bits: shorter }
}

/** Finds which of many networks contains an address; the narrowest one wins. */
export class NetworkSet<T> {
  readonly #byPrefix = new Map<string, Map<bigint, T>>()
  readonly #prefixes: { family: 4 | 6; bits: number; networks: Map<bigint, T> }[] = []

  constructor(entries: Iterable<readonly [Network, T]>) {
    for (const [{ family, bits, first }, value] of entries) {
      const key = `${family}/${bits}`
      let networks = this.#byPrefix.get(key)
      if (!networks) {
        networks = new Map()
        this.#byPrefix.set(key, networks)
        this.#prefixes.push({ family, bits, networks })
      }
      networks.set(first, value)
    }
    this.#prefixes.sort((a, b) => b.bits - a.bits)
  }

  find(address: Network | undefined): T | undefined {
    if (!address) return undefined
    for (const { family, bits, networks } of this.#prefixes) {
      if (family !== address.family || bits > address.bits) continue
      const found = networks.get(cut(address.first, family, bits))
      if (found !== undefined) return found
    }
    return undefined
  }
}

const cut = (value: bigint, family: 4 | 6, bits: number): bigint => {
  const rest = BigInt(widths[family] - bits)
  return (value >> rest) << rest
}

interface ParsedAddress {
  family: 4 | 6
  value: bigint
  /** The bits that a prefix is counted in, and how many of them are significant. */
  bits: number
  mappedBits: number
}

function parseAddress(text: string): ParsedAddress | undefined {
  const kind = isIP(text)
  if (kind === 4) return { family: 4, value: fourOf(text), bits: 32, mappedBits: 32 }
  if (kind !== 6 || text.includes('%')) return undefined
  const whole = sixOf(text)
  const head = whole >> 32n
  if (head === 0xffffn || head === 0x64ff9b0000000000000000n)
    return { family: 4, value: whole & 0xffffffffn, bits: 128, mappedBits: 32 }
  return { family: 6, value: whole >> 64n, bits: 128, mappedBits: 128 }
}

const fourOf = (text: string): bigint =>
  text.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n)

function sixOf(text: string): bigint {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  const tail = dotted ? fourOf(dotted[2] ?? '') : undefined
  const plain =
    tail === undefined ? text : `${dotted?.[1]}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}`
  const [head = '', rest] = plain.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = rest === undefined || rest === '' ? [] : rest.split(':')
  const zeros = rest === undefined ? 0 : 8 - before.length - after.length
  const parts = [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
  return parts.reduce((value, part) => (value << 16n) | BigInt(`0x${part}`), 0n)
}
