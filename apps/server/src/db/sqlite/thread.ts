// ADR 14: writes of many rows run on another thread.
import type { SQLInputValue } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { currentRequest, server } from '../../core/networks/caller.ts'
import { problem } from '../../core/problem.ts'
import { FairQueue } from '../../core/queues/fair-queue.ts'
import type { SlowQueries } from '../slow-queries.ts'
import type { SqliteHandle, SqliteResult } from './handle.ts'

export interface SqliteThreadOptions {
  path: string
  readOnly: boolean
}

export interface ThreadQuery {
  id: number
  text: string
  parameters: SQLInputValue[]
}

/** `ms` is how long the statement ran. */
export type ThreadResult = SqliteResult & { ms: number }

export type ThreadAnswer =
  | { id: number; result: ThreadResult }
  | { id: number; failure: string; errcode: number | undefined; isInTransaction: boolean }

/** What a writing thread runs outside of a transaction. */
export const outside = { begin: 'begin immediate', start: 'select 1' }

/** A statement failed on another thread. */
export class SqliteThreadError extends Error {
  readonly errcode: number | undefined
  readonly isInTransaction: boolean

  constructor(message: string, errcode?: number, isInTransaction = false) {
    super(message)
    this.errcode = errcode
    this.isInTransaction = isInTransaction
  }
}

interface Waiting {
  resolve: (result: ThreadResult) => void
  reject: (error: Error) => void
}

/**
 * Runs statements one after the other on another thread, with a connection of its own. Starts the thread with the
 * first statement, and restarts it with the next one if it ended.
 */
export class SqliteThread {
  readonly #options: SqliteThreadOptions
  readonly #waiting = new Map<number, Waiting>()
  /** Received answers; the first one is already settled. */
  readonly #answers: ThreadAnswer[] = []
  #worker: Worker | undefined
  #hasAnswered = false
  #lastId = 0
  #isClosed = false

  constructor(options: SqliteThreadOptions) {
    this.#options = options
  }

  /** Starts the thread unless it runs. */
  async start(): Promise<void> {
    if (!this.#hasAnswered) await this.run(outside.start)
  }

  run(text: string, parameters: SQLInputValue[] = []): Promise<ThreadResult> {
    if (this.#isClosed) return Promise.reject(new SqliteThreadError('the database is being closed'))
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#start()
      try {
        this.#worker.postMessage({ id, text, parameters } satisfies ThreadQuery)
      } catch (error) {
        // A parameter cannot be sent. The thread knows nothing of it: a transaction is still open there.
        throw new SqliteThreadError((error as Error).message, undefined, true)
      }
      this.#waiting.set(id, { resolve, reject })
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const workerData = { ...this.#options, outside: Object.values(outside) }
    const worker = new Worker(new URL('./thread-worker.ts', import.meta.url), { workerData })
    worker.unref()
    worker.on('message', (answer: ThreadAnswer) => {
      this.#hasAnswered = true
      this.#answers.push(answer)
      if (this.#answers.length === 1) this.#settleNext()
    })
    worker.on('error', (error) => this.#end(worker, error as Error))
    worker.on('exit', () => this.#end(worker, new SqliteThreadError('the thread ended')))
    return worker
  }

  /** One per turn of the event loop: what a caller does with many rows takes milliseconds. */
  #settleNext(): void {
    const [answer] = this.#answers
    if (!answer) return
    setImmediate(() => {
      this.#answers.shift()
      this.#settleNext()
    })
    this.#settle(answer)
  }

  #settle(answer: ThreadAnswer): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if ('result' in answer) waiting?.resolve(answer.result)
    else waiting?.reject(new SqliteThreadError(answer.failure, answer.errcode, answer.isInTransaction))
  }

  #end(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#hasAnswered = false
    for (const answer of this.#answers) this.#settle(answer)
    for (const waiting of this.#waiting.values()) waiting.reject(error)
    this.#waiting.clear()
  }
}

const threadsMost = 2
const slowMs = 10
/** The way to a thread and back takes as long. */
const quickMs = 0.15

/**
 * Read-only connections on threads of their own, so that a long list or search stalls no other request (ADR 5).
 * Callers take turns by the time that their queries took. Queries cannot be interrupted: slow ones get one thread, and
 * others find the second one free.
 */
export class ListThreads {
  readonly #idle: Pick<SqliteThread, 'run' | 'close'>[]
  readonly #all: readonly Pick<SqliteThread, 'run' | 'close'>[]
  readonly #times = new QueryTimes()
  /** How long a steady query took the last time, by its text and the ids of its objects: an account may have a large app. */
  readonly #last = new Map<string, number>()
  readonly #turns = new FairQueue({
    running: threadsMost,
    waiting: 1000,
    slow: threadsMost - 1,
    rejection: () => problem('busy', { retryAfterSeconds: 1 }),
  })

  readonly #slow: Pick<SlowQueries, 'note'>
  readonly #reader: Pick<SqliteHandle, 'run'>

  constructor(
    open: () => Pick<SqliteThread, 'run' | 'close'>,
    slow: Pick<SlowQueries, 'note'>,
    reader: Pick<SqliteHandle, 'run'>,
  ) {
    this.#slow = slow
    this.#reader = reader
    this.#all = Array.from({ length: threadsMost }, open)
    this.#idle = [...this.#all]
  }

  get waiting(): number {
    return this.#turns.waiting
  }

  async read(text: string, values: readonly unknown[]): Promise<unknown[]> {
    return (await this.#run(text, values)).rows
  }

  async #run(text: string, values: readonly unknown[]): Promise<ThreadResult> {
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
      return result
    } finally {
      this.#idle.push(thread)
      endTurn(ms)
    }
  }

  /** Reads at once what was quick for these objects. For queries whose time depends on their data and not on other values. */
  async readSteady(text: string, values: readonly unknown[]): Promise<unknown[]> {
    const key = [text, ...values.filter((value) => typeof value === 'string')].join(' ')
    const last = this.#last.get(key)
    if (last === undefined || last > quickMs) {
      const { rows, ms } = await this.#run(text, values)
      put(this.#last, key, ms, keysKept)
      return rows
    }
    const began = performance.now()
    const { rows } = this.#reader.run(text, values as SQLInputValue[])
    const ms = performance.now() - began
    put(this.#last, key, ms, keysKept)
    this.#slow.note(text, ms)
    return rows
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
const keysKept = 2_000
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
