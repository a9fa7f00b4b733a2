import pg from 'pg'
import { second } from '../../core/clock.ts'
import { DatabaseUnavailableError } from '../../db/failure.ts'
import type { PostgresPool } from '../../db/postgres/pool.ts'
import { endOrTimeOut, isDirect } from '../../db/postgres/probe.ts'
import type { Topic } from './events.stream.ts'

const channel = 'keyward_changes'
const batchMs = 200
const checkMs = 25 * second
const longestWaitMs = 30 * second
/** How often all streams are notified to refetch while this node cannot listen. */
const refetchMs = 10 * second

export interface PostgresEventsOptions {
  url: string
  pool: PostgresPool
  /** Called for an event of this owner on any node, including this one. */
  onEvent: (ownerId: string, topic: Topic) => void
  /** Called when changes may have been missed: listening restarted, or is not possible. */
  onGap: () => void
  onError: (error: unknown) => void
}

/**
 * Carries changes to all nodes with LISTEN and NOTIFY. A node batches its changes for a moment, because PostgreSQL
 * serializes the commits of notifying transactions. Behind a transaction pooler LISTEN does not work: own changes are
 * passed on directly, and all streams refetch every ten seconds.
 */
export class PostgresEvents {
  readonly #options: PostgresEventsOptions
  readonly #pending = new Set<string>()
  #listener: { client: pg.Client; lost: (error?: unknown) => void } | undefined
  #batching: NodeJS.Timeout | undefined
  #retrying: NodeJS.Timeout | undefined
  #refetching: NodeJS.Timeout | undefined
  #failures = 0
  #isSent = true
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

  /** Resolves after the first attempt; a failed one is retried in the background. */
  async listen(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      keepAlive: true,
      connectionTimeoutMillis: 10 * second,
      query_timeout: 10 * second,
    })
    const lost = (error?: unknown) => {
      client.removeAllListeners()
      // Late errors of a dropped connection must not crash the process.
      client.on('error', () => {})
      void client.end().catch(() => {})
      if (this.#listener?.client === client) this.#listener = undefined
      this.#retry(error)
    }
    client.on('notification', ({ payload = '' }) => {
      const [ownerId = '', topic] = payload.split(' ')
      this.#options.onEvent(ownerId, topic === 'activity' ? topic : 'change')
    })
    client.once('error', lost)
    client.once('end', lost)
    try {
      await client.connect()
      if (!(await isDirect(client))) return this.#refetchWithoutListening(client)
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

  announce(ownerIds: Iterable<string>, topic: Topic = 'change'): void {
    for (const ownerId of ownerIds) {
      this.#pending.add(topic === 'change' ? ownerId : `${ownerId} ${topic}`)
      if (this.#refetching) this.#options.onEvent(ownerId, topic)
    }
    this.#batching ??= setTimeout(() => void this.#flush(), batchMs)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#checking)
    clearTimeout(this.#retrying)
    clearInterval(this.#refetching)
    await this.#flush()
    this.#listener?.client.removeAllListeners('end')
    if (this.#listener) await endOrTimeOut(this.#listener.client, second)
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#batching)
    this.#batching = undefined
    const owners = [...this.#pending]
    this.#pending.clear()
    if (owners.length === 0) return
    const text = 'select pg_notify($1, owner) from unnest($2::text[]) as owner'
    try {
      await this.#options.pool.query({ text, values: [channel, owners] })
      this.#isSent = true
    } catch (error) {
      if (this.#isSent) this.#options.onError(error)
      this.#isSent = false
      for (const owner of owners) this.#pending.add(owner)
      if (!this.#stopped) this.#batching ??= setTimeout(() => void this.#flush(), second)
    }
  }

  #refetchWithoutListening(client: pg.Client): void {
    client.removeAllListeners()
    client.on('error', () => {})
    void client.end().catch(() => {})
    if (this.#stopped) return
    this.#refetching ??= setInterval(() => this.#options.onGap(), refetchMs)
    this.#refetching.unref()
  }

  #retry(error: unknown): void {
    if (this.#stopped || this.#retrying) return
    if (this.#failures === 0 && error) this.#options.onError(toUnavailable(error))
    const waitMs = Math.min(longestWaitMs, second * 2 ** this.#failures)
    this.#failures += 1
    this.#retrying = setTimeout(() => {
      this.#retrying = undefined
      void this.listen()
    }, waitMs)
    this.#retrying.unref()
  }
}

const toUnavailable = (error: unknown) =>
  new DatabaseUnavailableError(`cannot listen for changes of other nodes: ${(error as Error).message}`, error)
