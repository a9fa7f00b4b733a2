// ADR 26: a server that does not respond blocks no caller.
import { setImmediate } from 'node:timers/promises'
import type pg from 'pg'
import { StandbyAwayError } from '../failure.ts'
import { doesNotAnswer, isRefusal } from './errors.ts'
import { filterRunning, hostOf, isDirect, pidOf, queryOnce } from './probe.ts'
import { listStandbyWaits, Standby } from './standby.ts'

const tickMs = 250
const retryMs = 500
/** A response on its way gets this long after the probe found that its query has ended. */
const arrivalMs = 500
/** A standby confirms in milliseconds, also when it is busy. */
const standbyMs = 3500
/** A slice of long work waits this long for a server that does not respond: it may only be busy. */
export const patienceMs = 60_000

interface Waiting {
  since: number
  /** It may be a commit, which waits for a synchronous standby. */
  isCommit: boolean
  /** How long the caller waits although PostgreSQL responds. */
  longestMs: number
  client: pg.ClientBase | undefined
  fail: (error: Error) => void
}

/**
 * The callers that wait for PostgreSQL. A server that stops responding without closing connections would block every
 * caller forever. A slow query does not prove that, so a long wait starts a probe over a new connection.
 */
export class Waits {
  /** After a wait of this long, the pool probes whether PostgreSQL still responds. */
  suspectAfterMs = 1000
  readonly standby: Standby
  readonly #url: string
  readonly #waiting = new Set<Waiting>()
  readonly #patient = new WeakSet<pg.ClientBase>()
  #lastAnswerAt = 0
  #isDown = false
  #isProbing = false
  #isEnding = false
  #timer: NodeJS.Timeout | undefined

  constructor(url: string) {
    this.#url = url
    this.standby = new Standby(url)
  }

  /** Whether PostgreSQL did not respond to the last probe. */
  get isDown(): boolean {
    return this.#isDown
  }

  get count(): number {
    return this.#waiting.size
  }

  noteAnswer(): void {
    this.#lastAnswerAt = performance.now()
  }

  noteSuccess(): void {
    this.noteAnswer()
    this.#isDown = false
  }

  /** Whether queries on this connection wait for a server that does not respond. */
  setPatient(client: pg.ClientBase, isPatient: boolean): void {
    if (isPatient) this.#patient.add(client)
    else this.#patient.delete(client)
  }

  end(): void {
    this.#isEnding = true
    clearTimeout(this.#timer)
    this.standby.end()
  }

  watch<T>(
    client: pg.ClientBase | undefined,
    work: Promise<T>,
    longestMs = Number.POSITIVE_INFINITY,
    isCommit = false,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting: Waiting = {
        since: performance.now(),
        isCommit,
        longestMs,
        client,
        fail: (error) => {
          this.#waiting.delete(waiting)
          reject(error)
        },
      }
      this.#waiting.add(waiting)
      this.#schedule(tickMs)
      work.then(
        (result) => {
          this.#waiting.delete(waiting)
          resolve(result)
        },
        (error) => waiting.fail(error),
      )
    })
  }

  #schedule(ms: number): void {
    if (this.#timer || this.#isEnding) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.#check()
    }, ms)
    this.#timer.unref()
  }

  async #check(): Promise<void> {
    const now = performance.now()
    for (const waiting of [...this.#waiting])
      if (now - waiting.since >= waiting.longestMs) waiting.fail(doesNotAnswer())
    if (this.#isDown || this.#suspects().length > 0) await this.#probe()
    if (this.#isDown) this.#schedule(retryMs)
    else if (this.#waiting.size > 0) this.#schedule(tickMs)
  }

  #suspects(): Waiting[] {
    const before = performance.now() - this.suspectAfterMs
    return [...this.#waiting].filter(({ since }) => since < before)
  }

  async #probe(): Promise<void> {
    if (this.#isProbing) return
    this.#isProbing = true
    const startedAt = performance.now()
    const suspects = this.#suspects()
    try {
      const lost = await queryOnce(this.#url, async (probe) => {
        this.#lastAnswerAt = performance.now()
        // Waiting commits may have used up all connections of a pooler, which then did not answer.
        if (this.#isDown && (await listStandbyWaits(probe, this.suspectAfterMs / 1000)).size > 0)
          this.standby.noteAway()
        this.#isDown = false
        await this.#failWithoutStandby(suspects, probe)
        return this.#lostAmong(suspects, probe)
      })
      if (lost.length > 0) await new Promise((resolve) => setTimeout(resolve, arrivalMs))
      for (const waiting of lost) if (this.#waiting.has(waiting)) waiting.fail(doesNotAnswer())
    } catch (error) {
      // Timers run before sockets are read: a process that had no time has responses that it has not read.
      await setImmediate()
      // An error response, or a success of another caller, proves that the server responds: only connections are
      // short.
      if (isRefusal(error) || this.#lastAnswerAt > startedAt) return
      this.#isDown = true
      for (const waiting of [...this.#waiting])
        if (!this.#isPatient(waiting)) waiting.fail(doesNotAnswer(error))
    } finally {
      this.#isProbing = false
    }
  }

  #isPatient({ client, since }: Waiting): boolean {
    return client !== undefined && this.#patient.has(client) && performance.now() - since < patienceMs
  }

  /** Fails the callers whose commit a standby does not confirm, and reports the first of them. */
  async #failWithoutStandby(suspects: Waiting[], probe: pg.Client): Promise<void> {
    const before = performance.now() - standbyMs
    const late = suspects.filter(({ since, isCommit }) => isCommit && since < before)
    if (late.length === 0) return
    const pids = await listStandbyWaits(probe)
    // A pooler hides which process serves whom.
    const isDirectly = await isDirect(probe)
    for (const waiting of late) {
      const pid = waiting.client && pidOf(waiting.client)
      if (pids.size === 0 || (isDirectly && !pids.has(pid ?? 0))) continue
      this.standby.noteAway()
      if (this.#waiting.has(waiting) && !this.#isPatient(waiting)) waiting.fail(new StandbyAwayError())
    }
  }

  /** Finds the waiting callers whose connection runs no query on the server, so that no response will come. */
  async #lostAmong(suspects: Waiting[], probe: pg.Client): Promise<Waiting[]> {
    const pids = suspects.flatMap(({ client }) => (client ? [pidOf(client)] : []))
    if (pids.length === 0) return []
    const running = await filterRunning(probe, pids)
    if (!running) return []
    // After a failover, another host may have a process of the same number.
    const isElsewhere = (client: pg.ClientBase) => hostOf(client) !== hostOf(probe)
    return suspects.filter(
      ({ client }) => client !== undefined && (isElsewhere(client) || !running.has(pidOf(client))),
    )
  }
}
