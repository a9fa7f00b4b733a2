// ADR 26: checks share connections.
import type pg from 'pg'
import { createClient } from './connect.ts'
import { endOrTimeOut } from './probe.ts'

const connectionsMax = 2
const idleMs = 10_000

// The plan of these reads does not depend on their values, and planning takes longer than many executions. A read that
// waits for a foreign lock holds up those behind it, and its server process outlives a dropped connection.
const settings = "set plan_cache_mode = force_generic_plan; set statement_timeout = '10s'"

interface Options {
  url: string
  connectMs: number
  /** Waits for a step of connecting; rejects if PostgreSQL does not answer. */
  watch: (connecting: Promise<unknown>) => Promise<unknown>
  isDirect: (client: pg.ClientBase) => Promise<boolean>
}

/**
 * Connections that the checks of programs share: each check sends its read without waiting for the answers to earlier
 * ones. Answers arrive in order, so only for short reads that take no lock of rows.
 */
export class SharedConnections {
  readonly #options: Options
  readonly #slots: (Promise<pg.Client | undefined> | undefined)[] = []
  readonly #slotOf = new Map<pg.Client, number>()
  readonly #used = new Set<pg.Client>()
  #turn = 0
  #isPooled = false
  readonly #closing: NodeJS.Timeout

  constructor(options: Options) {
    this.#options = options
    this.#closing = setInterval(() => this.#closeUnused(), idleMs)
    this.#closing.unref()
  }

  get count(): number {
    return this.#slotOf.size
  }

  /** Undefined behind a pooler, which shares connections itself. If one cannot be opened, the other one serves all. */
  async next(): Promise<pg.Client | undefined> {
    if (this.#isPooled) return undefined
    this.#turn = (this.#turn + 1) % connectionsMax
    const slot = this.#slots[this.#turn] ?? this.#connect(this.#turn)
    this.#slots[this.#turn] = slot
    const client = await slot.catch((error) => {
      const other = this.#slots.find((one) => one !== undefined && one !== slot)
      if (!other) throw error
      return other
    })
    if (client) this.#used.add(client)
    return client
  }

  /** Closes a connection without an answer; the reads that wait on it fail. */
  drop(client: pg.Client): void {
    this.#forget(client)
    const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
    connection.stream.destroy()
  }

  async end(ms: number): Promise<void> {
    clearInterval(this.#closing)
    await Promise.all([...this.#slotOf.keys()].map((client) => this.#close(client, ms)))
  }

  async #connect(slot: number): Promise<pg.Client | undefined> {
    const { url, connectMs, watch, isDirect } = this.#options
    const client = createClient(url, { connectionTimeoutMillis: connectMs, pipeline: true })
    this.#slotOf.set(client, slot)
    client.on('error', () => this.#forget(client))
    client.once('end', () => this.#forget(client))
    try {
      await watch(client.connect())
      this.#isPooled = !(await isDirect(client))
      if (!this.#isPooled) await watch(client.query(settings))
    } catch (error) {
      this.drop(client)
      throw error
    }
    if (!this.#isPooled) return client
    void this.#close(client, connectMs)
    return undefined
  }

  #forget(client: pg.Client): void {
    const slot = this.#slotOf.get(client)
    if (slot === undefined) return
    this.#slotOf.delete(client)
    this.#used.delete(client)
    this.#slots[slot] = undefined
  }

  async #close(client: pg.Client, ms: number): Promise<void> {
    this.#forget(client)
    await endOrTimeOut(client, ms)
    this.drop(client)
  }

  #closeUnused(): void {
    for (const client of this.#slotOf.keys()) if (!this.#used.has(client)) void this.#close(client, idleMs)
    this.#used.clear()
  }
}
