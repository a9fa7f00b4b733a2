// ADR 14: what the copying of the log needs.
/** Like SQLite's: `restart` keeps writers out while it copies what is left, and lets the log start anew. */
export type CopyKind = 'noop' | 'passive' | 'restart'

export interface LogState {
  isBusy: boolean
  /** How many pages of 4 KiB the log has. */
  pages: number
  /** How many of them the database has. */
  copied: number
}

type Copy = (how: CopyKind) => LogState

/** Pages after which the log starts anew: before a writing connection would copy it. */
const pagesInLog = 7000

/** Short transactions add pages during a copy. At most so many are left to the copy that keeps writers out. */
const fewPages = 32
const copiesMost = 4

/** How long a reader that is in the way is left alone: waiting for it keeps writers out. */
const restMs = 500

/** Copies the log into the database, in an order that keeps writers out as shortly as possible. */
export class LogCopies {
  readonly #copy: Copy
  readonly #now: () => number
  #blockedAt = Number.NEGATIVE_INFINITY

  constructor(copy: Copy, now: () => number = () => performance.now()) {
    this.#copy = copy
    this.#now = now
  }

  /** Copies unless fewer pages are left to copy. Returns how many the log had, and whether it starts anew. */
  run(leastPages: number, onLong: () => void): { pages: number; isAnew: boolean } {
    const { pages, copied: copiedBefore } = this.#copy('noop')
    if (pages < pagesInLog) {
      if (pages - copiedBefore >= leastPages) this.#copy('passive')
      return { pages, isAnew: false }
    }
    // Under steady writes the log would never end while it is copied, so long transactions wait from here on.
    onLong()
    // Less is copied than there was before if a reader needs an older state.
    return { pages, isAnew: this.#copyMost() >= pages && this.#startAnew() }
  }

  /** Copies again what is added meanwhile, until little is left. Returns how many pages are copied. */
  #copyMost(): number {
    for (let copies = 1; ; copies += 1) {
      const { copied } = this.#copy('passive')
      if (copies === copiesMost || this.#copy('noop').pages - copied <= fewPages) return copied
    }
  }

  /** Keeps writers out while it copies the rest, which is little, and waits for readers. False if one stays. */
  #startAnew(): boolean {
    const now = this.#now()
    if (now - this.#blockedAt < restMs) return false
    const { isBusy } = this.#copy('restart')
    if (isBusy) this.#blockedAt = now
    return !isBusy
  }
}
