/** Like SQLite's: `restart` keeps writers out while it copies what is left, and lets the log start anew. */
export type CopyKind = 'noop' | 'passive' | 'restart'

export interface LogState {
  isBusy: boolean
  /** How many pages of 4 KiB the log has. */
  pages: number
  /** How many of them the database has. */
  copied: number
}

export interface LogFile {
  copy(how: CopyKind): LogState
  /** Waits until everything that was copied is on disk, without a lock. */
  syncDatabase(): void
  /** Writes the header of a log that starts anew. */
  writeHeader(): void
}

/** Pages after which the log starts anew: before a writing connection would copy it. */
const pagesInLog = 7000

/** Short transactions add pages during a copy. At most so many are left to the copy that keeps writers out. */
const fewPages = 32
const copiesMost = 4

/** How long a reader that is in the way is left alone: waiting for it keeps writers out. */
const restMs = 500

/** Copies the log into the database, in an order that keeps writers out as shortly as possible. */
export class LogCopies {
  readonly #log: LogFile
  readonly #now: () => number
  #blockedAt = Number.NEGATIVE_INFINITY

  constructor(log: LogFile, now: () => number = () => performance.now()) {
    this.#log = log
    this.#now = now
  }

  /** Copies unless fewer pages are left to copy. Returns how many the log had, and whether it starts anew. */
  run(leastPages: number, onLong: () => void): { pages: number; isAnew: boolean } {
    const { pages, copied: copiedBefore } = this.#log.copy('noop')
    if (pages < pagesInLog) {
      if (pages - copiedBefore >= leastPages) this.#log.copy('passive')
      return { pages, isAnew: false }
    }
    // Under steady writes the log would never end while it is copied, so long transactions wait from here on.
    onLong()
    // Less is copied than there was before if a reader needs an older state.
    return { pages, isAnew: this.#copyMost() >= pages && this.#startAnew() }
  }

  /**
   * Copies again what is added meanwhile, until little is left. Returns how many pages are copied. SQLite syncs the
   * database only after a copy during which nothing was added: the last copy would sync all of it and keep writers out.
   */
  #copyMost(): number {
    for (let copies = 1; ; copies += 1) {
      const { copied } = this.#log.copy('passive')
      this.#log.syncDatabase()
      if (copies === copiesMost || this.#log.copy('noop').pages - copied <= fewPages) return copied
    }
  }

  /** Keeps writers out while it copies the rest, which is little, and waits for readers. False if one stays. */
  #startAnew(): boolean {
    const now = this.#now()
    if (now - this.#blockedAt < restMs) return false
    const { isBusy } = this.#log.copy('restart')
    if (isBusy) this.#blockedAt = now
    // SQLite syncs it with the first commit, which would otherwise block the server's thread.
    else this.#log.writeHeader()
    return !isBusy
  }
}
