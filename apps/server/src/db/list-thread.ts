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
import { ManyConnectionsAdapter } from './sqlite.ts'
import { SqliteThread } from './sqlite-thread.ts'

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
  readonly #thread: SqliteThread
  readonly #connection: ListConnection

  constructor(path: string) {
    this.#thread = new SqliteThread({ path, readOnly: true })
    this.#connection = new ListConnection(this.#thread)
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
    await this.#thread.close()
  }
}

class ListConnection implements DatabaseConnection {
  readonly #thread: SqliteThread

  constructor(thread: SqliteThread) {
    this.#thread = thread
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows } = await this.#thread.run(sql, parameters as SQLInputValue[])
    return { rows: rows as Row[] }
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not offered: page by key instead')
  }
}
