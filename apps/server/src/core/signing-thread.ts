import type { KeyObject } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { problem } from './problem.ts'
import { signOnPool } from './signing.ts'

/** What is to be signed in one turn of the event loop. */
export interface SignBatch {
  id: number
  /** The worker drops its stored keys first. */
  forget: boolean
  newKeys: [number: number, key: KeyObject][]
  keyNumbers: number[]
  bases: string[]
}

/** Base64, in the order of the batch; undefined where signing failed. */
export interface SignedBatch {
  id: number
  signatures: (string | undefined)[]
}

interface Waiting {
  base: string
  key: KeyObject
  resolve: (signature: string) => void
  reject: (error: Error) => void
}

export interface SigningOptions {
  startWorker?: () => Worker
  /** How many signatures may be pending; further calls are rejected. */
  mostWaiting?: number
  /** How many keys the worker stores. */
  keysKept?: number
  /** Delay before a crashed worker is replaced. */
  restartAfterMs?: number
  /** Receives the error of a crashed worker. */
  onError?: (error: unknown) => void
}

const defaults = { mostWaiting: 8192, keysKept: 10_000, restartAfterMs: 1000, onError: () => {} }

export const startSigningWorker = (): Worker => new Worker(new URL('./signing-worker.ts', import.meta.url))

/**
 * Signs on one worker thread. Batches all signatures of one turn of the event loop into one message each way, because
 * a message costs the server's thread about as much as the rest of a check. Without a worker, libuv's pool signs.
 */
export class SigningThread {
  readonly #options: Required<SigningOptions>
  readonly #sent = new Map<number, Waiting[]>()
  readonly #keyNumbers = new Map<KeyObject, number>()
  #collected: Waiting[] = []
  #waiting = 0
  #lastId = 0
  #lastKeyNumber = 0
  #worker: Worker | undefined
  #isReady = false
  #isClosed = false
  #startAfter = 0

  constructor(options: SigningOptions = {}) {
    this.#options = { startWorker: startSigningWorker, ...defaults, ...options }
  }

  /** Returns the Ed25519 signature over the Latin-1 bytes of `base`, as base64. */
  sign(base: string, key: KeyObject): Promise<string> {
    if (this.#waiting >= this.#options.mostWaiting) return Promise.reject(problem('unavailable'))
    this.#waiting += 1
    return new Promise<string>((resolve, reject) => {
      const waiting = { base, key, resolve, reject }
      if (!this.#isReady) {
        this.#start()
        this.#signOnPool(waiting)
      } else if (this.#collected.push(waiting) === 1) setImmediate(() => this.#send())
    })
  }

  /** Stops the worker; later calls are signed on the pool. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#worker?.terminate()
  }

  #start(): void {
    if (this.#worker || this.#isClosed || performance.now() < this.#startAfter) return
    const worker = this.#tryToStart()
    if (!worker) return
    this.#worker = worker
    worker.unref()
    worker.on('message', (message: 'ready' | SignedBatch) => {
      if (this.#worker !== worker) return
      if (message === 'ready') this.#isReady = true
      else this.#settle(message)
    })
    worker.on('error', (error) => {
      this.#options.onError(error)
      this.#end(worker)
    })
    worker.on('exit', () => this.#end(worker))
  }

  /** Node throws at once when the system allows no further thread. */
  #tryToStart(): Worker | undefined {
    try {
      return this.#options.startWorker()
    } catch (error) {
      this.#startAfter = performance.now() + this.#options.restartAfterMs
      this.#options.onError(error)
      return undefined
    }
  }

  #send(): void {
    const batch = this.#collected
    this.#collected = []
    if (!this.#isReady || !this.#worker) {
      for (const waiting of batch) this.#signOnPool(waiting)
      return
    }
    const forget = this.#keyNumbers.size + batch.length > this.#options.keysKept
    if (forget) this.#keyNumbers.clear()
    const newKeys: SignBatch['newKeys'] = []
    const keyNumbers = batch.map(({ key }) => {
      const known = this.#keyNumbers.get(key)
      if (known !== undefined) return known
      const number = ++this.#lastKeyNumber
      this.#keyNumbers.set(key, number)
      newKeys.push([number, key])
      return number
    })
    const id = ++this.#lastId
    this.#sent.set(id, batch)
    const message: SignBatch = { id, forget, newKeys, keyNumbers, bases: batch.map(({ base }) => base) }
    this.#worker.postMessage(message)
  }

  #settle({ id, signatures }: SignedBatch): void {
    const batch = this.#sent.get(id) ?? []
    this.#sent.delete(id)
    for (const [at, waiting] of batch.entries()) {
      const signature = signatures[at]
      if (signature === undefined) {
        this.#signOnPool(waiting)
      } else {
        this.#waiting -= 1
        waiting.resolve(signature)
      }
    }
  }

  #signOnPool({ base, key, resolve, reject }: Waiting): void {
    signOnPool(base, key)
      .finally(() => {
        this.#waiting -= 1
      })
      .then(resolve, reject)
  }

  /** Signs the worker's unanswered batches on the pool; the next call starts another worker. */
  #end(worker: Worker): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#isReady = false
    this.#startAfter = performance.now() + this.#options.restartAfterMs
    this.#keyNumbers.clear()
    const batches = [...this.#sent.values()]
    this.#sent.clear()
    for (const waiting of batches.flat()) this.#signOnPool(waiting)
    void worker.terminate()
  }
}
