// ADR 14: a third thread copies the log into the database.

import { closeSync, fdatasync, openSync } from 'node:fs'
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

// ADR 14: another thread waits for the disk.

type Settle = (error?: unknown) => void

/** Like `fdatasync`. */
export type Sync = (file: number, done: (error: NodeJS.ErrnoException | null) => void) => void

const sqliteIoError = 10
const sqliteFull = 13

/** The disk did not store a commit. `errcode` is SQLite's code for the same failure. */
export class LogSyncError extends Error {
  readonly errcode: number

  constructor(cause: unknown) {
    const { code } = cause as NodeJS.ErrnoException
    super(`the disk did not store a write (${code}): check the disk, then restart the server`, { cause })
    this.errcode = code === 'ENOSPC' || code === 'EDQUOT' ? sqliteFull : sqliteIoError
  }
}

/**
 * Syncs SQLite's write-ahead log to disk on another thread, because the server's thread would otherwise stand still
 * for every commit. Commits that are made during a sync share the next one.
 */
export class LogSync {
  readonly #path: () => string
  readonly #onFailure: (error: unknown) => void
  readonly #disk: Sync
  #file: number | undefined
  #waiting: Settle[] = []
  #isSyncing = false
  #failure: LogSyncError | undefined

  constructor(path: () => string, onFailure: (error: unknown) => void, disk: Sync = fdatasync) {
    this.#path = path
    this.#onFailure = onFailure
    this.#disk = disk
  }

  /** Settles once everything that was committed before this call is on disk. */
  sync(waiting: readonly Settle[]): void {
    this.#waiting.push(...waiting)
    if (!this.#isSyncing) this.#start()
  }

  /** Whether something that was committed, and can be read, is not on disk yet. */
  get isPending(): boolean {
    return this.#isSyncing
  }

  /**
   * Why nothing more may be written. After a failed sync the system may have dropped what it could not write, and
   * SQLite would discard everything behind that gap at its next start.
   */
  get failure(): LogSyncError | undefined {
    return this.#failure
  }

  /** The disk did not store what was copied from the log, which must therefore not start anew. */
  fail(cause: unknown): void {
    if (this.#failure) return
    this.#failure = new LogSyncError(cause)
    this.#onFailure(this.#failure)
  }

  /** Resolves when everything is on disk. */
  async close(): Promise<void> {
    if (this.#file === undefined) return
    await new Promise<void>((resolve) => this.sync([() => resolve()]))
    closeSync(this.#file)
    this.#file = undefined
  }

  #start(): void {
    const waiting = this.#waiting
    if (waiting.length === 0) return
    this.#waiting = []
    this.#isSyncing = true
    try {
      // SQLite keeps this file while a connection is open. It locks other files, so closing this one unlocks nothing.
      this.#file ??= openSync(this.#path(), 'r+')
      this.#disk(this.#file, (error) => this.#end(waiting, error))
    } catch (error) {
      this.#end(waiting, error)
    }
  }

  #end(waiting: readonly Settle[], error: unknown): void {
    this.#isSyncing = false
    if (error) this.fail(error)
    for (const settle of waiting) settle(this.#failure)
    if (!this.#isSyncing) this.#start()
  }
}
