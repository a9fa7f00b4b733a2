// ADR 2: several nodes share one PostgreSQL.
import type pg from 'pg'
import { second } from '../../core/clock.ts'
import type { Feed, FeedOptions } from '../engine.ts'
import { DatabaseUnavailableError } from '../failure.ts'
import { createClient } from './connect.ts'
import type { PostgresPool } from './pool.ts'
import { endOrTimeOut, isDirect } from './probe.ts'

const channel = 'keyward_changes'
const batchMs = 200
const checkMs = 25 * second
const longestWaitMs = 30 * second
/** How often a gap is reported while this node cannot listen. */
const gapMs = 10 * second

interface Options extends FeedOptions {
  url: string
  pool: PostgresPool
}

/**
 * Carries messages to all nodes with LISTEN and NOTIFY. A node batches its messages for a moment, because PostgreSQL
 * serializes the commits of notifying transactions. Behind a transaction pooler LISTEN does not work: own messages are
 * passed on directly, and a gap is reported every ten seconds.
 */
export class PostgresFeed implements Feed {
  readonly #options: Options
  readonly #pending = new Set<string>()
  #listener: { client: pg.Client; lost: (error?: unknown) => void } | undefined
  #batching: NodeJS.Timeout | undefined
  #retrying: NodeJS.Timeout | undefined
  #reportingGaps: NodeJS.Timeout | undefined
  #failures = 0
  #isSent = true
  #stopped = false
  readonly #checking: NodeJS.Timeout

  constructor(options: Options) {
    this.#options = options
    this.#checking = setInterval(() => {
      const { client, lost } = this.#listener ?? {}
      client?.query('select 1').catch(lost)
    }, checkMs)
    this.#checking.unref()
  }

  /** Resolves after the first attempt; a failed one is retried in the background. */
  async start(): Promise<void> {
    const client = createClient(this.#options.url, {
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
    client.on('notification', ({ payload = '' }) => this.#options.onMessage(payload))
    client.once('error', lost)
    client.once('end', lost)
    try {
      await client.connect()
      if (!(await isDirect(client))) return this.#reportGaps(client)
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

  send(messages: Iterable<string>): void {
    for (const message of messages) {
      this.#pending.add(message)
      if (this.#reportingGaps) this.#options.onMessage(message)
    }
    this.#batching ??= setTimeout(() => void this.#flush(), batchMs)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#checking)
    clearTimeout(this.#retrying)
    clearInterval(this.#reportingGaps)
    await this.#flush()
    this.#listener?.client.removeAllListeners('end')
    if (this.#listener) await endOrTimeOut(this.#listener.client, second)
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#batching)
    this.#batching = undefined
    const messages = [...this.#pending]
    this.#pending.clear()
    if (messages.length === 0) return
    const text = 'select pg_notify($1, message) from unnest($2::text[]) as message'
    try {
      await this.#options.pool.query({ text, values: [channel, messages] })
      this.#isSent = true
    } catch (error) {
      if (this.#isSent) this.#options.onError(error)
      this.#isSent = false
      for (const message of messages) this.#pending.add(message)
      if (!this.#stopped) this.#batching ??= setTimeout(() => void this.#flush(), second)
    }
  }

  #reportGaps(client: pg.Client): void {
    client.removeAllListeners()
    client.on('error', () => {})
    void client.end().catch(() => {})
    if (this.#stopped) return
    this.#reportingGaps ??= setInterval(() => this.#options.onGap(), gapMs)
    this.#reportingGaps.unref()
  }

  #retry(error: unknown): void {
    if (this.#stopped || this.#retrying) return
    if (this.#failures === 0 && error) this.#options.onError(toUnavailable(error))
    const waitMs = Math.min(longestWaitMs, second * 2 ** this.#failures)
    this.#failures += 1
    this.#retrying = setTimeout(() => {
      this.#retrying = undefined
      void this.start()
    }, waitMs)
    this.#retrying.unref()
  }
}

const toUnavailable = (error: unknown) =>
  new DatabaseUnavailableError(`cannot listen for changes of other nodes: ${(error as Error).message}`, error)
