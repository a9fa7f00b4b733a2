import type { StatementSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import type { SqliteHandle } from './sqlite-handle.ts'

/** Changed rows after which the log is copied; about two pages each. */
const rowsBetween = 500

/** Pages of 4 KiB after which the writing connection copies them itself, if the thread has not. */
const pagesAtMost = 16_000

/**
 * Copies the write-ahead log into the database on another thread, which waits for the disk meanwhile. SQLite does so
 * without blocking readers or the writer. Starts its thread with the first copy; a crashed one is replaced.
 */
export class Checkpoints {
  readonly #path: string | null
  readonly #changes: StatementSync
  #worker: Worker | undefined
  #isCopying = false
  #isClosed = false
  #copiedAt = 0

  constructor(writer: SqliteHandle) {
    this.#path = writer.database.location()
    this.#changes = writer.database.prepare('select total_changes() as n')
    writer.database.exec(`pragma wal_autocheckpoint = ${pagesAtMost}`)
  }

  /** Copies when enough has changed; call it after a commit. */
  start(): void {
    if (this.#isCopying || this.#isClosed) return
    const changes = Number(this.#changes.get()?.n)
    if (changes - this.#copiedAt < rowsBetween) return
    this.#copiedAt = changes
    try {
      this.#worker ??= this.#open()
      this.#isCopying = true
      this.#worker.postMessage('copy')
    } catch {
      // The system allows no further thread: the writing connection copies.
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#worker?.terminate()
  }

  #open(): Worker {
    const worker = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), {
      workerData: this.#path,
    })
    worker.unref()
    worker.on('message', () => {
      this.#isCopying = false
    })
    const end = () => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#isCopying = false
    }
    worker.on('error', end)
    worker.on('exit', end)
    return worker
  }
}
