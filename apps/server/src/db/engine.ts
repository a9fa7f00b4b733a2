import type { CompiledQuery, DatabaseConnection, DialectAdapter, Kysely, RawBuilder } from 'kysely'
import type { SlowQueries } from './slow-queries.ts'
import type { StorageRoom } from './storage-room.ts'
import type { Db, Tables } from './tables.ts'

/** An open database. */
export interface Database {
  /** For short reads outside a transaction. */
  db: Kysely<Tables>
  /** For lists, searches and reports: a slow one stops no other request. */
  lists: Kysely<Tables>
  /** For lists whose time depends on the data of an account and not on values: short ones are read at once. */
  counts: Kysely<Tables>
  engine: Engine
  room: StorageRoom
  slow: SlowQueries
  close(): Promise<void>
}

/** What each engine offers the server in its own way. */
export interface Engine {
  /** How many writes of programs, and requests of one account, run at once without slowing down checks. */
  readonly programWritesMost: number
  readonly requestsMost: number
  /**
   * Prepares a frequent read of at most one row, whose text has a `?` for each value. An engine in this process answers at
   * once: a promise for each read costs time.
   */
  prepareRead(name: string, text: string): PreparedRead
  /** Changes with every commit; undefined if asking would take a round trip. */
  readonly commits: CommitCount | undefined
  /** Resolves if the database answers, even while slow statements occupy most connections. */
  probe(): Promise<unknown>
  /** Lists that wait for a turn; an engine without threads of its own has none. */
  waitingLists?(): number
  /** The connections of a pool; an engine in this process has none. */
  connections?(): { open: number; idle: number; awaited: number }
  /** Carries messages to all nodes. */
  openFeed(options: FeedOptions): Feed
  /** Computes the statistics of tables that need it, and returns their names. */
  updateStatistics(): Promise<string[]>
}

/** A read that its engine answers at once. */
type DirectRead = (...values: string[]) => object | undefined
export type PreparedRead = DirectRead | ((...values: string[]) => Promise<object | undefined>)

export interface CommitCount {
  countCommits(): number
  /** Such an engine answers at once. */
  prepareRow(text: string): DirectRead
}

export interface FeedOptions {
  /** Called for a message from any node, including this one. */
  onMessage: (message: string) => void
  /** Called when messages may have been missed. */
  onGap: () => void
  onError: (error: unknown) => void
}

export interface Feed {
  /** Resolves after the first attempt; a failed one is retried in the background. */
  start(): Promise<void>
  send(messages: Iterable<string>): void
  stop(): Promise<void>
}

/** How the statements of an engine are written, and how its transactions share the database. */
export interface Syntax {
  /** The text of the parameter at this place of a statement, from 1. */
  parameter(at: number): string
  /** The function that converts letters of any language to lower case. */
  readonly lower: string
  /** Whether a column of texts has one of the values. */
  isIn(column: string, values: readonly string[]): RawBuilder<boolean>
  /** The same for a prepared query and a column of either type, with the values as JSON. */
  isAmong(column: string, values: unknown, type: 'text' | 'bigint'): RawBuilder<boolean>
  /** The rows of a large insert, if the engine has a shorter form than a parameter for each cell. */
  rowsOf?(table: string, rows: readonly object[]): RawBuilder<unknown>
  /**
   * Whether write transactions run at once, so that rows must be locked. Otherwise each keeps all others waiting, and long
   * work lets them pass.
   */
  readonly locksRows: boolean
  /** Which index finds texts: a full-text index with rows of its own, or trigrams of the columns. */
  readonly searchIndex: 'full text' | 'trigrams'
  /** A text as the indexes of beginnings compare it: byte by byte. */
  inBytes(text: RawBuilder<string>): RawBuilder<string>
  /** A table whose rows are read by one of its indexes, for an engine that keeps no statistics to choose it. */
  indexed(table: string, alias: string, index: string): string
  readonly pace: Pace
}

/** How long work is divided. */
export interface Pace {
  /** Target duration of a part's statements: other writes wait for it, or those to its rows. */
  partMs: number
  /** So many parts share a transaction while no other write waits. */
  partsMost: number
  /** Lets other requests run between two slices; answering one takes several turns of the event loop. */
  pauseMs: number
  /** So many slices may wait for the disk while the next one runs. */
  unsyncedMost: number
}

interface EngineAdapter extends DialectAdapter {
  readonly syntax: Syntax
}

export const syntaxOf = (db: Db): Syntax => (db.getExecutor().adapter as EngineAdapter).syntax

export interface BeginOptions {
  /** It reads or writes many rows: the embedded database runs it on another thread, with a commit of its own. */
  isLong: boolean
  /** It waits while the database does not respond. */
  isPatient: boolean
}

/** What a connection of either engine offers. */
export interface EngineConnection extends DatabaseConnection {
  /** How its next transaction begins. */
  beginAs: BeginOptions | undefined
  /** Runs statements one after the other, if possible in one round trip. */
  executeTogether(queries: readonly CompiledQuery[]): Promise<readonly { rows: unknown[] }[]>
  /** Runs statements with the next one at the latest. */
  executeLater(queries: readonly CompiledQuery[]): Promise<void>
  /** Runs the last statements of a transaction, with its end at the latest; returns those known to have changed nothing. */
  executeLast(
    queries: AsyncIterable<CompiledQuery>,
    areContended: boolean,
  ): Promise<ReadonlySet<CompiledQuery>>
  /** Whether other transactions wait until this one ends. */
  readonly othersWait: boolean
  /** Waits until the database has caught up with earlier commits, for some seconds at most. */
  untilReady(): Promise<void>
}
