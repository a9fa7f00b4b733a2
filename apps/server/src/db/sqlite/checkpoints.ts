// ADR 14: a third thread copies the log into the database.
import type { StatementSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { SqliteHandle } from './handle.ts'

/** Changed rows after which the log is copied; about two pages each. */
const rowsBetween = 500

/** Each copy waits for the disk twice, so 4 MB are copied at once while long transactions follow each other. */
const manyPages = 1000

/** Pages of 4 KiB after which a writing connection copies them itself, if the thread has not. */
export const pagesAtMost = 24_000

/** From so many pages on, 64 MB, slices of long work wait while a reader keeps the log from starting anew. */
export const manyPagesInLog = 16_384

const patienceMs = 10_000
const retryMs = 100

/** Copies unless fewer pages than this are left to copy. */
export interface CheckpointOrder {
  leastPages: number
}

/** `kept`: copied as far as possible, but a reader needs the log, which has `manyPagesInLog`. */
export type CheckpointNews = 'long' | 'copied' | 'kept' | { failure: { code: string | undefined } }

/**
 * Copies the write-ahead log into the database on another thread, which waits for the disk meanwhile. SQLite does so
 * without blocking readers or the writer. Starts its thread with the first copy; a crashed one is replaced.
 */
export class Checkpoints {
  readonly #path: string
  readonly #onFailure: (cause: unknown) => void
  readonly #startWorker: (path: string) => Worker
  readonly #changes: StatementSync
  #worker: Worker | undefined
  #isCopying = false
  #isClosed = false
  #copiedAt = 0
  #isKept = false
  /** While the log is long: resolves when it is copied. */
  #short: PromiseWithResolvers<void> | undefined

  /** `onFailure`: the disk did not store what was copied. */
  constructor(
    writer: SqliteHandle,
    onFailure: (cause: unknown) => void,
    startWorker = (path: string) =>
      new Worker(new URL('./checkpoint-worker.ts', import.meta.url), { workerData: path }),
  ) {
    this.#path = writer.database.location() ?? ''
    this.#onFailure = onFailure
    this.#startWorker = startWorker
    this.#changes = writer.database.prepare('select total_changes() as n')
    writer.database.exec(`pragma wal_autocheckpoint = ${pagesAtMost}`)
  }

  /** Copies when enough has changed; call it after a commit. */
  start(): void {
    if (this.#isCopying || this.#isClosed) return
    const changes = Number(this.#changes.get()?.n)
    if (changes - this.#copiedAt < rowsBetween) return
    this.#copiedAt = changes
    this.#copy(0)
  }

  /** Starts a copy after a commit of many rows. */
  startAfterMany(): void {
    if (!this.#isCopying && !this.#isClosed) this.#copy(manyPages)
  }

  /** While the log is too long, resolves when it is short again. Long transactions wait: they would outrun the copy. */
  get shortening(): Promise<void> | undefined {
    return this.#short?.promise
  }

  /**
   * Waits while a reader, such as a backup, keeps a long log: each slice adds megabytes. Resolves after some seconds in
   * any case, because a reader can stay for hours.
   */
  async untilShort(): Promise<void> {
    const until = performance.now() + patienceMs
    while (this.#isKept && !this.#isClosed && performance.now() < until) {
      if (!this.#isCopying) this.#copy(0)
      await pause(retryMs, undefined, { ref: false })
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#worker?.terminate()
  }

  #copy(leastPages: number): void {
    try {
      this.#worker ??= this.#open()
      this.#worker.postMessage({ leastPages } satisfies CheckpointOrder)
      this.#isCopying = true
    } catch {
      // The system allows no further thread: the writing connection copies.
    }
  }

  #open(): Worker {
    const worker = this.#startWorker(this.#path)
    worker.unref()
    worker.on('message', (news: CheckpointNews) => {
      if (news === 'long') this.#short ??= Promise.withResolvers()
      else if (typeof news === 'string') this.#end(news)
      else this.#fail(news.failure)
    })
    const end = () => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#end('copied')
    }
    worker.on('error', end)
    worker.on('exit', end)
    return worker
  }

  /** Nothing is copied until the server starts again: the log has what the database may have lost. */
  #fail(cause: unknown): void {
    this.#isClosed = true
    this.#end('copied')
    this.#onFailure(cause)
  }

  #end(news: 'copied' | 'kept'): void {
    this.#isCopying = false
    this.#isKept = news === 'kept'
    this.#short?.resolve()
    this.#short = undefined
  }
}
