// ADR 26: a server that does not respond blocks no caller.
import pg from 'pg'
import { DatabaseUnavailableError } from '../failure.ts'
import { SlowQueries } from '../slow-queries.ts'
import { StorageRoom } from '../storage-room.ts'
import { Batch, type BatchResult } from './batch.ts'
import { PostgresClient, sessionLimits } from './client.ts'
import { clientClassOf } from './connect.ts'
import { asConnectError, asUnavailable, doesNotAnswer, isBlocked, isConnectionFault } from './errors.ts'
import { PendingLists } from './pending-lists.ts'
import { endOrTimeOut, hasEnded, isDirect } from './probe.ts'
import { SharedConnections } from './shared-connections.ts'
import { StatementNames } from './statement-names.ts'
import { patienceMs, Waits } from './waits.ts'

// Counts and times fit a double; pg would return them as strings.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number)

/** A busy pool is waited for longer than a server that does not respond, which the probe finds within four seconds. */
const checkouts = { max: 8, longestWaitMs: 10_500, connectMs: 10_000 }
const endMs = 2000
const retryMs = 250

const mayFlush = `select coalesce(bool_and(has_function_privilege(oid, 'execute')), false) as may
  from pg_proc where proname = 'pg_logical_emit_message'`

/** The connection pool of PostgreSQL. */
export class PostgresPool {
  readonly room = new StorageRoom()
  readonly slow = new SlowQueries()
  readonly names = new StatementNames()
  readonly waits: Waits
  readonly pending = new PendingLists((query) => this.query(query))
  readonly #url: string
  readonly #pool: pg.Pool
  readonly #shared: SharedConnections
  readonly #direct = new WeakMap<pg.ClientBase, boolean>()
  #canFlushLater: boolean | undefined
  #isEnding = false

  constructor(url: string) {
    this.#url = url
    this.waits = new Waits(url)
    this.waits.standby.onChange = (isAway) => this.room.noteStandby(isAway)
    this.#pool = new pg.Pool({
      Client: clientClassOf(url),
      max: checkouts.max,
      connectionTimeoutMillis: checkouts.connectMs,
    })
    // A lost connection must not crash the process: its query fails, and the next one opens another.
    this.#pool.on('error', () => {})
    this.#pool.on('connect', (client) => client.on('error', () => {}))
    this.#shared = new SharedConnections({
      url,
      connectMs: checkouts.connectMs,
      watch: (connecting) => this.waits.watch(undefined, connecting, checkouts.longestWaitMs),
      isDirect: (client) => this.isDirect(client),
    })
  }

  connections(): { open: number; idle: number; awaited: number } {
    const { totalCount: open, idleCount: idle, waitingCount: awaited } = this.#pool
    return { open, idle, awaited }
  }

  async connect(): Promise<PostgresClient> {
    if (this.waits.isDown) throw doesNotAnswer()
    const connecting = this.#pool.connect()
    let isLate = false
    try {
      const client = await this.waits.watch(undefined, connecting, checkouts.longestWaitMs)
      return new PostgresClient(this, client)
    } catch (error) {
      isLate = true
      throw asConnectError(error)
    } finally {
      if (isLate) void connecting.then((client) => client.release(this.waits.isDown)).catch(() => {})
    }
  }

  /** Runs one statement. */
  async query(query: { text: string; values: unknown[] }): Promise<pg.QueryResult> {
    const client = await this.connect()
    try {
      return await client.query(query)
    } finally {
      client.release()
    }
  }

  /**
   * A read of at most one row by an index. The statement is prepared, except behind a pooler, which shares connections.
   * The row arrives as one JSON text: the driver takes several times as long for many columns.
   */
  reader(name: string, columns: string): (...values: unknown[]) => Promise<object | undefined> {
    const text = `select to_json(one) as one from (${columns}) one`
    return async (...values) => {
      if (this.waits.isDown || this.#isEnding) throw doesNotAnswer()
      const client = await this.#shared.next().catch((error) => {
        throw asConnectError(error)
      })
      const { rows } = client
        ? await this.#readShared(client, { name, text, values })
        : await this.query({ text, values })
      return rows[0]?.one
    }
  }

  async #readShared(client: pg.Client, query: pg.QueryConfig): Promise<pg.QueryResult> {
    try {
      return await this.run(client, query, undefined, checkouts.longestWaitMs)
    } catch (error) {
      if (!isBlocked(error) && !(error instanceof DatabaseUnavailableError)) throw error
      this.#shared.drop(client)
      throw asUnavailable(error)
    }
  }

  /** Runs a query on a connection of this pool; only for `PostgresClient`. */
  run(client: pg.ClientBase, query: Batch): Promise<readonly BatchResult[]>
  run(
    client: pg.ClientBase,
    query: string | pg.QueryConfig,
    values?: unknown[],
    longestMs?: number,
  ): Promise<pg.QueryResult>
  async run(
    client: pg.ClientBase,
    query: string | pg.QueryConfig | Batch,
    values?: unknown[],
    longestMs?: number,
  ) {
    const began = performance.now()
    try {
      const answer = query instanceof Batch ? client.query(query).done : client.query(query, values)
      // A read on shared connections has a limit of its own.
      const mayCommit = longestMs === undefined && !(query instanceof Batch && query.isReadOnly)
      const result = await this.waits.watch<readonly BatchResult[] | pg.QueryResult>(
        client,
        answer,
        longestMs,
        mayCommit,
      )
      this.waits.noteSuccess()
      return result
    } catch (error) {
      if (error instanceof pg.DatabaseError) this.waits.noteAnswer()
      this.room.note(error)
      throw isConnectionFault(error) ? asUnavailable(error) : error
    } finally {
      this.slow.note(() => textOf(query), performance.now() - began)
    }
  }

  async isDirect(client: pg.ClientBase): Promise<boolean> {
    const known = this.#direct.get(client)
    if (known !== undefined) return known
    const found = await isDirect(client, (text) => this.run(client, text))
    if (found) await this.run(client, sessionLimits)
    this.#direct.set(client, found)
    return found
  }

  /** Whether `flush` may be used; not every provider offers all functions. */
  async canFlushLater(client: pg.ClientBase): Promise<boolean> {
    if (this.#canFlushLater === undefined) {
      const { rows } = await this.run(client, mayFlush)
      this.#canFlushLater = rows[0]?.may === true
    }
    return this.#canFlushLater
  }

  askAgainToFlushLater(): void {
    this.#canFlushLater = undefined
  }

  /** Waits for the end of a transaction on a broken connection; returns whether it has ended. */
  async untilEnded(id: string): Promise<boolean> {
    const until = performance.now() + patienceMs
    while (performance.now() < until && !this.#isEnding) {
      if (await hasEnded(this.#url, id).catch(() => false)) return true
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
    return false
  }

  /** The number of open connections and of waiting callers. */
  get counts(): { open: number; waiting: number } {
    return { open: this.#pool.totalCount + this.#shared.count, waiting: this.waits.count }
  }

  async end(): Promise<void> {
    this.#isEnding = true
    this.waits.end()
    this.pending.end()
    await Promise.all([endOrTimeOut(this.#pool, endMs), this.#shared.end(endMs)])
  }
}

const textOf = (query: string | pg.QueryConfig | Batch): string => {
  if (query instanceof Batch) return query.statements.map(({ text }) => text).join('; ')
  return typeof query === 'string' ? query : query.text
}
