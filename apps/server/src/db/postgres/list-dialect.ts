import {
  type CompiledQuery,
  type DatabaseConnection,
  PostgresDialect,
  PostgresDriver,
  type QueryResult,
} from 'kysely'
import type { BatchStatement } from './batch.ts'
import type { PostgresClient } from './client.ts'
import type { PostgresPool } from './pool.ts'

/**
 * Other calls wait longer than this for a connection, so slow lists on all connections fail no other call. A lower
 * limit that the operator has set stays.
 */
const limit = '10s'
const isLower = "current_setting('statement_timeout')::interval between '1 ms' and "
const setLimit = `select set_config('statement_timeout', case when ${isLower} '${limit}'
  then current_setting('statement_timeout') else '${limit}' end, true),
  set_config('max_parallel_workers_per_gather', '0', true)`
const begin: readonly BatchStatement[] = [{ text: 'begin read only' }, { text: setLimit }]

/**
 * Kysely for lists, searches and reports. Each query takes one round trip, also behind a pooler, and has a time limit:
 * without statistics PostgreSQL can choose a plan that takes minutes. It uses one core, because a list needs few rows
 * and starting parallel workers takes longer than reading them.
 */
export class PostgresListDialect extends PostgresDialect {
  readonly #pool: PostgresPool

  constructor(pool: PostgresPool) {
    super({ pool: pool as never })
    this.#pool = pool
  }

  override createDriver = () => new PostgresListDriver(this.#pool)
}

class PostgresListDriver extends PostgresDriver {
  readonly #pool: PostgresPool

  constructor(pool: PostgresPool) {
    super({ pool: pool as never })
    this.#pool = pool
  }

  override async acquireConnection(): Promise<ListConnection> {
    return new ListConnection(await this.#pool.connect())
  }

  override async releaseConnection(connection: DatabaseConnection): Promise<void> {
    ;(connection as ListConnection).release()
  }

  override async beginTransaction() {
    throw new Error('a transaction belongs on the writing connection')
  }

  // The writing connections use the same pool, and close it.
  override async destroy() {}
}

class ListConnection implements DatabaseConnection {
  readonly #client: PostgresClient
  #isUnusable = false

  constructor(client: PostgresClient) {
    this.#client = client
  }

  async executeQuery<Row>({ sql: text, parameters: values }: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      const query = { text, values, isRead: true }
      const results = await this.#client.queryTogether([...begin, query, { text: 'commit' }])
      return { rows: (results[begin.length]?.rows ?? []) as Row[] }
    } catch (error) {
      await this.#rollBack()
      throw error
    }
  }

  async #rollBack(): Promise<void> {
    if (this.#client.isLost) return
    await this.#client.query('rollback').catch(() => {
      this.#isUnusable = true
    })
  }

  release(): void {
    this.#client.release(this.#isUnusable)
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming is not offered: page by key instead')
  }
}
