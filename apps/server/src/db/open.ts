import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
} from 'kysely'
import type { Database } from './engine.ts'
import { KeywardPostgresDialect } from './postgres/driver.ts'
import { postgresEngine, readList } from './postgres/engine.ts'
import { PostgresPool } from './postgres/pool.ts'
import { SlowQueries } from './slow-queries.ts'
import { requireRoomToOpen } from './sqlite/data-dir.ts'
import { KeywardSqliteDialect, openSqlite, type SqliteHandles, sqliteEngine } from './sqlite/dialect.ts'
import { ListThreads, SqliteThread } from './sqlite/thread.ts'
import { setOwnConnection } from './statements.ts'
import { StorageRoom } from './storage-room.ts'
import type { Tables } from './tables.ts'

/** What `db` itself and tests know of an open database. */
export type OpenDatabase =
  | (Database & { dialect: 'sqlite'; handles: SqliteHandles; path: string })
  | (Database & { dialect: 'postgres'; pool: PostgresPool })

export function openDatabase(where: { url: string | undefined; dataDir: string }): OpenDatabase {
  return where.url === undefined ? openEmbedded(where.dataDir) : openPostgres(where.url)
}

function openEmbedded(dataDir: string): OpenDatabase {
  requireRoomToOpen(dataDir)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'keyward.db')
  // Create the file with mode 0600 first: SQLite would make it readable for others.
  closeSync(openSync(path, 'a', 0o600))
  const handles = openSqlite(path)
  const room = new StorageRoom(dataDir)
  const slow = new SlowQueries()
  const dialect = new KeywardSqliteDialect(handles, { onFailure: (error) => room.note(error), slow })
  const db = new Kysely<Tables>({ dialect })
  setOwnConnection(db, dialect.connect())
  const threads = new ListThreads(() => new SqliteThread({ path, readOnly: true }), slow, handles.reader)
  const lists = listsOf(dialect, (text, values) => threads.read(text, values))
  const counts = listsOf(dialect, (text, values) => threads.readSteady(text, values))
  return {
    dialect: 'sqlite',
    db,
    lists,
    counts,
    engine: sqliteEngine(handles.reader, db, threads),
    room,
    slow,
    handles,
    path,
    close: async () => {
      await threads.close()
      await db.destroy()
      handles.reader.close()
      handles.writer.close()
    },
  }
}

function openPostgres(url: string): OpenDatabase {
  const pool = new PostgresPool(url)
  const dialect = new KeywardPostgresDialect(pool)
  const db = new Kysely<Tables>({ dialect })
  const lists = listsOf(dialect, (text, values) => readList(pool, text, values))
  const engine = postgresEngine(pool, url, db)
  const { room, slow } = pool
  return {
    dialect: 'postgres',
    db,
    lists,
    counts: lists,
    engine,
    room,
    slow,
    pool,
    close: () => db.destroy(),
  }
}

const listsOf = (engine: Dialect, read: ReadRows) =>
  new Kysely<Tables>({ dialect: new ListDialect(engine, read) })

/** Runs a read of lists on an engine. */
type ReadRows = (text: string, values: readonly unknown[]) => Promise<unknown[]>

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
