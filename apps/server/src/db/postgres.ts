import { setImmediate } from 'node:timers/promises'
import type { CompiledQuery } from 'kysely'
import pg from 'pg'
import { DatabaseUnavailableError, isPostgresReadOnly } from './failure.ts'
import { Batch, type BatchStatement } from './postgres-batch.ts'
import {
  asConnectError,
  asUnavailable,
  doesNotAnswer,
  isBlocked,
  isConnectionFault,
  isRefusal,
} from './postgres-errors.ts'
import { StatementNames } from './postgres-names.ts'
import { endOrTimeOut, filterRunning, isDirect, queryOnce } from './postgres-probe.ts'
import { SharedConnections } from './postgres-reads.ts'
import { StorageRoom } from './storage-room.ts'

/** A busy pool is waited for longer than a server that does not respond, which the probe finds within four seconds. */
const checkouts = { max: 8, longestWaitMs: 10_500, connectMs: 10_000 }
/** After waiting this long, the pool probes whether PostgreSQL still responds. */
const suspectAfterMs = 1000
const tickMs = 250
const retryMs = 500
/** A response on its way gets this long after the probe found that its query has ended. */
const arrivalMs = 500
const endMs = 2000
/** A slice of long work waits this long for a server that does not respond: it may only be busy. */
export const patienceMs = 60_000

// PostgreSQL keeps locks until the commit is on disk, so the callers of one row would commit one after the other.
// Instead the locks end with the commit, and then a message in the log, with the configured durability, waits until
// both are on disk, for all callers together.
const commitUnflushed = 'set local synchronous_commit = off'
const flush = "select pg_logical_emit_message(true, 'keyward', '')"
const mayFlush = `select coalesce(bool_and(has_function_privilege(oid, 'execute')), false) as may
  from pg_proc where proname = 'pg_logical_emit_message'`

/** The last statements of a transaction. */
export interface LastStatements {
  statements: readonly CompiledQuery[]
  /** They lock rows that many callers want. */
  areContended: boolean
}

interface Waiting {
  since: number
  /** How long the caller waits although PostgreSQL responds. */
  longestMs: number
  client: pg.ClientBase | undefined
  fail: (error: Error) => void
}

/**
 * The connection pool of PostgreSQL. A server that stops responding without closing connections would block every
 * caller forever. A slow query does not prove that, so a long wait starts a probe over a new connection.
 */
export class PostgresPool {
  readonly room = new StorageRoom()
  readonly names = new StatementNames()
  readonly #url: string
  readonly #pool: pg.Pool
  readonly #shared: SharedConnections
  readonly #waiting = new Set<Waiting>()
  readonly #direct = new WeakMap<pg.ClientBase, boolean>()
  readonly #patient = new WeakSet<pg.ClientBase>()
  #canFlushLater: boolean | undefined
  #lastAnswerAt = 0
  #isDown = false
  #isProbing = false
  #isEnding = false
  #timer: NodeJS.Timeout | undefined

