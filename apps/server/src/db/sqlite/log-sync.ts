// ADR 14: another thread waits for the disk.
import { closeSync, fdatasync, openSync } from 'node:fs'

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
