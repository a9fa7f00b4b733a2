import type { SQLInputValue } from 'node:sqlite'
import { currentRequest, server } from '../../core/caller.ts'
import { FairQueue } from '../../core/fair-queue.ts'
import { problem } from '../../core/problem.ts'
import type { SlowQueries } from '../slow-queries.ts'
import type { SqliteThread } from './thread.ts'

const threadsMost = 2
const slowMs = 10

/**
 * Read-only connections on threads of their own, so that a long list or search stalls no other request (ADR 5).
 * Callers take turns by the time that their queries took. Queries cannot be interrupted: slow ones get one thread, and
 * others find the second one free.
 */
export class ListThreads {
  readonly #idle: Pick<SqliteThread, 'run' | 'close'>[]
  readonly #all: readonly Pick<SqliteThread, 'run' | 'close'>[]
  readonly #times = new QueryTimes()
  readonly #turns = new FairQueue({
    running: threadsMost,
    waiting: 1000,
    slow: threadsMost - 1,
    rejection: () => problem('busy', { retryAfterSeconds: 1 }),
  })

  readonly #slow: Pick<SlowQueries, 'note'>

  constructor(open: () => Pick<SqliteThread, 'run' | 'close'>, slow: Pick<SlowQueries, 'note'>) {
    this.#slow = slow
    this.#all = Array.from({ length: threadsMost }, open)
    this.#idle = [...this.#all]
  }

  get waiting(): number {
    return this.#turns.waiting
  }

  async read(text: string, values: readonly unknown[]): Promise<unknown[]> {
    const caller = currentRequest.getStore()?.caller ?? server
    const isSlow = () => this.#times.expect(text, caller.account) > slowMs
    const endTurn = await this.#turns.enter(caller, { isSlow })
    // The one used last: the other one starts with the first query that finds it busy.
    const thread = this.#idle.pop() as SqliteThread
    let ms: number | undefined
    try {
      const result = await thread.run(text, values as SQLInputValue[])
      ms = result.ms
      this.#times.note(text, caller.account, ms)
      this.#slow.note(text, ms)
      return result.rows
    } finally {
      this.#idle.push(thread)
      endTurn(ms)
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((thread) => thread.close()))
  }
}

interface Times {
  /** A moving average over all accounts. */
  averageMs: number
  /** The longest time of each account; quicker queries lower it slowly. */
  readonly ofAccounts: Map<string, number>
}

const textsKept = 500
const accountsKept = 2_000
/** The weight of the newest query in what is remembered. */
const share = 0.1

/** Remembers how long queries took, because the same text of the same account will take as long again. */
export class QueryTimes {
  readonly #texts = new Map<string, Times>()

  expect(text: string, account: string): number {
    const times = this.#texts.get(text)
    return times ? (times.ofAccounts.get(account) ?? times.averageMs) : 0
  }

  note(text: string, account: string, ms: number): void {
    const times = this.#texts.get(text) ?? { averageMs: ms, ofAccounts: new Map() }
    const { averageMs, ofAccounts } = times
    const longest = ofAccounts.get(account) ?? ms
    times.averageMs = averageMs + share * (ms - averageMs)
    put(ofAccounts, account, Math.max(ms, longest + share * (ms - longest)), accountsKept)
    put(this.#texts, text, times, textsKept)
  }
}

/** Drops the entry that was not used for longest. */
function put<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= most) return
  const [oldest = ''] = map.keys()
  map.delete(oldest)
}
