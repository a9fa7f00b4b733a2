import { lastOf, type Network } from './networks.ts'

/** Collects networks, then answers in a few steps whether one of a million contains an address. */
export class NetworkRanges {
  readonly #four: Ranges
  readonly #six: Ranges

  constructor(networks: Iterable<Network>) {
    const [four, six] = [new Map<bigint, Network>(), new Map<bigint, Network>()]
    for (const network of networks) {
      const found = network.family === 4 ? four : six
      const known = found.get(network.first)
      if (!known || known.bits > network.bits) found.set(network.first, network)
    }
    this.#four = merge(four)
    this.#six = merge(six)
  }

  /** How many separate ranges there are. */
  get size(): number {
    return this.#four.firsts.length + this.#six.firsts.length
  }

  has({ family, first }: Network): boolean {
    const { firsts, lasts } = family === 4 ? this.#four : this.#six
    let [low, high] = [0, firsts.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (firsts[middle]! <= first) low = middle + 1
      else high = middle
    }
    return low > 0 && first <= lasts[low - 1]!
  }
}

interface Ranges {
  firsts: BigUint64Array
  lasts: BigUint64Array
}

/** Networks are nested or apart, so a sorted walk that skips nested ones leaves disjoint ranges. */
function merge(networks: ReadonlyMap<bigint, Network>): Ranges {
  const sorted = BigUint64Array.from(networks.keys()).sort()
  const lasts = new BigUint64Array(sorted.length)
  let count = 0
  for (const first of sorted) {
    if (count > 0 && first <= lasts[count - 1]!) continue
    sorted[count] = first
    lasts[count] = lastOf(networks.get(first)!)
    count += 1
  }
  return { firsts: sorted.slice(0, count), lasts: lasts.slice(0, count) }
}
