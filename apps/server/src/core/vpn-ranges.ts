import { open, stat } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { second } from './clock.ts'
import { NetworkRanges } from './network-ranges.ts'
import { type Network, parseNetwork } from './networks.ts'

const checkEveryMs = 15 * second
const linesPerTurn = 2000
const longestLine = 1000
export const rangeLimits = { bytes: 32 * 1_048_576, networks: 500_000 }

/** Why a file is not used; ranges that were loaded before stay in use. */
class RangesError extends Error {}

export interface RangesLog {
  info(detail: object, text: string): void
  error(detail: object, text: string): void
}

/**
 * The addresses of VPN providers, from a file of the operator with one address or network per line. Loaded at the
 * start and again after each change. Each node reads its own file.
 */
export class VpnRanges {
  readonly #path: string | undefined
  readonly #log: RangesLog
  readonly #limits: typeof rangeLimits
  #ranges: NetworkRanges | undefined
  #seen = ''
  #timer: NodeJS.Timeout | undefined

  constructor(path: string | undefined, log: RangesLog, limits: typeof rangeLimits = rangeLimits) {
    this.#path = path
    this.#log = log
    this.#limits = limits
  }

  /** Without ranges no address counts as one of a VPN. */
  get isLoaded(): boolean {
    return this.#ranges !== undefined
  }

  has(address: Network | undefined): boolean {
    return address !== undefined && this.#ranges?.has(address) === true
  }

  async start(): Promise<void> {
    if (this.#path === undefined) return
    await this.refresh()
    this.#timer = setInterval(() => void this.refresh(), checkEveryMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Loads the file if it has changed. A file that cannot be used is reported once and changes nothing. */
  async refresh(): Promise<void> {
    const path = this.#path
    if (path === undefined) return
    try {
      const found = await stat(path)
      const version = `${found.mtimeMs} ${found.size} ${found.ino}`
      if (version === this.#seen) return
      this.#seen = version
      if (!found.isFile()) throw new RangesError('it is not a file')
      if (found.size > this.#limits.bytes)
        throw new RangesError(`it has more than ${this.#limits.bytes} bytes`)
      const { ranges, skipped } = await readRanges(path, this.#limits)
      this.#ranges = ranges
      this.#log.info({ ranges: ranges.size, skippedLines: skipped }, 'VPN_RANGES_FILE was loaded')
    } catch (error) {
      const isRefused = error instanceof RangesError
      const reason = isRefused ? error.message : String((error as NodeJS.ErrnoException).code)
      if (this.#seen === reason) return
      if (!isRefused) this.#seen = reason
      this.#log.error({ reason }, 'VPN_RANGES_FILE could not be loaded')
    }
  }
}

async function readRanges(path: string, max: typeof rangeLimits) {
  const file = await open(path, 'r')
  try {
    const networks: Network[] = []
    let [skipped, lines] = [0, 0]
    const add = (line: string) => {
      const text = line.replace(/#.*/, '').trim()
      if (text === '') return
      const network = parseNetwork(text)
      if (network) networks.push(network)
      else skipped += 1
    }
    // Bounded, because the file may grow while it is read.
    const chunks = file.createReadStream({ encoding: 'latin1', autoClose: false, start: 0, end: max.bytes })
    let rest = ''
    for await (const chunk of chunks as AsyncIterable<string>) {
      const parts = (rest + chunk).split('\n')
      rest = parts.pop() ?? ''
      for (const line of parts) {
        add(line)
        lines += 1
        if (lines % linesPerTurn === 0) await turn()
      }
      if (networks.length > max.networks) throw new RangesError(`it has more than ${max.networks} networks`)
      if (rest.length > longestLine || skipped > networks.length + 1000) throw notRanges()
    }
    add(rest)
    if (networks.length === 0 || skipped > networks.length) throw notRanges()
    return { ranges: new NetworkRanges(networks), skipped }
  } finally {
    await file.close()
  }
}

const notRanges = () => new RangesError('it does not list one address or network per line')