  constructor(url: string) {
    this.#url = url
    this.#pool = new pg.Pool({
      connectionString: url,
      max: checkouts.max,
      connectionTimeoutMillis: checkouts.connectMs,
    })
    // A lost connection must not crash the process: its query fails, and the next one opens another.
    this.#pool.on('error', () => {})
    this.#pool.on('connect', (client) => client.on('error', () => {}))
    this.#shared = new SharedConnections({
      url,
      connectMs: checkouts.connectMs,
      watch: (connecting) => this.#watch(undefined, connecting, checkouts.longestWaitMs),
      isDirect: (client) => this.isDirect(client),
    })
  }

  async connect(): Promise<PostgresClient> {
    if (this.#isDown) throw doesNotAnswer()
    const connecting = this.#pool.connect()
    let isLate = false
    try {
      const client = await this.#watch(undefined, connecting, checkouts.longestWaitMs)
      return new PostgresClient(this, client)
    } catch (error) {
      isLate = true
      throw asConnectError(error)
    } finally {
      if (isLate) void connecting.then((client) => client.release(this.#isDown)).catch(() => {})
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
      if (this.#isDown || this.#isEnding) throw doesNotAnswer()
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
  run(client: pg.ClientBase, query: Batch): Promise<readonly string[]>
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
    try {
      const answer = query instanceof Batch ? client.query(query).done : client.query(query, values)
      const result = await this.#watch<readonly string[] | pg.QueryResult>(client, answer, longestMs)
      this.#lastAnswerAt = performance.now()
      this.#isDown = false
      return result
    } catch (error) {
      if (error instanceof pg.DatabaseError) this.#lastAnswerAt = performance.now()
      this.room.note(error)
      throw isConnectionFault(error) ? asUnavailable(error) : error
    }
  }

  async isDirect(client: pg.ClientBase): Promise<boolean> {
    const known = this.#direct.get(client)
    if (known !== undefined) return known
    const found = await isDirect(client, (text) => this.run(client, text))
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

  /** Whether queries on this connection wait for a server that does not respond. */
  setPatient(client: pg.ClientBase, isPatient: boolean): void {
    if (isPatient) this.#patient.add(client)
    else this.#patient.delete(client)
  }

  /** The number of open connections and of waiting callers. */
  get counts(): { open: number; waiting: number } {
    return { open: this.#pool.totalCount + this.#shared.count, waiting: this.#waiting.size }
  }

  async end(): Promise<void> {
    this.#isEnding = true
    clearTimeout(this.#timer)
    await Promise.all([endOrTimeOut(this.#pool, endMs), this.#shared.end(endMs)])
  }

  #watch<T>(
    client: pg.ClientBase | undefined,
    work: Promise<T>,
    longestMs = Number.POSITIVE_INFINITY,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting: Waiting = {
        since: performance.now(),
        longestMs,
        client,
        fail: (error) => {
          this.#waiting.delete(waiting)
          reject(error)
        },
      }
      this.#waiting.add(waiting)
      this.#schedule(tickMs)
      work.then(
        (result) => {
          this.#waiting.delete(waiting)
          resolve(result)
        },
        (error) => waiting.fail(error),
      )
    })
  }

  #schedule(ms: number): void {
    if (this.#timer || this.#isEnding) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.#check()
    }, ms)
    this.#timer.unref()
  }

  async #check(): Promise<void> {
    const now = performance.now()
    for (const waiting of [...this.#waiting])
      if (now - waiting.since >= waiting.longestMs) waiting.fail(doesNotAnswer())
    if (this.#isDown || this.#suspects().length > 0) await this.#probe()
    if (this.#isDown) this.#schedule(retryMs)
    else if (this.#waiting.size > 0) this.#schedule(tickMs)
  }

  #suspects(): Waiting[] {
    const before = performance.now() - suspectAfterMs
    return [...this.#waiting].filter(({ since }) => since < before)
  }

  async #probe(): Promise<void> {
    if (this.#isProbing) return
    this.#isProbing = true
    const startedAt = performance.now()
    const suspects = this.#suspects()
    try {
      const lost = await queryOnce(this.#url, (probe) => {
        this.#lastAnswerAt = performance.now()
        this.#isDown = false
        return this.#lostAmong(suspects, probe)
      })
      if (lost.length > 0) await new Promise((resolve) => setTimeout(resolve, arrivalMs))
      for (const waiting of lost) if (this.#waiting.has(waiting)) waiting.fail(doesNotAnswer())
    } catch (error) {
      // Timers run before sockets are read: a process that had no time has responses that it has not read.
      await setImmediate()
      // An error response, or a success of another caller, proves that the server responds: only connections are
      // short.
      if (isRefusal(error) || this.#lastAnswerAt > startedAt) return
      this.#isDown = true
      for (const waiting of [...this.#waiting])
        if (!this.#isPatient(waiting)) waiting.fail(doesNotAnswer(error))
    } finally {
      this.#isProbing = false
    }
  }

  #isPatient({ client, since }: Waiting): boolean {
    return client !== undefined && this.#patient.has(client) && performance.now() - since < patienceMs
  }

  /** Finds the waiting callers whose connection runs no query on the server, so that no response will come. */
  async #lostAmong(suspects: Waiting[], probe: pg.Client): Promise<Waiting[]> {
    const pids = suspects.flatMap(({ client }) => (client ? [pidOf(client)] : []))
    if (pids.length === 0) return []
    const running = await filterRunning(probe, pids)
    if (!running) return []
    return suspects.filter(({ client }) => client !== undefined && !running.has(pidOf(client)))
  }
}

/** A connection that is checked out; after one query got no response, further ones fail immediately. */
export class PostgresClient {
  readonly #pool: PostgresPool
  readonly #client: pg.PoolClient
  #isLost = false
  #isReadOnly = false

  constructor(pool: PostgresPool, client: pg.PoolClient) {
    this.#pool = pool
    this.#client = client
  }

  get processID(): number {
    return pidOf(this.#client)
  }

  async query(query: string | pg.QueryConfig, values?: readonly unknown[]): Promise<pg.QueryResult> {
    return this.#noting(async () =>
      this.#pool.run(this.#client, await this.#prepared(query, values), values && [...values]),
    )
  }

  /** Runs statements in one round trip; returns what they did, such as `UPDATE 1`. */
  async queryTogether(queries: readonly CompiledQuery[]): Promise<readonly string[]> {
    return this.#send(new Batch(await this.#named(queries)))
  }

  /** Runs the last statements of a transaction and its COMMIT in one round trip; returns what the COMMIT did. */
  async commit(last: LastStatements | undefined): Promise<string | undefined> {
    if (!last || last.statements.length === 0) return (await this.query('commit')).command
    const isEarly = last.areContended && (await this.#pool.canFlushLater(this.#client))
    const before = [...(await this.#named(last.statements)), ...(isEarly ? [{ text: commitUnflushed }] : [])]
    const batch = new Batch([...before, { text: 'commit' }, ...(isEarly ? [{ text: flush }] : [])])
    try {
      return (await this.#send(batch))[before.length]
    } catch (error) {
      if (batch.commands.length <= before.length) throw error
      // The account may have lost the permission.
      this.#pool.askAgainToFlushLater()
      throw new DatabaseUnavailableError('PostgreSQL did not confirm that the transaction is on disk')
    }
  }

  async #named(queries: readonly CompiledQuery[]): Promise<BatchStatement[]> {
    const named = []
    for (const { sql: text, parameters: values } of queries) {
      named.push({ name: await this.#nameOf(text, values), text, values })
    }
    return named
  }

  #send(batch: Batch): Promise<readonly string[]> {
    return this.#noting(() => this.#pool.run(this.#client, batch))
  }

  async #noting<T>(run: () => Promise<T>): Promise<T> {
    if (this.#isLost) throw doesNotAnswer()
    try {
      return await run()
    } catch (error) {
      this.#isLost ||= error instanceof DatabaseUnavailableError
      this.#isReadOnly ||= isPostgresReadOnly(error)
      throw error
    }
  }

  /** Waits for a server that does not respond, until the release. A pooler hides which connections survive that. */
  async bePatient(): Promise<void> {
    if (await this.isDirect()) this.#pool.setPatient(this.#client, true)
  }

  isDirect(): Promise<boolean> {
    return this.#pool.isDirect(this.#client)
  }

  async #prepared(query: string | pg.QueryConfig, values?: readonly unknown[]) {
    if (typeof query !== 'string' || !values || values.length === 0) return query
    const name = await this.#nameOf(query, values)
    return name === undefined ? query : { name, text: query }
  }

  async #nameOf(text: string, values: readonly unknown[]): Promise<string | undefined> {
    if (values.length === 0) return undefined
    const name = this.#pool.names.of(text)
    return name !== undefined && (await this.isDirect()) ? name : undefined
  }

  /** After a failover, a new connection may reach a server that accepts writes. */
  release(discard = false): void {
    this.#pool.setPatient(this.#client, false)
    this.#client.release(discard || this.#isLost || this.#isReadOnly)
  }
}

const pidOf = (client: pg.ClientBase): number => (client as unknown as { processID: number }).processID
