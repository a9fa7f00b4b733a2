import type { KeyObject } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { problem } from '../problem.ts'
import { signOnPool } from './signing.ts'
import { newRingMemory, RingWriter } from './signing-ring.ts'

/** Sent to the worker before the first text of a key. */
export interface NewKey {
  /** The worker drops its stored keys first. */
  forget: boolean
  number: number
  key: KeyObject
}

interface Waiting {
  base: string
  key: KeyObject
  resolve: (signature: string) => void
  reject: (error: Error) => void
}

export interface SigningOptions {
  startWorker?: (memory: SharedArrayBuffer) => Worker
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

export const startSigningWorker = (memory: SharedArrayBuffer): Worker =>
  new Worker(new URL('./signing-worker.ts', import.meta.url), { workerData: memory })

/**
 * Signs on one worker thread, which shares a ring of texts and signatures with the server: a message costs the server's
 * thread about as much as the rest of a check. What does not fit in the ring is signed on libuv's pool.
 */
export class SigningThread {
  readonly #options: Required<SigningOptions>
  readonly #keyNumbers = new Map<KeyObject, number>()
  #lastKeyNumber = 0
  /** In the order of the ring. */
  #inRing: Waiting[] = []
  #waiting = 0
  #isPolling = false
  #worker: Worker | undefined
  #ring: RingWriter | undefined
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
      if (!this.#isReady) this.#start()
      if (!this.#isReady || !this.#addToRing(waiting)) this.#signOnPool(waiting)
    })
  }

  /** Stops the worker; later calls are signed on the pool. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#worker?.terminate()
  }

  #start(): void {
    if (this.#worker || this.#isClosed || performance.now() < this.#startAfter) return
    const memory = newRingMemory()
    const worker = this.#tryToStart(memory)
    if (!worker) return
    this.#worker = worker
    this.#ring = new RingWriter(memory)
    worker.unref()
    worker.on('message', (message: 'ready' | 'signed') => {
      if (this.#worker !== worker) return
      if (message === 'ready') this.#isReady = true
      else this.#settle()
    })
    worker.on('error', (error) => {
      this.#options.onError(error)
      this.#end(worker)
    })
    worker.on('exit', () => this.#end(worker))
  }

  /** Node throws at once when the system allows no further thread. */
  #tryToStart(memory: SharedArrayBuffer): Worker | undefined {
    try {
      return this.#options.startWorker(memory)
    } catch (error) {
      this.#startAfter = performance.now() + this.#options.restartAfterMs
      this.#options.onError(error)
      return undefined
    }
  }

  #addToRing(waiting: Waiting): boolean {
    const number = this.#keyNumbers.get(waiting.key) ?? this.#sendKey(waiting.key)
    if (!this.#ring?.add(waiting.base, number)) return false
    this.#inRing.push(waiting)
    if (!this.#isPolling) {
      this.#isPolling = true
      setImmediate(() => this.#settle())
    }
    return true
  }

  #sendKey(key: KeyObject): number {
    const forget = this.#keyNumbers.size >= this.#options.keysKept
    if (forget) this.#keyNumbers.clear()
    const number = ++this.#lastKeyNumber
    this.#keyNumbers.set(key, number)
    this.#worker?.postMessage({ forget, number, key } satisfies NewKey)
    return number
  }

  /** Answers what is signed; runs once per turn that added texts, and whenever the worker wakes the server. */
  #settle(): void {
    this.#isPolling = false
    this.#ring?.wakeSigner()
    const inRing = this.#inRing
    let settled = 0
    this.#ring?.take((signature) => {
      const waiting = inRing[settled++] as Waiting
      if (signature === undefined) return this.#signOnPool(waiting)
      this.#waiting -= 1
      waiting.resolve(signature)
    })
    this.#inRing = inRing.slice(settled)
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
    this.#ring = undefined
    const left = this.#inRing
    this.#inRing = []
    for (const waiting of left) this.#signOnPool(waiting)
    void worker.terminate()
  }
}
