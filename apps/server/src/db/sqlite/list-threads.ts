import type { SQLInputValue } from 'node:sqlite'
import { currentRequest, server } from '../../core/caller.ts'
import { FairQueue } from '../../core/fair-queue.ts'
import { problem } from '../../core/problem.ts'
import type { SlowQueries } from '../slow-queries.ts'
import { QueryTimes } from './query-times.ts'
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
