import type { SQLInputValue } from 'node:sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { currentCaller, server } from '../../core/caller.ts'
import { FairQueue } from '../../core/fair-queue.ts'
import { problem } from '../../core/problem.ts'
import { ManyConnectionsAdapter } from './dialect.ts'
import { QueryTimes } from './query-times.ts'
import { SqliteThread, type ThreadResult } from './thread.ts'

/** Kysely over read-only connections on threads of their own: a long list or search stalls no other request. */
export class ListThreadDialect implements Dialect {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  createDriver = (): Driver => new ListThreadDriver(this.#path)
  createQueryCompiler = () => new SqliteQueryCompiler()
  createAdapter = () => new ManyConnectionsAdapter()
  createIntrospector = (db: ConstructorParameters<typeof SqliteIntrospector>[0]) => new SqliteIntrospector(db)
}

const threadsMost = 2
const slowMs = 10

/**
 * Runs one query per thread; callers take turns by the time that their queries took. Queries cannot be interrupted, so
 * that slow ones get one thread, and others find the second one free.
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

  constructor(open: () => Pick<SqliteThread, 'run' | 'close'>) {
    this.#all = Array.from({ length: threadsMost }, open)
    this.#idle = [...this.#all]
  }

  async run(text: string, parameters: SQLInputValue[]): Promise<ThreadResult> {
    const caller = currentCaller.getStore() ?? server
    const isSlow = () => this.#times.expect(text, caller.account) > slowMs
    const endTurn = await this.#turns.enter(caller, { isSlow })
    // The one used last: the other one starts with the first query that finds it busy.
    const thread = this.#idle.pop() as SqliteThread
    let ms: number | undefined
    try {
      const result = await thread.run(text, parameters)
      ms = result.ms
      this.#times.note(text, caller.account, ms)
      return result
    } finally {
      this.#idle.push(thread)
      endTurn(ms)
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((thread) => thread.close()))
  }
}

class ListThreadDriver implements Driver {
  readonly #threads: ListThreads
  readonly #connection: ListConnection

  constructor(path: string) {
    this.#threads = new ListThreads(() => new SqliteThread({ path, readOnly: true }))
    this.#connection = new ListConnection(this.#threads)
  }

  async init() {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }

  async releaseConnection() {}

  async beginTransaction() {
    throw new Error('a transaction belongs on the writing connection')
  }

  async commitTransaction() {}
  async rollbackTransaction() {}

  async destroy() {
    await this.#threads.close()
  }
}

class ListConnection implements DatabaseConnection {
  readonly #threads: ListThreads

  constructor(threads: ListThreads) {
    this.#threads = threads
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows } = await this.#threads.run(sql, parameters as SQLInputValue[])
    return { rows: rows as Row[] }
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not offered: page by key instead')
  }
}
