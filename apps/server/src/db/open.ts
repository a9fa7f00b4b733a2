import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  PostgresAdapter,
  sql,
} from 'kysely'
import pg from 'pg'
import { CommitInDoubtError, DatabaseUnavailableError, isUndoneByPostgres } from './failure.ts'
import { ListDialect, type ReadRows } from './lists/dialect.ts'
import { forgetOwnConnection, ownConnectionOf, setOwnConnection } from './own-connections.ts'
import { KeywardPostgresDialect, type PostgresConnection } from './postgres/driver.ts'
import { readList } from './postgres/lists.ts'
import { PostgresPool } from './postgres/pool.ts'
import { patienceMs } from './postgres/waits.ts'
import { NeighborFailedError } from './sqlite/commit-groups.ts'
import { NodeSqliteDialect, openSqlite, type Pacing, type SqliteHandles } from './sqlite/dialect.ts'
import { ListThreads } from './sqlite/list-threads.ts'
import { SqliteThread } from './sqlite/thread.ts'
import { markedTransaction } from './sqlite/transactions.ts'
import { StorageRoom } from './storage-room.ts'
import type { Db, Tables, Tx } from './tables.ts'

interface Common {
  db: Kysely<Tables>
  /**
   * For lists and searches. On SQLite a separate thread, so that a slow query does not block the server; on PostgreSQL
   * with a time limit.
   */
  lists: Kysely<Tables>
  room: StorageRoom
  close(): Promise<void>
}

/** An open database; code that differs between the engines checks `dialect`. */
export type Database =
  | (Common & { dialect: 'sqlite'; handles: SqliteHandles; path: string })
  | (Common & { dialect: 'postgres'; pool: PostgresPool })

// Counts and times fit a double; pg would return them as strings.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number)

export function openDatabase(where: { url: string | undefined; dataDir: string }): Database {
  return where.url === undefined ? openEmbedded(where.dataDir) : openPostgres(where.url)
}

function openEmbedded(dataDir: string): Database {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'keyward.db')
  // Create the file with mode 0600 first: SQLite would make it readable for others.
  closeSync(openSync(path, 'a', 0o600))
  const handles = openSqlite(path)
  const room = new StorageRoom(dataDir)
  const dialect = new NodeSqliteDialect(handles, (error) => room.note(error))
  const db = new Kysely<Tables>({ dialect })
  setOwnConnection(db, dialect.connect())
  const threads = new ListThreads(() => new SqliteThread({ path, readOnly: true }))
  const lists = listsOf(dialect, (text, values) => threads.read(text, values))
  return {
    dialect: 'sqlite',
    db,
    lists,
    room,
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

function openPostgres(url: string): Database {
  const pool = new PostgresPool(url)
  const dialect = new KeywardPostgresDialect(pool)
  const db = new Kysely<Tables>({ dialect })
  const lists = listsOf(dialect, (text, values) => readList(pool, text, values))
  return { dialect: 'postgres', db, lists, room: pool.room, pool, close: () => db.destroy() }
}

const listsOf = (engine: Dialect, read: ReadRows) =>
  new Kysely<Tables>({ dialect: new ListDialect(engine, read) })

const serializationFailure = '40001'
const deadlockDetected = '40P01'

export interface TransactionOptions {
  /** The transaction has many rows. On SQLite another thread runs it, and its commit is not shared with others. */
  isLong?: boolean
  /**
   * It waits while PostgreSQL does not respond, and is repeated if PostgreSQL undid it. Other transactions fail then,
   * within five seconds.
   */
  isPatient?: boolean
}

const manyRows = 50
const retryMs = 250

/** Options of a transaction that changes this many rows. */
export const forRows = (count: number): TransactionOptions => ({ isLong: count > manyRows })

/** The same if its caller must not have to guess whether it was committed. */
export const patientForRows = (count: number): TransactionOptions => ({ ...forRows(count), isPatient: true })

/**
 * Runs `work` in one transaction; retries serialization failures, deadlocks, and after the failure of a transaction
 * with the same commit. `isStored` reads whether the rows of a patient one exist, after its commit got no response;
 * without it, or without rows, such a transaction must not change anything when it is repeated.
 */
export async function transact<T>(
  db: Kysely<Tables>,
  work: (tx: Tx) => Promise<T>,
  { isLong = false, isPatient = false }: TransactionOptions = {},
  isStored: (result: T) => Promise<boolean> = async () => false,
): Promise<T> {
  const isMarked = needsLocks(db) ? isPatient : isLong
  const transaction = isMarked ? db.transaction().setAccessMode(markedTransaction) : db.transaction()
  const patientUntil = performance.now() + (isPatient ? patienceMs : 0)
  for (let attempt = 1; ; attempt += 1) {
    let done: { result: T } | undefined
    try {
      return await transaction.execute(async (tx) => {
        const result = await withOwnConnection(tx, work)
        done = { result }
        return result
      })
    } catch (error) {
      if (done && error instanceof CommitInDoubtError && error.hasEnded) {
        const { result } = done
        if (await readPatiently(() => isStored(result))) return result
      } else if (isUndoneByPostgres(error) && performance.now() < patientUntil) {
        attempt -= 1
        await pause(retryMs)
        continue
      } else if (!isTransient(error)) throw error
      if (attempt >= 6) throw error
      // Callers of long ones rely on it, see `inSlices`.
      if (isLong && error instanceof NeighborFailedError) throw error
      await pause(Math.random() * 10 * 2 ** attempt)
    }
  }
}

async function withOwnConnection<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  setOwnConnection(tx, await connectionOf(tx))
  try {
    return await work(tx)
  } finally {
    forgetOwnConnection(tx)
  }
}

