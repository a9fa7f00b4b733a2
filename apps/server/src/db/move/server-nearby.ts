import { setTimeout as pause } from 'node:timers/promises'
import { OperatorError } from '../../core/operator-error.ts'
import { tryLock } from '../sqlite/data-dir.ts'

const patienceMs = 10_000
const retryMs = 20

/** The server that uses the data directory of a move. */
export class ServerNearby {
  readonly #dataDir: string
  #unlock: (() => void) | undefined

  constructor(dataDir: string) {
    this.#dataDir = dataDir
  }

  /** Throws unless the process that uses the directory is a server that knows of moves, or ends. */
  async check(): Promise<void> {
    const isKnown = await this.#until(() => {
      const unlock = tryLock(this.#dataDir, 'serving.lock')
      unlock?.()
      const unlockDir = unlock && tryLock(this.#dataDir, 'server.lock')
      unlockDir?.()
      return unlock === undefined || unlockDir !== undefined
    })
    if (isKnown) return
    throw new OperatorError(
      `Another process uses ${this.#dataDir} that is not a server of this version: stop it, then repeat.`,
    )
  }

  /** Resolves when the server no longer answers from the embedded database, and keeps it from doing so. */
  async untilAway(): Promise<void> {
    const isAway = await this.#until(() => {
      this.#unlock = tryLock(this.#dataDir, 'serving.lock')
      return this.#unlock !== undefined
    })
    if (!isAway)
      throw new OperatorError('The server does not respond, so nothing was moved. Stop it, then repeat.')
  }

  release(): void {
    this.#unlock?.()
  }

  async #until(isSo: () => boolean): Promise<boolean> {
    const until = performance.now() + patienceMs
    while (!isSo()) {
      if (performance.now() > until) return false
      await pause(retryMs)
    }
    return true
  }
}
