import {
  AbortedTransactionError,
  CompiledQuery,
  type DatabaseConnection,
  PostgresDialect,
  PostgresDriver,
  type QueryResult,
} from 'kysely'
import type { LastStatements, PostgresClient, PostgresPool } from './postgres.ts'

// A node that vanishes within a transaction must not keep its locks until TCP times out after hours, and waiting for
// another's lock must not use up all connections.
const begin = "begin; set local idle_in_transaction_session_timeout = '15s'; set local lock_timeout = '10s'"

export class KeywardPostgresDialect extends PostgresDialect {
  readonly #pool: PostgresPool

  constructor(pool: PostgresPool) {
    super({ pool: pool as never })
    this.#pool = pool
  }

  override createDriver = () => new KeywardPostgresDriver(this.#pool)
}

class KeywardPostgresDriver extends PostgresDriver {
  readonly #pool: PostgresPool

  constructor(pool: PostgresPool) {
    super({ pool: pool as never })
    this.#pool = pool
  }

  override async acquireConnection(): Promise<PostgresConnection> {
    return new PostgresConnection(await this.#pool.connect())
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(begin))
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await (connection as PostgresConnection).commit()
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await (connection as PostgresConnection).rollback()
  }

  override async releaseConnection(connection: DatabaseConnection): Promise<void> {
    ;(connection as PostgresConnection).release()
  }
}

/** A checked-out connection, for one use. */
export class PostgresConnection implements DatabaseConnection {
  readonly #client: PostgresClient
  #last: LastStatements | undefined
  #isUnusable = false

  constructor(client: PostgresClient) {
    this.#client = client
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { command, rowCount, rows = [] } = await this.#client.query(sql, parameters)
    const changes = ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(command)
    return { rows, ...(changes && { numAffectedRows: BigInt(rowCount ?? 0) }) }
  }

  /** Runs statements in one round trip; returns how many rows each of them changed. */
  async executeTogether(queries: readonly CompiledQuery[]): Promise<number[]> {
    const commands = await this.#client.queryTogether(queries)
    return commands.map((command) => Number(command.split(' ').at(-1)))
  }

  /** Sends these statements together with the COMMIT of the transaction. */
  endWith(last: LastStatements): void {
    this.#last = last
  }

  async commit(): Promise<void> {
    const command = await this.#client.commit(this.#last)
    // COMMIT rolls back, and reports that, if an earlier statement of the transaction failed.
    if (command === 'ROLLBACK') throw new AbortedTransactionError()
  }

  async rollback(): Promise<void> {
    try {
      await this.#client.query('rollback')
    } catch (error) {
      this.#isUnusable = true
      throw error
    }
  }

  release(): void {
    this.#client.release(this.#isUnusable)
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not offered: page by key instead')
  }
}
