// ADR 92: a running server notices that its data is moved.
import { tryLock } from './data-dir.ts'
import { isMoved, type Moved, readMoved } from './moved.ts'

const lookEveryMs = 100

/**
 * Whether a server answers from its embedded database. It holds a lock meanwhile, which a move takes before it commits:
 * a move needs no answer of the server, and a server that does not know of moves never holds the lock.
 */
export class Serving {
  readonly #dataDir: string
  readonly #timer: NodeJS.Timeout
  #unlock: (() => void) | undefined
  #onAway: (moved: Moved) => void = () => {}
  #seen: Moved | undefined

  constructor(dataDir: string) {
    this.#dataDir = dataDir
    this.#look()
    this.#timer = setInterval(() => {
      try {
        this.#look()
      } catch {
        // The file went away while it was read, or cannot be read yet: look again.
      }
    }, lookEveryMs).unref()
  }

  get isAway(): boolean {
    return this.#unlock === undefined
  }

  /** Called when a move is about to commit, and when it has. */
  onAway(listener: (moved: Moved) => void): void {
    this.#onAway = listener
    if (this.#seen) listener(this.#seen)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#release()
  }

  #look(): void {
    if (!isMoved(this.#dataDir)) {
      this.#seen = undefined
      this.#unlock ??= tryLock(this.#dataDir, 'serving.lock')
      return
    }
    this.#release()
    if (this.#seen?.done) return
    const seen = readMoved(this.#dataDir)
    if (!seen || seen.done === this.#seen?.done) return
    this.#seen = seen
    this.#onAway(seen)
  }

  #release(): void {
    this.#unlock?.()
    this.#unlock = undefined
  }
}
