import pg from 'pg'
import { second } from '../../core/clock.ts'
import type { PostgresPool } from '../../db/postgres.ts'
import { endWithin, isDirect } from '../../db/postgres-probe.ts'

const channel = 'keyward_changes'
const gatherMs = 200
const checkMs = 25 * second
const longestWaitMs = 30 * second
/** How often everybody is asked to look again while notifications cannot arrive. */
const unheardMs = 10 * second

export interface PostgresEventsOptions {
  url: string
  pool: PostgresPool
  /** Something of this owner has changed on some node, this one included. */
  onChange: (ownerId: string) => void
  /** Changes may have been missed: listening has begun again, or it is not possible. */
  onGap: () => void
  onError: (error: unknown) => void
}

/**
 * Carries changes to all nodes by LISTEN and NOTIFY. What a node changes is gathered and announced together a moment
 * later: PostgreSQL lets transactions that notify commit only one after the other. A pooler gives each transaction
 * another connection, so nothing can listen behind it: own changes are passed on here, those of others every ten seconds.
 */
export class PostgresEvents {
  readonly #options: PostgresEventsOptions
  readonly #pending = new Set<string>()
  #listener: { client: pg.Client; lost: (error?: unknown) => void } | undefined
  #gathering: NodeJS.Timeout | undefined
  #retrying: NodeJS.Timeout | undefined
  #unheard: NodeJS.Timeout | undefined
  #failures = 0
  #stopped = false
  readonly #checking: NodeJS.Timeout

  constructor(options: PostgresEventsOptions) {
    this.#options = options
    this.#checking = setInterval(() => {
      const { client, lost } = this.#listener ?? {}
      client?.query('select 1').catch(lost)
    }, checkMs)
    this.#checking.unref()
  }

  /** Resolves after the first attempt; while it fails, further ones follow. */
  async listen(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      keepAlive: true,
      connectionTimeoutMillis: 10 * second,
      query_timeout: 10 * second,
    })
    const lost = (error?: unknown) => {
      client.removeAllListeners()
      // What a dropped connection still reports must not end the process.
      client.on('error', () => {})
      void client.end().catch(() => {})
      if (this.#listener?.client === client) this.#listener = undefined
      this.#retry(error)
    }
    client.on('notification', ({ payload }) => payload && this.#options.onChange(payload))
    client.once('error', lost)
    client.once('end', lost)
    try {
      await client.connect()
      if (!(await isDirect(client))) return this.#goUnheard(client)
      await client.query(`listen ${channel}`)
    } catch (error) {
      lost(error)
      return
    }
    this.#listener = { client, lost }
    if (this.#stopped) return lost()
    if (this.#failures > 0) this.#options.onGap()
    this.#failures = 0
  }

  announce(ownerIds: Iterable<string>): void {
    for (const ownerId of ownerIds) {
      this.#pending.add(ownerId)
      if (this.#unheard) this.#options.onChange(ownerId)
    }
    this.#gathering ??= setTimeout(() => void this.#flush(), gatherMs)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#checking)
    clearTimeout(this.#retrying)
    clearInterval(this.#unheard)
    await this.#flush()
    this.#listener?.client.removeAllListeners('end')
    if (this.#listener) await endWithin(this.#listener.client, second)
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#gathering)
    this.#gathering = undefined
    const owners = [...this.#pending]
    this.#pending.clear()
    if (owners.length === 0) return
    await this.#options.pool
      .query({
        text: 'select pg_notify($1, owner) from unnest($2::text[]) as owner',
        values: [channel, owners],
      })
      .catch(this.#options.onError)
  }

  #goUnheard(client: pg.Client): void {
    client.removeAllListeners()
    client.on('error', () => {})
    void client.end().catch(() => {})
    if (this.#stopped) return
    this.#unheard ??= setInterval(() => this.#options.onGap(), unheardMs)
    this.#unheard.unref()
  }

  #retry(error: unknown): void {
    if (this.#stopped || this.#retrying) return
    if (this.#failures === 0 && error) this.#options.onError(error)
    const waitMs = Math.min(longestWaitMs, second * 2 ** this.#failures)
    this.#failures += 1
    this.#retrying = setTimeout(() => {
      this.#retrying = undefined
      void this.listen()
    }, waitMs)
    this.#retrying.unref()
  }
}
