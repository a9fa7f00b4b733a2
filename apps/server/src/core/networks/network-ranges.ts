import { lastOf, type Network } from './networks.ts'

/** Disjoint ranges in ascending order; threads can pass them on without a copy. */
interface Ranges {
  firsts: BigUint64Array<ArrayBuffer>
  lasts: BigUint64Array<ArrayBuffer>
}

export interface RangesByFamily {
  four: Ranges
  six: Ranges
}

/** Takes about a second for a million networks, so it belongs on a thread of its own. */
export function toRanges(networks: Iterable<Network>): RangesByFamily {
  const [four, six] = [new Map<bigint, Network>(), new Map<bigint, Network>()]
  for (const network of networks) {
    const found = network.family === 4 ? four : six
    const known = found.get(network.first)
    if (!known || known.bits > network.bits) found.set(network.first, network)
  }
  return { four: merge(four), six: merge(six) }
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

/** Answers in a few steps whether one of a million networks contains an address. */
export class NetworkRanges {
  readonly #ranges: RangesByFamily

  constructor(ranges: RangesByFamily) {
    this.#ranges = ranges
  }

  /** How many separate ranges there are. */
  get size(): number {
    return this.#ranges.four.firsts.length + this.#ranges.six.firsts.length
  }

  has({ family, first }: Network): boolean {
    const { firsts, lasts } = family === 4 ? this.#ranges.four : this.#ranges.six
    let [low, high] = [0, firsts.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (firsts[middle]! <= first) low = middle + 1
      else high = middle
    }
    return low > 0 && first <= lasts[low - 1]!
  }
}