/** Repeats a read while connections break or PostgreSQL does not respond, for at most a minute. */
export async function readPatiently<T>(read: () => Promise<T>): Promise<T> {
  const until = performance.now() + patienceMs
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError) || performance.now() > until) throw error
      await pause(retryMs)
    }
  }
}

const connectionOf = async (tx: Tx): Promise<DatabaseConnection> =>
  ownConnectionOf(tx) ?? tx.getExecutor().provideConnection(async (connection) => connection)

type RowsOf<Queries extends readonly CompiledQuery[]> = {
  -readonly [At in keyof Queries]: Queries[At] extends CompiledQuery<infer Row> ? Row[] : never
}

/** Runs queries one after the other, on PostgreSQL in one round trip; returns the rows of each. */
export async function readTogether<const Queries extends readonly CompiledQuery[]>(
  tx: Tx,
  queries: Queries,
): Promise<RowsOf<Queries>> {
  const connection = await connectionOf(tx)
  if (needsLocks(tx)) {
    const results = await (connection as PostgresConnection).executeTogether(queries)
    return results.map(({ rows }) => rows) as RowsOf<Queries>
  }
  const found = []
  for (const query of queries) found.push((await connection.executeQuery(query)).rows)
  return found as RowsOf<Queries>
}

/**
 * Runs queries whose outcome nothing else in the transaction needs. PostgreSQL receives them together with the next
 * query, which also throws their errors.
 */
export async function runBeforeNext(tx: Tx, queries: readonly CompiledQuery[]): Promise<void> {
  const connection = await connectionOf(tx)
  if (needsLocks(tx)) return (connection as PostgresConnection).executeLater(queries)
  for (const query of queries) await connection.executeQuery(query)
}

/**
 * Runs the last statements of a transaction. PostgreSQL receives them together with the COMMIT, so that it keeps their
 * locks for no further round trip; they fail when the transaction ends.
 */
export async function runLast(
  tx: Tx,
  queries: AsyncIterable<CompiledQuery>,
  areContended: boolean,
): Promise<void> {
  if (!needsLocks(tx)) return runAhead(tx, queries)
  const statements: CompiledQuery[] = []
  for await (const query of queries) statements.push(query)
  const connection = (await connectionOf(tx)) as PostgresConnection
  await connection.endWith(statements, areContended)
}

/** Hands statements of a long transaction to its thread without waiting for each: others wait for all of them. */
async function runAhead(tx: Tx, queries: AsyncIterable<CompiledQuery>): Promise<void> {
  const connection = await connectionOf(tx)
  const running: Promise<unknown>[] = []
  for await (const query of queries) {
    const ran = connection.executeQuery(query)
    // The first failure is thrown below.
    ran.catch(() => {})
    running.push(ran)
  }
  await Promise.all(running)
}

/** Whether other transactions wait until this one ends, as they do on SQLite. */
export async function othersWait(tx: Tx): Promise<boolean> {
  if (needsLocks(tx)) return false
  return ((await connectionOf(tx)) as DatabaseConnection & Pacing).othersWait
}

/** Waits before a slice of long work, for some seconds at most, while a reader keeps SQLite's log too long. */
export async function untilLogIsShort(db: Kysely<Tables>): Promise<void> {
  if (needsLocks(db)) return
  await db
    .getExecutor()
    .provideConnection((connection) => (connection as DatabaseConnection & Pacing).untilLogIsShort())
}

function isTransient(error: unknown): boolean {
  if (error instanceof NeighborFailedError) return true
  const { code } = error as { code?: unknown }
  return code === serializationFailure || code === deadlockDetected
}

/**
 * `owner_id` wrapped in an expression, for rows that are found by id: without statistics, SQLite would otherwise
 * prefer the owner's index and scan all of the owner's rows.
 */
export const ownerOf = (table: string) => sql<string>`coalesce(${sql.ref(`${table}.owner_id`)}, '')`

/**
 * Whether a column of texts has one of the values. On PostgreSQL they are one parameter, so that slices of any length
 * share a prepared statement.
 */
export const isIn = (db: Db, column: string, values: readonly string[]) =>
  needsLocks(db)
    ? sql<boolean>`${sql.ref(column)} = any(${values})`
    : sql<boolean>`${sql.ref(column)} in (${sql.join(values)})`

/**
 * Whether rows need locks: PostgreSQL runs write transactions at once, SQLite one after the other. Lock several rows
 * in the order of their ids, because callers would deadlock otherwise.
 */
export const needsLocks = (db: Db): boolean => db.getExecutor().adapter instanceof PostgresAdapter

/**
 * Locks the rows that a query returns until the transaction ends. Others can still insert rows that refer to them,
 * which FOR UPDATE would prevent.
 */
export const locked = <Query extends { forNoKeyUpdate(): Query }>(tx: Db, query: Query): Query =>
  needsLocks(tx) ? query.forNoKeyUpdate() : query

/** Whether a write failed because of a unique constraint. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  const [sqliteUnique, sqlitePrimaryKey, postgresUnique] = [2067, 1555, '23505']
  return code === postgresUnique || errcode === sqliteUnique || errcode === sqlitePrimaryKey
}

/** For `catch` after a write: throws `taken()` instead of a unique violation. */
export const ifTaken =
  (taken: () => Error) =>
  (error: unknown): never => {
    throw isUniqueViolation(error) ? taken() : error
  }

/** For `catch` after a write: throws `gone()` if the row that it belongs to was deleted meanwhile. */
export const ifGone =
  (gone: () => Error) =>
  (error: unknown): never => {
    const postgresForeignKey = '23503'
    throw (error as { code?: unknown }).code === postgresForeignKey ? gone() : error
  }

export type { Db, Tx }
