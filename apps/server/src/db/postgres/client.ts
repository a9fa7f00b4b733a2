// ADR 26: locks end before the disk.
import type { CompiledQuery } from 'kysely'
import type pg from 'pg'
import { DatabaseUnavailableError, isPostgresReadOnly, StandbyAwayError } from '../failure.ts'
import { Batch, type BatchResult, type BatchStatement } from './batch.ts'
import { doesNotAnswer, isStale } from './errors.ts'
import { pidOf } from './probe.ts'
import type { StatementNames } from './statement-names.ts'
import type { Waits } from './waits.ts'

// PostgreSQL keeps locks until the commit is on disk, so the callers of one row would commit one after the other.
// Instead the locks end with the commit, and then a message in the log, with the configured durability, waits until
// both are on disk, for all callers together.
const commitUnflushed = 'set local synchronous_commit = off'
const flush = "select pg_logical_emit_message(true, 'keyward', '')"

// A node that vanishes within a transaction must not keep its locks until TCP times out after hours, and waiting for
// another's lock must not use up all connections.
const timeLimits = ["idle_in_transaction_session_timeout = '15s'", "lock_timeout = '10s'"]
// The first one does not end a transaction whose next message has arrived in part.
const keepalives = ['idle = 15', 'interval = 5', 'count = 3'].map((setting) => `tcp_keepalives_${setting}`)
/** For connections that no pooler shares. */
export const sessionLimits = [...timeLimits, ...keepalives].map((setting) => `set ${setting}`).join('; ')
const begin: BatchStatement = { text: 'begin' }
const beginWithLimits = [begin, ...timeLimits.map((limit) => ({ text: `set local ${limit}` }))]

/** The last statements of a transaction. */
export interface LastStatements {
  statements: readonly BatchStatement[]
  /** Whether the statements lock rows that many callers want. */
  areContended: boolean
}

export type Statement = Pick<CompiledQuery, 'sql' | 'parameters'>

/** What the pool offers the connections that it hands out. */
interface Connections {
  readonly names: StatementNames
  readonly waits: Waits
  run(client: pg.ClientBase, query: Batch): Promise<readonly BatchResult[]>
  run(client: pg.ClientBase, query: string | pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult>
  isDirect(client: pg.ClientBase): Promise<boolean>
  canFlushLater(client: pg.ClientBase): Promise<boolean>
  askAgainToFlushLater(): void
}

/** A connection that is checked out; after one query got no response, further ones fail immediately. */
export class PostgresClient {
  readonly #pool: Connections
  readonly #client: pg.PoolClient
  #isLost = false
  /** Only a new connection can succeed, because of what the server or its schema has become. */
  #isOutdated = false

  constructor(pool: Connections, client: pg.PoolClient) {
    this.#pool = pool
    this.#client = client
  }

  get isLost(): boolean {
    return this.#isLost
  }

  get processID(): number {
    return pidOf(this.#client)
  }

  async query(query: string | pg.QueryConfig, values?: readonly unknown[]): Promise<pg.QueryResult> {
    return this.#noting(async () =>
      this.#pool.run(this.#client, await this.#prepared(query, values), values && [...values]),
    )
  }

  /** The statements that begin a transaction and limit its waits. */
  async begins(): Promise<readonly BatchStatement[]> {
    return (await this.isDirect()) ? [begin] : beginWithLimits
  }

  /** Runs statements in one round trip. */
  queryTogether(statements: readonly BatchStatement[]): Promise<readonly BatchResult[]> {
    return this.#noting(() => this.#pool.run(this.#client, new Batch(statements)))
  }

  /** Runs the last statements of a transaction and its COMMIT in one round trip; returns what the COMMIT did. */
  async commit(last: LastStatements | undefined): Promise<string | undefined> {
    if (!last || last.statements.length === 0) return (await this.query('commit')).command
    const isEarly = last.areContended && (await this.#pool.canFlushLater(this.#client))
    const before = [...last.statements, ...(isEarly ? [{ text: commitUnflushed }] : [])]
    const batch = new Batch([...before, { text: 'commit' }, ...(isEarly ? [{ text: flush }] : [])])
    try {
      return (await this.#noting(() => this.#pool.run(this.#client, batch)))[before.length]?.command
    } catch (error) {
      if (batch.results.length <= before.length || error instanceof StandbyAwayError) throw error
      // The account may have lost the permission.
      this.#pool.askAgainToFlushLater()
      throw new DatabaseUnavailableError('PostgreSQL did not confirm that the transaction is on disk')
    }
  }

  /** Whether commits wait for a synchronous standby; PostgreSQL would keep their locks and this connection. */
  get isStandbyAway(): boolean {
    return this.#pool.waits.standby.isAway
  }

  /** Names frequent statements for a batch. */
  async named(queries: readonly Statement[], isRead = false): Promise<BatchStatement[]> {
    const named = []
    for (const { sql: text, parameters: values } of queries) {
      named.push({ name: await this.#nameOf(text, values), text, values, isRead })
    }
    return named
  }

  async #noting<T>(run: () => Promise<T>): Promise<T> {
    if (this.#isLost) throw doesNotAnswer()
    try {
      return await run()
    } catch (error) {
      this.#isLost ||= error instanceof DatabaseUnavailableError
      this.#isOutdated ||= isPostgresReadOnly(error) || isStale(error)
      throw error
    }
  }

  /** Waits for a server that does not respond, until the release. A pooler hides which connections survive that. */
  async bePatient(): Promise<void> {
    if (await this.isDirect()) this.#pool.waits.setPatient(this.#client, true)
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
    this.#pool.waits.setPatient(this.#client, false)
    this.#client.release(discard || this.#isLost || this.#isOutdated)
  }
}
