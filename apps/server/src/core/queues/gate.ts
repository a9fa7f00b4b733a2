import { limits } from '@keyward/contract'
import { type Problem, problem } from '../problem.ts'
import { FairQueue, type FairQueueOptions } from './fair-queue.ts'

export interface GateOptions {
  /** Concurrent requests per account. */
  running: number
  /** Queued requests per account; further ones are rejected. */
  waiting: number
  /** Longest time in the queue; undefined for no limit. */
  waitMs?: number | undefined
  rejection: () => Problem
}

interface Account {
  running: number
  waiting: (() => void)[]
  /** True until the next turn of the event loop, which serves other accounts. */
  resting: boolean
}

/** Releases the turn; further calls do nothing. */
export type EndTurn = () => void

/**
 * Bounds the concurrent requests of one account on this node, so that it cannot occupy the server's only thread.
 * Starts at most one of its requests per turn of the event loop.
 */
export class Gate {
  readonly #options: GateOptions
  readonly #accounts = new Map<string, Account>()

  constructor(options: GateOptions) {
    this.#options = options
  }

  /** Callers that wait, of all accounts. */
  get waiting(): number {
    return [...this.#accounts.values()].reduce((sum, { waiting }) => sum + waiting.length, 0)
  }

  /** Resolves when the account may start a request; rejects when its queue is full or the wait is too long. */
  async enter(key: string): Promise<EndTurn> {
    const { running, waiting, waitMs, rejection } = this.#options
    const account = this.#accounts.get(key) ?? { running: 0, waiting: [], resting: false }
    if (account.running + account.waiting.length >= running + waiting) throw rejection()
    this.#accounts.set(key, account)
    await new Promise<void>((resolve, reject) => {
      const giveUp = () => {
        account.waiting.splice(account.waiting.indexOf(begin), 1)
        reject(rejection())
      }
      const timer = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs)
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      account.waiting.push(begin)
      this.#next(key, account)
    })
    let ended = false
    return () => {
      if (ended) return
      ended = true
      account.running -= 1
      this.#rest(key, account)
    }
  }

  #next(key: string, account: Account): void {
    if (account.resting || account.running >= this.#options.running) return
    const begin = account.waiting.shift()
    if (begin) {
      account.running += 1
      this.#rest(key, account)
      begin()
    } else if (account.running === 0) this.#accounts.delete(key)
  }

  #rest(key: string, account: Account): void {
    if (account.resting) return
    account.resting = true
    setImmediate(() => {
      account.resting = false
      this.#next(key, account)
    })
  }
}

export interface Gates {
  requests: Gate
  jobs: Gate
  /** What all API keys of a vendor share, once each has its own turn: together they get what one account gets. */
  keys: { requests: Gate; jobs: Gate }
  /** Bytes of large bodies, from before they are read until their request has been handled. */
  bodies: FairQueue
  stalledMs: number
  uploadMs: number
}

export interface GateSizes {
  requests: Pick<GateOptions, 'running' | 'waiting'>
  jobs: Pick<GateOptions, 'running' | 'waiting' | 'waitMs'>
  bodies: Pick<FairQueueOptions, 'running' | 'perNetwork' | 'waiting' | 'waitMs'>
  /** A download that the client does not read for this long is aborted. */
  stalledMs: number
  /** A large body that has not arrived in this time is aborted if others wait. */
  uploadMs: number
}

/** A console tab sends about ten requests at once; several tabs must fit. */
const defaultSizes: Omit<GateSizes, 'requests'> = {
  jobs: { running: 1, waiting: 3, waitMs: 10_000 },
  // An import takes some 20 times its bytes while it is handled.
  bodies: { running: 4 * 1_048_576, perNetwork: 2 * 1_048_576, waiting: 100, waitMs: 10_000 },
  stalledMs: 60_000,
  uploadMs: 10_000,
}

export function createGates(running = 4, sizes: Partial<GateSizes> = {}): Gates {
  const { jobs, bodies, requests = { running, waiting: 96 }, ...times } = { ...defaultSizes, ...sizes }
  const tooMany = () => problem('too_many_at_once', { retryAfterSeconds: 1 })
  const jobRunning = () => problem('job_running', { retryAfterSeconds: 10 })
  return {
    ...times,
    bodies: new FairQueue({ ...bodies, rejection: () => problem('busy', { retryAfterSeconds: 5 }) }),
    requests: new Gate({ ...requests, rejection: tooMany }),
    jobs: new Gate({ ...jobs, rejection: jobRunning }),
    keys: {
      requests: new Gate({ ...requests, waiting: limits.apiKeysMax * requests.running, rejection: tooMany }),
      jobs: new Gate({ ...jobs, waiting: limits.apiKeysMax * jobs.running, rejection: jobRunning }),
    },
  }
}
