import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from '../networks/caller.ts'
import { problem } from '../problem.ts'
import { type EndTurn, FairQueue } from '../queues/fair-queue.ts'
import { HashThreads, hashesAtOnce } from './hash-threads.ts'
import { costOfComparing, costOfComparingAt, isImportedHash, missingPassword } from './imported-hashes.ts'

// OWASP's argon2id parameters: 19 MiB, two passes, one lane.
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const current = `m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}`

const busy = () => problem('busy', { retryAfterSeconds: 1 })

/** How long a refusal takes: callers that retry at once would otherwise keep the server's thread busy. */
const usualRefusalMs = 1000

/** A turn in which passwords are compared. */
export interface PasswordTurn {
  /** Waits again where as many hashes of other systems are compared as may be at once. */
  slowDown(cost: number): Promise<void>
  end(): void
}

/** Hashes passwords with argon2id: a bounded number at once, for callers that take turns. */
export class Passwords {
  readonly #threads: HashThreads
  readonly #turns: FairQueue
  readonly #waiting: (() => void)[] = []
  readonly #refusalMs: number
  #free: number
  #decoy: Promise<string> | undefined

  constructor(options: { atWork?: number; queue?: number; threads?: HashThreads; refusalMs?: number } = {}) {
    const { atWork = hashesAtOnce, queue = 128, threads = new HashThreads() } = options
    this.#threads = threads
    this.#free = atWork
    this.#refusalMs = options.refusalMs ?? usualRefusalMs
    this.#turns = new FairQueue({
      // One sign-in more than threads: it has read its account and takes over while another one is written.
      running: atWork + 1,
      waiting: queue,
      // A hash of another system can take as long as sixteen of ours, whose callers find a free thread.
      slow: Math.max(1, Math.floor(atWork / 2)),
      rejection: busy,
    })
  }

  /** Whether a caller would have to wait for its turn. */
  get isBusy(): boolean {
    return this.#turns.isBusy
  }

  /** How many sign-ins wait for their turn. */
  get waiting(): number {
    return this.#turns.waiting
  }

  /** Waits for a turn in which to verify passwords. */
  async enter(caller: Caller): Promise<PasswordTurn> {
    const take = (isSlow: boolean): Promise<EndTurn> =>
      this.#turns.enter(caller, { isSlow: () => isSlow }).catch((error) => this.#refuse(error))
    let [endTurn, cost] = [await take(false), 1]
    return {
      slowDown: async (slowCost) => {
        endTurn(0)
        endTurn = await take(true)
        cost = slowCost
      },
      end: () => endTurn(cost),
    }
  }

  /** Refuses an unknown caller if the full queue could admit it only by displacing another of its network. */
  refuseStranger(address: string): Promise<never> | undefined {
    return this.#turns.hasPlaceFor({ address }) ? undefined : this.#refuse(busy())
  }

  async #refuse(error: unknown): Promise<never> {
    await sleep(this.#refusalMs)
    throw error
  }

  async hash(password: string, caller: Caller): Promise<string> {
    const turn = await this.enter(caller)
    return this.#hash(password).finally(() => turn.end())
  }

  /** Takes equally long without a stored hash, so that timing does not reveal whether an account exists. */
  async verify(stored: string | null | undefined, password: string, turn: PasswordTurn): Promise<boolean> {
    const isKnown = stored != null && stored !== missingPassword
    const known = isKnown ? stored : await this.#decoyHash()
    const isImported = isImportedHash(known)
    // Other systems hash what was typed.
    const typed = isImported ? password : password.normalize('NFKC')
    if (isImported) await turn.slowDown(costOfComparing(known, typed))
    const matches = await this.#withThread(() => this.#threads.verify(known, typed))
    return matches && isKnown
  }

  /**
   * Where strangers must not learn whose hash is another system's, nor whether there is one: a wrong password takes as long
   * for any hash up to this bcrypt cost. Undefined where all hashes are our own.
   */
  async verifyEvenly(
    stored: string | null | undefined,
    password: string,
    turn: PasswordTurn,
    cost: number | undefined,
  ): Promise<boolean> {
    if (cost === undefined) return this.verify(stored, password, turn)
    const isKnown = stored != null && stored !== missingPassword
    const decoy = await this.#decoyHash()
    await turn.slowDown(1 + costOfComparingAt(cost, password))
    const evenly = { cost, decoy }
    const matches = await this.#withThread(() =>
      this.#threads.verify(isKnown ? stored : decoy, password, evenly),
    )
    return matches && isKnown
  }

  /** Whether a stored hash uses other parameters than the current ones. */
  isOutdated(stored: string): boolean {
    return !stored.includes(`$${current}$`)
  }

  #decoyHash(): Promise<string> {
    this.#decoy ??= this.#hash('no account has this password')
    return this.#decoy
  }

  #hash(password: string): Promise<string> {
    return this.#withThread(() => this.#threads.hash(password.normalize('NFKC'), parameters))
  }

  async #withThread<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#free -= 1
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free += 1
    }
  }
}
