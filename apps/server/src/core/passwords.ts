import { HashThreads, hashesAtOnce } from './hash-threads.ts'
import { problem } from './problem.ts'

// OWASP's argon2id parameters: 19 MiB, two passes, one lane.
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const current = `m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}`

/** Hashes passwords with argon2id: a bounded number at once, with a bounded queue. */
export class Passwords {
  readonly #threads: HashThreads
  #running = 0
  #waiting: (() => void)[] = []
  readonly #atWork: number
  readonly #queue: number
  #decoy: Promise<string> | undefined

  constructor(options: { atWork?: number; queue?: number; threads?: HashThreads } = {}) {
    this.#threads = options.threads ?? new HashThreads()
    this.#atWork = options.atWork ?? hashesAtOnce
    this.#queue = options.queue ?? 128
  }

  hash(password: string): Promise<string> {
    return this.#inTurn(() => this.#threads.hash(password.normalize('NFKC'), parameters))
  }

  /** Takes equally long without a stored hash, so that timing does not reveal whether an account exists. */
  async verify(stored: string | null | undefined, password: string): Promise<boolean> {
    const known = stored ?? (await this.#decoyHash())
    const matches = await this.#inTurn(() => this.#threads.verify(known, password.normalize('NFKC')))
    return matches && stored != null
  }

  /** Whether a stored hash uses other parameters than the current ones. */
  isOutdated(stored: string): boolean {
    return !stored.includes(`$${current}$`)
  }

  #decoyHash(): Promise<string> {
    this.#decoy ??= this.hash('no account has this password')
    return this.#decoy
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atWork) {
      if (this.#waiting.length >= this.#queue) throw problem('busy', { retryAfterSeconds: 1 })
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else {
      this.#running += 1
    }
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running -= 1
    }
  }
}
