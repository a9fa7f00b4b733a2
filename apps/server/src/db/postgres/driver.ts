// ADR 26: BEGIN travels with the first statement.
import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  PostgresAdapter,
  PostgresDialect,
  PostgresDriver,
  type QueryResult,
} from 'kysely'
import type { BeginOptions, EngineConnection } from '../engine.ts'
import { CommitInDoubtError, DatabaseUnavailableError, StandbyAwayError } from '../failure.ts'
import type { BatchResult, BatchStatement } from './batch.ts'
import type { LastStatements, PostgresClient, Statement } from './client.ts'
import { postgresSyntax } from './engine.ts'
import type { PostgresPool } from './pool.ts'
import { isWrite } from './standby.ts'

/** Returns the id of the transaction. */
const currentId = 'select pg_current_xact_id()::text as id'
const hasId = 'select pg_current_xact_id_if_assigned() is not null as has'

export class KeywardPostgresDialect extends PostgresDialect {
  readonly #pool: PostgresPool

  constructor(pool: PostgresPool) {
    super({ pool: pool as never })
    this.#pool = pool
  }

  override createDriver = () => new KeywardPostgresDriver(this.#pool)
  override createAdapter = () => new KeywardPostgresAdapter()
}

class KeywardPostgresAdapter extends PostgresAdapter {
  readonly syntax = postgresSyntax
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
    await (connection as PostgresConnection).begin()
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await (connection as PostgresConnection).commit((id) => this.#pool.untilEnded(id))
    this.#pool.pending.noteWrite()
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await (connection as PostgresConnection).rollback()
  }

  override async releaseConnection(connection: DatabaseConnection): Promise<void> {
    ;(connection as PostgresConnection).release()
  }
}

const isChange = (command: string): boolean => ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(command)

/** How many rows a statement changed or returned. */
const countOf = ({ command }: BatchResult): number => Number(command.split(' ').at(-1))

function toQueryResult<Row>(result: BatchResult): QueryResult<Row> {
  const [command = ''] = result.command.split(' ')
  const rows = result.rows as Row[]
  return { rows, ...(isChange(command) && { numAffectedRows: BigInt(countOf(result)) }) }
}

/** A checked-out connection, for one use. */
export class PostgresConnection implements EngineConnection {
  beginAs: BeginOptions | undefined
  readonly othersWait = false
  readonly #client: PostgresClient
  /** Statements that are sent together with the next one. */
  #ahead: readonly BatchStatement[] = []
  #hasBegun = false
  /** The error of the message with BEGIN. */
  #failure: { error: unknown } | undefined
  /** The transaction has no statement, so there is nothing to commit. */
  #isEmpty = true
  #last: LastStatements | undefined
  #isUnusable = false
  /** Set only for patient transactions. */
  #id: string | undefined

  constructor(client: PostgresClient) {
    this.#client = client
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    this.#refuseWrites([{ sql }])
    if (this.#ahead.length > 0 && parameters.length > 0) {
      const [result] = await this.executeTogether([{ sql, parameters }])
      return toQueryResult(result as BatchResult)
    }
    if (this.#ahead.length > 0) await this.#send([])
    this.#failUnlessBegun()
    const { command, rowCount, rows = [] } = await this.#client.query(sql, parameters)
    return { rows, ...(isChange(command) && { numAffectedRows: BigInt(rowCount ?? 0) }) }
  }

  /** The transaction begins with its first statement, in the same round trip. */
  async begin(): Promise<void> {
    this.#ahead = await this.#client.begins()
    this.#hasBegun = false
    this.#isEmpty = true
    if (!this.beginAs?.isPatient) return
    try {
      await this.#client.bePatient()
      const results = await this.#send([{ text: currentId, isRead: true }])
      this.#id = results[0]?.rows[0]?.id as string
    } catch (error) {
      // The transaction may be open, and nothing would end it.
      this.#isUnusable = true
      throw error
    }
  }

  /** Runs statements in one round trip. */
  async executeTogether(queries: readonly Statement[]): Promise<readonly BatchResult[]> {
    this.#refuseWrites(queries)
    return this.#send(await this.#client.named(queries, true))
  }

  /** Sends these statements together with the next one, or with the COMMIT. */
  async executeLater(queries: readonly Statement[]): Promise<void> {
    this.#refuseWrites(queries)
    const named = await this.#client.named(queries)
    this.#ahead = [...this.#ahead, ...named]
    this.#isEmpty = false
  }

  /** Sends these statements together with the COMMIT, so that it keeps their locks for no further round trip. */
  async executeLast(queries: AsyncIterable<CompiledQuery>, areContended: boolean) {
    const statements: CompiledQuery[] = []
    for await (const query of queries) statements.push(query)
    this.#last = { statements: await this.#client.named(statements), areContended }
    return new Set<CompiledQuery>()
  }

  async untilReady(): Promise<void> {}

  /** `untilEnded` waits for the end of a transaction whose connection broke; returns whether it has ended. */
  async commit(untilEnded: (id: string) => Promise<boolean>): Promise<void> {
    const { statements = [], areContended = false } = this.#last ?? {}
    if (this.#isEmpty && statements.length === 0) return
    this.#failUnlessBegun()
    if (this.#client.isStandbyAway && (await this.#hasWritten(statements))) throw new StandbyAwayError()
    // Others see a commit before it is on disk if locks end early; what a patient one stored must be on disk then.
    const last = {
      statements: [...this.#takeAhead(), ...statements],
      areContended: areContended && !this.#id,
    }
    const command = await this.#client.commit(last).catch(async (error) => {
      if (!(error instanceof DatabaseUnavailableError)) throw error
      const mayHaveEnded = this.#id !== undefined && !(error instanceof StandbyAwayError)
      throw new CommitInDoubtError(mayHaveEnded && (await untilEnded(this.#id as string)), error)
    })
    // COMMIT rolls back, and reports that, if an earlier statement of the transaction failed.
    if (command === 'ROLLBACK') throw new AbortedTransactionError()
  }

  /** A write would keep its connection and its locks until the standby is back. */
  #refuseWrites(queries: readonly { sql: string }[]): void {
    if (this.#client.isStandbyAway && queries.some(({ sql }) => isWrite(sql))) throw new StandbyAwayError()
  }

  /** Whether a commit would store something; locks of rows count too. */
  async #hasWritten(last: readonly BatchStatement[]): Promise<boolean> {
    if ([...this.#ahead, ...last].some(({ text }) => isWrite(text))) return true
    if (!this.#hasBegun) return false
    return (await this.#client.query(hasId)).rows[0]?.has === true
  }

  async rollback(): Promise<void> {
    if (this.#client.isLost || !this.#hasBegun) return
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

  async #send(statements: readonly BatchStatement[]): Promise<readonly BatchResult[]> {
    this.#failUnlessBegun()
    const isFirst = !this.#hasBegun
    const ahead = this.#takeAhead()
    try {
      return (await this.#client.queryTogether([...ahead, ...statements])).slice(ahead.length)
    } catch (error) {
      if (isFirst) this.#failure = { error }
      throw error
    }
  }

  /** PostgreSQL would run further statements outside of a transaction. */
  #failUnlessBegun(): void {
    if (this.#failure) throw this.#failure.error
  }

  #takeAhead(): readonly BatchStatement[] {
    const ahead = this.#ahead
    this.#ahead = []
    this.#hasBegun = true
    this.#isEmpty = false
    return ahead
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not offered: page by key instead')
  }
}
