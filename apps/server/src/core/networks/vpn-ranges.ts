import { stat } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { second } from '../clock.ts'
import { NetworkRanges, type RangesByFamily } from './network-ranges.ts'
import type { Network } from './networks.ts'

const checkEveryMs = 15 * second
export const rangeLimits = { bytes: 32 * 1_048_576, networks: 500_000 }
export type RangeLimits = typeof rangeLimits

/** What the reading thread found: ranges, why it refuses the text, or why it could not read it. */
export type RangesFile =
  | { ranges: RangesByFamily; skipped: number }
  | { refused: string }
  | { failed: string }

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
  readonly #limits: RangeLimits
  readonly #read: typeof readOnThread
  #ranges: NetworkRanges | undefined
  /** The version of the file that was loaded or refused. */
  #seen = ''
  /** Why the file could not be read; reading is tried again. */
  #failure = ''
  #loading: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(
    path: string | undefined,
    log: RangesLog,
    limits: RangeLimits = rangeLimits,
    read = readOnThread,
  ) {
    this.#path = path
    this.#log = log
    this.#limits = limits
    this.#read = read
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
  refresh(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #load(): Promise<void> {
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
      const read = await this.#read(path, this.#limits)
      if ('failed' in read) throw new Error(read.failed)
      if ('refused' in read) throw new RangesError(read.refused)
      this.#failure = ''
      this.#ranges = new NetworkRanges(read.ranges)
      this.#log.info({ ranges: this.#ranges.size, skippedLines: read.skipped }, 'VPN_RANGES_FILE was loaded')
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const reason = code ?? message
      if (!(error instanceof RangesError)) {
        this.#seen = ''
        if (this.#failure === reason) return
        this.#failure = reason
      }
      this.#log.error({ reason }, 'VPN_RANGES_FILE could not be loaded')
    }
  }
}

/** Reads the file on a thread of its own: half a million networks take half a second of processor time. */
export function readOnThread(path: string, limits: RangeLimits): Promise<RangesFile> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./vpn-ranges-worker.ts', import.meta.url), {
      workerData: { path, limits },
    })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the thread that reads it ended')))
  })
}
