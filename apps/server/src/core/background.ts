const atOnce = 4
const waitingMax = 500

/** Work that goes on after its request was answered: a few at a time, and a bounded number that waits. */
export class Background {
  readonly #waiting: (() => Promise<void>)[] = []
  readonly #running = new Set<Promise<void>>()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** False when so much waits already that this is not accepted. */
  start(work: () => Promise<void>): boolean {
    if (this.#waiting.length >= waitingMax) return false
    this.#waiting.push(work)
    this.#runNext()
    return true
  }

  /** Drops what waits and resolves when what runs has ended. */
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
