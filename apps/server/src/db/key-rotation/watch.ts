// ADR 97: a running server learns of a rotation from the database, and says what it holds.
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { second } from '../../core/clock.ts'
import type { SealRing } from '../../core/seal-ring.ts'
import type { Database } from '../engine.ts'
import { type KeySettings, keysOf, readKeyMeta, SecretKeyError } from '../secret-key.ts'
import { transact } from '../transact.ts'
import { deleteServer, putServer, type Rotation, readRotation } from './state.ts'

const everyMs = second

interface Watched {
  database: Pick<Database, 'db'>
  seal: SealRing
  settings: KeySettings
  /** Called once the database is sealed with a key that this server does not hold: it must not write any more. */
  onStranger: (error: Error) => void
  /** Called for the first failure in a row. */
  onError: (error: unknown) => void
}

/** Returns a function that ends the watch. */
export function watchKeys(watched: Watched): () => Promise<void> {
  const watch = new KeyWatch(watched)
  let running: Promise<void> | undefined
  let hasFailed = false
  const timer = setInterval(() => {
    running ??= watch
      .look()
      .then(
        () => {
          hasFailed = false
        },
        (error: unknown) => {
          if (error instanceof StrangerError) {
            clearInterval(timer)
            watched.onStranger(error)
          } else if (!hasFailed) watched.onError(error)
          hasFailed = true
        },
      )
      .finally(() => {
        running = undefined
      })
  }, everyMs).unref()
  return async () => {
    clearInterval(timer)
    await running
    await watch.leave().catch(() => {})
  }
}

class StrangerError extends SecretKeyError {}

class KeyWatch {
  readonly #watched: Watched
  readonly #id = randomBytes(8).toString('hex')
  #beat = 0
  #rotation: Rotation | undefined

  constructor(watched: Watched) {
    this.#watched = watched
  }

  async look(): Promise<void> {
    const { database, seal } = this.#watched
    const rotation = await readRotation(database.db)
    const hasChanged = rotation?.to !== this.#rotation?.to || rotation?.phase !== this.#rotation?.phase
    // Files of keys come and go with a rotation.
    if (hasChanged) seal.hold(keysOf(this.#watched.settings))
    const { fingerprint } = await readKeyMeta(database)
    if (fingerprint !== undefined && fingerprint !== seal.fingerprint) this.#turnTo(fingerprint)
    if (rotation) await this.#answer(rotation)
    else await this.leave()
    this.#rotation = rotation
  }

  async leave(): Promise<void> {
    if (!this.#rotation) return
    await transact(this.#watched.database.db, (tx) => deleteServer(tx, this.#id))
  }

  #turnTo(fingerprint: string): void {
    const { seal, settings } = this.#watched
    if (seal.use(fingerprint)) return
    seal.hold(keysOf(settings))
    if (seal.use(fingerprint)) return
    throw new StrangerError(
      'The secret key was replaced, and this server does not have the new one: it stops. Start it with the new SECRET_KEY.',
    )
  }

  async #answer({ to }: Rotation): Promise<void> {
    const { database, seal } = this.#watched
    this.#beat += 1
    const keys = { host: hostname(), to, holds: seal.has(to), seals: seal.fingerprint, beat: this.#beat }
    await transact(database.db, (tx) => putServer(tx, this.#id, keys))
  }
}
