import type { SQLInputValue } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { ManyConnectionsAdapter } from './sqlite.ts'

export interface ListThreadQuery {
  id: number
  text: string
  parameters: SQLInputValue[]
}

export type ListThreadAnswer =
  | { id: number; rows: unknown[] }
  | { id: number; failure: string; errcode: number | undefined }

/** Kysely over a read-only connection on a thread of its own: a long list or search stalls no other request. */
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

class ListThreadDriver implements Driver {
  readonly #thread: ListThread

  constructor(path: string) {
    this.#thread = new ListThread(path)
  }

  async init() {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#thread
  }

  async releaseConnection() {}

  async beginTransaction() {
    throw new Error('a transaction belongs on the writing connection')
  }

  async commitTransaction() {}
  async rollbackTransaction() {}

  async destroy() {
    await this.#thread.close()
  }
}

interface Waiting {
  resolve: (rows: unknown[]) => void
  reject: (error: Error) => void
}

/** Starts its thread with the first query, and restarts it with the next one if it ended. */
class ListThread implements DatabaseConnection {
  readonly #path: string
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #lastId = 0

  constructor(path: string) {
    this.#path = path
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const id = ++this.#lastId
    const rows = await new Promise<unknown[]>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      const query: ListThreadQuery = { id, text: sql, parameters: parameters as SQLInputValue[] }
      this.#worker ??= this.#start()
      this.#worker.postMessage(query)
    })
    return { rows: rows as Row[] }
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not offered: page by key instead')
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./list-worker.ts', import.meta.url), { workerData: this.#path })
    worker.unref()
    worker.on('message', (answer: ListThreadAnswer) => {
      const waiting = this.#waiting.get(answer.id)
      this.#waiting.delete(answer.id)
      if ('rows' in answer) waiting?.resolve(answer.rows)
      else waiting?.reject(Object.assign(new Error(answer.failure), { errcode: answer.errcode }))
    })
    worker.on('error', (error) => this.#end(worker, error as Error))
    worker.on('exit', () => this.#end(worker, new Error('the list thread ended')))
    return worker
  }

  #end(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const waiting of this.#waiting.values()) waiting.reject(error)
    this.#waiting.clear()
  }
}
