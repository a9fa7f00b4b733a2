// ADR 2: two connections, one that writes and one that sees only what is committed.

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
  sql,
} from 'kysely'
import type { BeginOptions, Database, Engine, EngineConnection, FeedOptions, Syntax } from '../engine.ts'
import { isSqliteReadOnly, NeighborFailedError } from '../failure.ts'
import type { SlowQueries } from '../slow-queries.ts'
import { CommitGroups } from './commit-groups.ts'
import { SqliteHandle, SqliteReader, type SqliteResult } from './handle.ts'
import type { ListThreads } from './thread.ts'
import type { Transaction } from './transactions.ts'

/** The two connections of an embedded database: one that writes, one that sees only what is committed. */
export interface SqliteHandles {
  writer: SqliteHandle
  reader: SqliteReader
}

export function openSqlite(path: string): SqliteHandles {
  const writer = new SqliteHandle(path, { readOnly: false })
  return { writer, reader: new SqliteReader(path, writer) }
}

interface Observers {
  onFailure: (error: unknown) => void
  slow: SlowQueries
}

/** Kysely over SQLite: statements are kept, transactions are immediate, take turns and share commits. */
export class KeywardSqliteDialect implements Dialect {
  readonly #driver: KeywardSqliteDriver

  constructor(handles: SqliteHandles, observers: Observers) {
    this.#driver = new KeywardSqliteDriver(handles, observers)
  }

  createDriver = (): Driver => this.#driver
  createQueryCompiler = () => new SqliteQueryCompiler()
  createAdapter = () => new KeywardSqliteAdapter()
  createIntrospector = (db: ConstructorParameters<typeof SqliteIntrospector>[0]) => new SqliteIntrospector(db)

  /** A connection for queries outside of transactions. */
  connect = (): EngineConnection => this.#driver.connect()
}

class KeywardSqliteAdapter extends SqliteAdapter {
  readonly syntax = sqliteSyntax

  /** The driver manages its own connections; reads need not wait until a transaction has ended. */
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

class KeywardSqliteDriver implements Driver {
  readonly #handles: SqliteHandles
  readonly #observers: Observers
  readonly #groups: CommitGroups

  constructor(handles: SqliteHandles, observers: Observers) {
    this.#handles = handles
    this.#observers = observers
    this.#groups = new CommitGroups(handles.writer, observers.onFailure)
  }

  async init() {}

  async acquireConnection() {
    return this.connect()
  }

  connect(): KeywardSqliteConnection {
    return new KeywardSqliteConnection(this.#handles, this.#groups, this.#observers)
  }

  async beginTransaction(connection: DatabaseConnection) {
    await (connection as KeywardSqliteConnection).begin()
  }

  async commitTransaction(connection: DatabaseConnection) {
    await (connection as KeywardSqliteConnection).end('release')
  }

  async rollbackTransaction(connection: DatabaseConnection) {
    await (connection as KeywardSqliteConnection).end('rollback')
  }

  async releaseConnection() {}

  async destroy() {
    await this.#groups.close()
    this.#handles.reader.close()
    this.#handles.writer.close()
  }
}

const mostAttempts = 5

class KeywardSqliteConnection implements EngineConnection {
  beginAs: BeginOptions | undefined
  readonly #handles: SqliteHandles
  readonly #groups: CommitGroups
  readonly #observers: Observers
  #transaction: Transaction | undefined

  constructor(handles: SqliteHandles, groups: CommitGroups, observers: Observers) {
    this.#handles = handles
    this.#groups = groups
    this.#observers = observers
  }

  async begin(): Promise<void> {
    const { isLong = false } = this.beginAs ?? {}
    this.#transaction = await this.#groups.begin(isLong)
  }

  async end(how: 'release' | 'rollback'): Promise<void> {
    await this.#transaction?.end(how)
  }

  get othersWait(): boolean {
    return this.#groups.othersWait
  }

  /** A reader may keep the log too long. */
  untilReady(): Promise<void> {
    return this.#groups.untilLogIsShort()
  }

  async executeTogether(queries: readonly CompiledQuery[]): Promise<QueryResult<unknown>[]> {
    const results = []
    for (const query of queries) results.push(await this.executeQuery(query))
    return results
  }

  async executeLater(queries: readonly CompiledQuery[]): Promise<void> {
    await this.executeTogether(queries)
  }

  /** Does not wait for each statement: other transactions wait for all of them. */
  async executeLast(queries: AsyncIterable<CompiledQuery>) {
    const idle = new Set<CompiledQuery>()
    const running: Promise<void>[] = []
    for await (const query of queries) {
      const ran = this.executeQuery(query).then(({ numAffectedRows }) => {
        if (numAffectedRows === 0n) idle.add(query)
      })
      // The first failure is thrown below.
      ran.catch(() => {})
      running.push(ran)
    }
    await Promise.all(running)
    return idle
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const began = performance.now()
    try {
      const result = this.#run(query)
      return toQueryResult<Row>(result instanceof Promise ? await result : result)
    } catch (error) {
      this.#observers.onFailure(error)
      throw error
    } finally {
      this.#observers.slow.note(query.sql, performance.now() - began)
    }
  }

  #run({ sql, parameters, query }: CompiledQuery): SqliteResult | Promise<SqliteResult> {
    const values = parameters.map(toSqlite)
    if (this.#transaction) return this.#transaction.run(sql, values)
    if (query.kind === 'SelectQueryNode') return this.#handles.reader.run(sql, values)
    if (query.kind !== 'RawNode') return this.#runAgain(sql, values)
    try {
      return this.#handles.reader.run(sql, values)
    } catch (error) {
      // Only SQLite knows whether a statement that is written by hand changes something.
      if (!isSqliteReadOnly(error)) throw error
      return this.#runAgain(sql, values)
    }
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

// ADR 2: what SQLite does in its own way.

/** The embedded database, which this process alone serves. */
export const sqliteEngine = (
  reader: SqliteReader,
  db: Database['db'],
  threads: Pick<ListThreads, 'waiting'>,
): Engine => ({
  // They run on the server's thread, and checks wait for all that have begun.
  programWritesMost: 4,
  // They share a commit, which costs as much as several new licenses.
  requestsMost: 8,
  prepareRead: (_name, text) => reader.prepareRow(text),
  commits: reader,
  waitingLists: () => threads.waiting,
  probe: () => db.selectNoFrom((eb) => eb.lit(1).as('n')).execute(),
  openFeed: ({ onMessage }: FeedOptions) => ({
    start: async () => {},
    send: (messages) => {
      for (const message of messages) onMessage(message)
    },
    stop: async () => {},
  }),
  updateStatistics: async () => [],
})

// ADR 14: a transaction keeps all others waiting, so long work runs in short parts.
export const sqliteSyntax: Syntax = {
  parameter: () => '?',
  lower: 'lower_unicode',
  isIn: (column, values) => sql<boolean>`${sql.ref(column)} in (${sql.join(values)})`,
  isAmong: (column, values) =>
    sql<boolean>`${sql.ref(column)} in (select value from json_each(${values}) some)`,
  locksRows: false,
  searchIndex: 'full text',
  inBytes: (text) => text,
  indexed: (table, alias, index) => `${table} ${alias} indexed by ${index}`,
  // Several parts in one transaction write fewer pages for each row. More slices than these would let the disk fall
  // behind, fewer would let it rest.
  pace: { partMs: 5, partsMost: 3, pauseMs: 0, unsyncedMost: 4 },
}
