import type { CompiledQuery, DatabaseConnection, Dialect, Driver, Kysely, QueryResult } from 'kysely'

/** Runs a read of lists on an engine. */
export type ReadRows = (text: string, values: readonly unknown[]) => Promise<unknown[]>

/** Kysely for lists, searches and reports: the engine's own dialect builds each query, and `read` runs it. */
export class ListDialect implements Dialect {
  readonly #engine: Dialect
  readonly #read: ReadRows

  constructor(engine: Dialect, read: ReadRows) {
    this.#engine = engine
    this.#read = read
  }

  createDriver = (): Driver => new ListDriver(this.#read)
  createQueryCompiler = () => this.#engine.createQueryCompiler()
  createAdapter = () => this.#engine.createAdapter()
  createIntrospector = (db: Kysely<unknown>) => this.#engine.createIntrospector(db)
}

class ListDriver implements Driver, DatabaseConnection {
  readonly #read: ReadRows

  constructor(read: ReadRows) {
    this.#read = read
  }

  async init() {}

  async acquireConnection() {
    return this
  }

  async releaseConnection() {}

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    return { rows: (await this.#read(sql, parameters)) as Row[] }
  }

  async beginTransaction() {
    throw new Error('a transaction belongs on the writing connection')
  }

  async commitTransaction() {}
  async rollbackTransaction() {}
  async destroy() {}

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not offered: page by key instead')
  }
}
