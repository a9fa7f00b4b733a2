import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  PostgresDialect,
  PostgresDriver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import { CommitInDoubtError, DatabaseUnavailableError } from './failure.ts'
import type { PostgresPool } from './postgres.ts'
import type { LastStatements, PostgresClient } from './postgres-client.ts'
import { markedTransaction } from './transactions.ts'

// A node that vanishes within a transaction must not keep its locks until TCP times out after hours, and waiting for
// another's lock must not use up all connections.
const begin = "begin; set local idle_in_transaction_session_timeout = '15s'; set local lock_timeout = '10s'"
const beginPatient = `${begin}; select pg_current_xact_id()::text as id`

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
    await (connection as PostgresConnection).commit((id) => this.#pool.untilEnded(id))
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
  /** Only of patient transactions. */
  #id: string | undefined

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
      if (!isPatient) {
        await this.#client.query(begin)
        return
      }
      await this.#client.bePatient()
      this.#id = (await this.#client.queryAll(beginPatient)).at(-1)?.rows[0]?.id
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

  /** `untilEnded` waits for the end of a transaction whose connection broke; returns whether it has ended. */
  async commit(untilEnded: (id: string) => Promise<boolean>): Promise<void> {
    // Others see a commit before it is on disk if locks end early; what a patient one stored must be on disk then.
    const last = this.#last && { ...this.#last, areContended: this.#last.areContended && !this.#id }
    const command = await this.#client.commit(last).catch(async (error) => {
      if (!(error instanceof DatabaseUnavailableError)) throw error
      throw new CommitInDoubtError(this.#id !== undefined && (await untilEnded(this.#id)), error)
    })
    // COMMIT rolls back, and reports that, if an earlier statement of the transaction failed.
    if (command === 'ROLLBACK') throw new AbortedTransactionError()
  }

  async rollback(): Promise<void> {
    if (this.#client.isLost) return
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
