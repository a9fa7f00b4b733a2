// ADR 99: commits that wait for a synchronous standby.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { DatabaseUnavailableError, isPostgresReadOnly, storageFailureOf } from '../failure.ts'
import { createClient } from './connect.ts'
import { queryOnce } from './probe.ts'

const connectMs = 1500
const retryMs = 500
const checkMs = 5000

const own = 'usename = current_user and datname = current_database()'

/**
 * The processes of this account, also those behind a pooler, that have waited for so long for a synchronous standby, or
 * for the locks of those that do.
 */
export async function listStandbyWaits(probe: pg.ClientBase, seconds = 0): Promise<Set<number>> {
  const { rows } = await probe.query(
    `select pid from pg_stat_activity where ${own} and (wait_event = 'SyncRep' or wait_event_type = 'Lock')
      and query_start <= clock_timestamp() - make_interval(secs => $1)
      and exists (select from pg_stat_activity where ${own} and wait_event = 'SyncRep')`,
    [seconds],
  )
  return new Set(rows.map((row: { pid: number }) => row.pid))
}

const changes = /^\s*(insert|update|delete|merge)\b|^\s*with\b.*\b(insert into|update|delete from)\b/is
const locks = /\bfor (no key update|update|share|key share)\b/i

/** Whether a statement changes or locks rows, so that its commit waits for a standby. */
export const isWrite = (text: string): boolean => changes.test(text) || locks.test(text)

/**
 * Whether commits wait for a synchronous standby. While they do, one connection of this process waits for it, and no
 * other: PostgreSQL keeps a connection and its locks until the standby is back, whatever the client does.
 */
export class Standby {
  /** Called when commits begin to wait, and when they work again. */
  onChange: (isAway: boolean) => void = () => {}
  readonly #url: string
  #isAway = false
  #isEnding = false
  #trial: pg.Client | undefined

  constructor(url: string) {
    this.#url = url
  }

  get isAway(): boolean {
    return this.#isAway
  }

  noteAway(): void {
    if (this.#isAway || this.#isEnding) return
    this.#isAway = true
    this.onChange(true)
    void this.#untilBack()
  }

  end(): void {
    this.#isEnding = true
    this.#drop()
  }

  async #untilBack(): Promise<void> {
    while (!this.#isEnding) {
      try {
        await this.#commitOnce()
        break
      } catch (error) {
        // Writes fail for another reason now, which they report themselves.
        if (isPostgresReadOnly(error) || storageFailureOf(error) === 'storage_full') break
        await pause(retryMs, undefined, { ref: false })
      } finally {
        this.#drop()
      }
    }
    this.#isAway = false
    if (!this.#isEnding) this.onChange(false)
  }

  /** Resolves once a commit is confirmed; rejects if nothing waits for one any more. */
  async #commitOnce(): Promise<void> {
    const client = createClient(this.#url, { connectionTimeoutMillis: connectMs, keepAlive: true })
    this.#trial = client
    client.on('error', () => {})
    await client.connect()
    const name = `standby_trial_${randomUUID()}`
    const committing = client.query(
      `insert into meta (name, value) values ('${name}', ''); delete from meta where name = '${name}'`,
    )
    const done = committing.then(() => true)
    while (!(await Promise.race([done, pause(checkMs, false, { ref: false })]))) {
      const waits = await queryOnce(this.#url, (probe) => listStandbyWaits(probe))
      if (waits.size === 0 && !(await Promise.race([done, pause(retryMs, false, { ref: false })])))
        throw new DatabaseUnavailableError('the trial was lost')
    }
  }

  #drop(): void {
    const client = this.#trial
    this.#trial = undefined
    if (!client) return
    void client.end().catch(() => {})
    const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
    connection.stream.destroy()
  }
}
