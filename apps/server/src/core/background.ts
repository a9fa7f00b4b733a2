const atOnce = 4
const waitingMax = 500

/** Runs work after its request was answered: a few tasks at once, with a bounded queue. */
export class Background {
  readonly #waiting: (() => Promise<void>)[] = []
  readonly #running = new Set<Promise<void>>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** Returns false when the queue is full and the work was rejected. */
  start(work: () => Promise<void>): boolean {
    if (this.#waiting.length >= waitingMax) return false
    this.#waiting.push(work)
    this.#runNext()
    return true
  }

  /** Drops queued work and waits for running work. */
  async end(): Promise<void> {
    this.#waiting.length = 0
    await Promise.all(this.#running)
  }

  #runNext(): void {
    if (this.#running.size >= atOnce) return
    const work = this.#waiting.shift()
    if (!work) return
    const run = work()
      .catch(this.#onError)
      .finally(() => {
        this.#running.delete(run)
        this.#runNext()
      })
    this.#running.add(run)
  }
}
