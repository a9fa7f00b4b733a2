import type { SQLInputValue } from 'node:sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from 'kysely'
import { CommitCounter } from './commit-counter.ts'
import { CommitGroups, NeighborFailedError } from './commit-groups.ts'
import { SqliteHandle, type SqliteResult } from './handle.ts'
import { markedTransaction, type Transaction } from './transactions.ts'

/** The two connections of an embedded database: one that writes, one that sees only what is committed. */
export interface SqliteHandles {
  writer: SqliteHandle
  reader: SqliteHandle
  commits: CommitCounter
}

export function openSqlite(path: string): SqliteHandles {
  const writer = new SqliteHandle(path, { readOnly: false })
  const reader = new SqliteHandle(path, { readOnly: true })
  return { writer, reader, commits: new CommitCounter(writer, reader) }
}

type OnFailure = (error: unknown) => void

/** Kysely over `node:sqlite`: statements are kept, transactions are immediate, take turns and share commits. */
export class NodeSqliteDialect implements Dialect {
  readonly #driver: NodeSqliteDriver

  constructor(handles: SqliteHandles, onFailure: OnFailure = () => {}) {
    this.#driver = new NodeSqliteDriver(handles, onFailure)
  }

  createDriver = (): Driver => this.#driver
  createQueryCompiler = () => new SqliteQueryCompiler()
  createAdapter = () => new ManyConnectionsAdapter()
  createIntrospector = (db: ConstructorParameters<typeof SqliteIntrospector>[0]) => new SqliteIntrospector(db)

  /** A connection for queries outside of transactions. */
  connect = (): DatabaseConnection => this.#driver.connect()
}

/** The driver manages its own connections; reads need not wait until a transaction has ended. */
export class ManyConnectionsAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

class NodeSqliteDriver implements Driver {
  readonly #handles: SqliteHandles
  readonly #onFailure: OnFailure
  readonly #groups: CommitGroups

  constructor(handles: SqliteHandles, onFailure: OnFailure) {
    this.#handles = handles
    this.#onFailure = onFailure
    this.#groups = new CommitGroups(handles.writer, onFailure)
  }

  async init() {}

  async acquireConnection() {
    return this.connect()
  }

  connect(): NodeSqliteConnection {
    return new NodeSqliteConnection(this.#handles, this.#groups, this.#onFailure)
  }

  async beginTransaction(connection: DatabaseConnection, { accessMode }: TransactionSettings) {
    await (connection as NodeSqliteConnection).begin({ isLong: accessMode === markedTransaction })
  }

  async commitTransaction(connection: DatabaseConnection) {
    await (connection as NodeSqliteConnection).end('release')
  }

  async rollbackTransaction(connection: DatabaseConnection) {
    await (connection as NodeSqliteConnection).end('rollback')
  }

  async releaseConnection() {}

  async destroy() {
    await this.#groups.close()
    this.#handles.reader.close()
    this.#handles.writer.close()
  }
}

/** What long work asks of its connection between two slices. */
export interface Pacing {
  readonly othersWait: boolean
  untilLogIsShort(): Promise<void>
}

const readsOnly = /^\s*(select|with|explain)\b/i
const mostAttempts = 5

class NodeSqliteConnection implements DatabaseConnection, Pacing {
  readonly #handles: SqliteHandles
  readonly #groups: CommitGroups
  readonly #onFailure: OnFailure
  #transaction: Transaction | undefined

  constructor(handles: SqliteHandles, groups: CommitGroups, onFailure: OnFailure) {
    this.#handles = handles
    this.#groups = groups
    this.#onFailure = onFailure
  }

  async begin({ isLong }: { isLong: boolean }): Promise<void> {
    this.#transaction = await this.#groups.begin(isLong)
  }

  async end(how: 'release' | 'rollback'): Promise<void> {
    await this.#transaction?.end(how)
  }

  get othersWait(): boolean {
    return this.#groups.othersWait
  }

  untilLogIsShort(): Promise<void> {
    return this.#groups.untilLogIsShort()
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      const result = this.#run(sql, parameters.map(toSqlite))
      return toQueryResult<Row>(result instanceof Promise ? await result : result)
    } catch (error) {
      this.#onFailure(error)
      throw error
    }
  }

  #run(text: string, parameters: SQLInputValue[]): SqliteResult | Promise<SqliteResult> {
    if (this.#transaction) return this.#transaction.run(text, parameters)
    if (readsOnly.test(text)) return this.#handles.reader.run(text, parameters)
    return this.#runAgain(text, parameters)
  }

  /** Repeats a statement whose commit failed because of a neighbor. */
  async #runAgain(text: string, parameters: SQLInputValue[]): Promise<SqliteResult> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#runAlone(text, parameters)
      } catch (error) {
        if (attempt >= mostAttempts || !(error instanceof NeighborFailedError)) throw error
      }
    }
  }

  async #runAlone(text: string, parameters: SQLInputValue[]): Promise<SqliteResult> {
    const transaction = await this.#groups.begin(false)
    try {
      const result = await transaction.run(text, parameters)
      await transaction.end('release')
      return result
    } catch (error) {
      await transaction.end('rollback')
      throw error
    }
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not offered: page by key instead')
  }
}

const toQueryResult = <Row>({ rows, changes }: SqliteResult): QueryResult<Row> =>
  rows.length > 0 ? { rows: rows as Row[] } : { rows: [], numAffectedRows: BigInt(changes) }

const toSqlite = (value: unknown): SQLInputValue =>
  typeof value === 'boolean' ? Number(value) : (value as SQLInputValue)
