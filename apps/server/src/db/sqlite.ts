import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'

const statementsKept = 500

/** A `node:sqlite` database that keeps its prepared statements. */
export class SqliteHandle {
  readonly database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(path: string, options: { readOnly: boolean }) {
    this.database = new DatabaseSync(path, { readOnly: options.readOnly, timeout: 5000 })
    this.database.exec('pragma foreign_keys = on; pragma cache_size = -65536; pragma temp_store = memory')
    if (!options.readOnly) {
      this.database.exec('pragma journal_mode = wal; pragma journal_size_limit = 67108864')
    }
    // SQLite's own lower() knows no letters beyond ASCII.
    this.database.function('lower_unicode', { deterministic: true }, (text) =>
      typeof text === 'string' ? text.toLowerCase() : null,
    )
    // Last, because a change of the journal mode may put it back: an acknowledged write is on disk.
    this.database.exec('pragma synchronous = full')
  }

  prepare(text: string): StatementSync {
    let statement = this.#statements.get(text)
    if (statement) {
      this.#statements.delete(text)
    } else {
      statement = this.database.prepare(text)
      if (this.#statements.size >= statementsKept) {
        const oldest = this.#statements.keys().next().value
        if (oldest !== undefined) this.#statements.delete(oldest)
      }
    }
    this.#statements.set(text, statement)
    return statement
  }

  close(): void {
    this.#statements.clear()
    if (this.database.isOpen) this.database.close()
  }
}

/** The two connections of an embedded database: one that writes, one that sees only what is committed. */
export interface SqliteHandles {
  writer: SqliteHandle
  reader: SqliteHandle
}

export function openSqlite(path: string): SqliteHandles {
  const writer = new SqliteHandle(path, { readOnly: false })
  return { writer, reader: new SqliteHandle(path, { readOnly: true }) }
}

type OnFailure = (error: unknown) => void

/** Kysely over `node:sqlite`: statements are kept, transactions are immediate and take turns. */
export class NodeSqliteDialect implements Dialect {
  readonly #handles: SqliteHandles
  readonly #onFailure: OnFailure

  constructor(handles: SqliteHandles, onFailure: OnFailure = () => {}) {
    this.#handles = handles
    this.#onFailure = onFailure
  }

  createDriver = (): Driver => new NodeSqliteDriver(this.#handles, this.#onFailure)
  createQueryCompiler = () => new SqliteQueryCompiler()
  createAdapter = () => new ManyConnectionsAdapter()
  createIntrospector = (db: ConstructorParameters<typeof SqliteIntrospector>[0]) => new SqliteIntrospector(db)
}

/** The driver gives out its connections by itself; reads need not wait until a transaction has ended. */
export class ManyConnectionsAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

class NodeSqliteDriver implements Driver {
  readonly #handles: SqliteHandles
  readonly #onFailure: OnFailure
  #turn: Promise<void> = Promise.resolve()

  constructor(handles: SqliteHandles, onFailure: OnFailure) {
    this.#handles = handles
    this.#onFailure = onFailure
  }

  async init() {}

  async acquireConnection() {
    return new NodeSqliteConnection(this.#handles, () => this.#takeTurn(), this.#onFailure)
  }

  async beginTransaction(connection: DatabaseConnection) {
    await (connection as NodeSqliteConnection).begin()
  }

  async commitTransaction(connection: DatabaseConnection) {
    try {
      ;(connection as NodeSqliteConnection).end('commit')
    } catch (error) {
      this.#onFailure(error)
      throw error
    }
  }

  async rollbackTransaction(connection: DatabaseConnection) {
    ;(connection as NodeSqliteConnection).end('rollback')
  }

  async releaseConnection() {}

  async destroy() {
    this.#handles.reader.close()
    this.#handles.writer.close()
  }

  async #takeTurn(): Promise<() => void> {
    let done = () => {}
    const before = this.#turn
    this.#turn = new Promise((resolve) => {
      done = resolve
    })
    await before
    return done
  }
}

const readsOnly = /^\s*(select|with|explain)\b/i

class NodeSqliteConnection implements DatabaseConnection {
  readonly #handles: SqliteHandles
  readonly #takeTurn: () => Promise<() => void>
  readonly #onFailure: OnFailure
  #endTurn: (() => void) | undefined

  constructor(handles: SqliteHandles, takeTurn: () => Promise<() => void>, onFailure: OnFailure) {
    this.#handles = handles
    this.#takeTurn = takeTurn
    this.#onFailure = onFailure
  }

  async begin(): Promise<void> {
    const endTurn = await this.#takeTurn()
    try {
      this.#handles.writer.prepare('begin immediate').run()
    } catch (error) {
      endTurn()
      throw error
    }
    this.#endTurn = endTurn
  }

  end(how: 'commit' | 'rollback'): void {
    try {
      if (how === 'commit' || this.#handles.writer.database.isTransaction) {
        this.#handles.writer.prepare(how).run()
      }
    } finally {
      if (how === 'rollback' || !this.#handles.writer.database.isTransaction) {
        this.#endTurn?.()
        this.#endTurn = undefined
      }
    }
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      return await this.#execute<Row>(query)
    } catch (error) {
      this.#onFailure(error)
      throw error
    }
  }

  async #execute<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#endTurn) return run<Row>(this.#handles.writer, query)
    if (readsOnly.test(query.sql)) return run<Row>(this.#handles.reader, query)
    const endTurn = await this.#takeTurn()
    try {
      return run<Row>(this.#handles.writer, query)
    } finally {
      endTurn()
    }
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not offered: page by key instead')
  }
}

function run<Row>(handle: SqliteHandle, query: CompiledQuery): QueryResult<Row> {
  const statement = handle.prepare(query.sql)
  const parameters = query.parameters.map(toSqlite)
  if (statement.columns().length > 0) return { rows: statement.all(...parameters) as Row[] }
  const { changes } = statement.run(...parameters)
  return { rows: [], numAffectedRows: BigInt(changes) }
}

const toSqlite = (value: unknown): SQLInputValue =>
  typeof value === 'boolean' ? Number(value) : (value as SQLInputValue)
