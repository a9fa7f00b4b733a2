import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  PostgresDialect,
  PostgresDriver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type { PostgresPool } from './postgres.ts'
import type { LastStatements, PostgresClient } from './postgres-client.ts'
import { markedTransaction } from './transactions.ts'

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

  override async beginTransaction(
    connection: DatabaseConnection,
    { accessMode }: TransactionSettings,
  ): Promise<void> {
    await (connection as PostgresConnection).begin({ isPatient: accessMode === markedTransaction })
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

  async begin({ isPatient }: { isPatient: boolean }): Promise<void> {
    try {
      if (isPatient) await this.#client.bePatient()
      await this.#client.query(begin)
    } catch (error) {
      // The transaction may be open, and nothing would end it.
      this.#isUnusable = true
      throw error
    }
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
