import { minute } from '../../core/clock.ts'
import { type Problem, problem } from '../../core/problem.ts'
import { FairQueue } from '../../core/queues/fair-queue.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { LazyMoveRow } from '../../db/tables.ts'
import type { Allowance, Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { Outbound } from '../../service/outbound/outbound.ts'
import * as repo from './lazy-move.repo.ts'
import { secretOf } from './lazy-move.service.ts'
import { askOldProvider, NoAnswer, type OldEndUser, OldRefusal, type OldSignIn } from './old-provider.ts'

/** Sign-ins that the old provider refused, per app and address. */
const refusedMoves: Allowance = { name: 'lazy move', max: 10, windowMs: 15 * minute }
const failuresMax = 5
const pauseMs = 30_000
const breakersKept = 1000
const reasonLength = 200

interface App {
  id: string
  ownerId: string
}

interface Parts {
  ctx: Ctx
  attempts: Attempts
  outbound: Pick<Outbound, 'exchange'>
}

/** Asks old providers: few at once, each app's one after the other, and none that does not answer. */
export class LazyMoves {
  readonly #parts: Parts
  /** One after the other: some providers end a session when the same address opens the next one. */
  readonly #ofApp = queue({ running: 1000, perAccount: { running: 1, waiting: 50 } })
  readonly #ofVendor = queue({ running: 32, perAccount: { running: 4, waiting: 100 } })
  readonly #breakers = new Map<string, { failures: number; until: number }>()
  readonly #flights = new Map<string, Promise<unknown>>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The settings of an app whose end users move now. */
  async find(app: App): Promise<LazyMoveRow | undefined> {
    const settings = await repo.findSettings(this.#parts.ctx.db, app.id)
    return settings?.until != null && settings.until > this.#parts.ctx.clock.now() ? settings : undefined
  }

  /**
   * Runs `work` unless the same is running: then it waits for the end. Callers look again what is stored afterwards; one
   * that sent something else, and was not helped, comes next.
   */
  async oneByOne(subject: string, sent: string, work: () => Promise<void>): Promise<void> {
    const own = `${subject}\n${sent}`
    for (;;) {
      const running = this.#flights.get(subject)
      if (!running) break
      const isSame = this.#flights.has(own)
      await running
      if (isSame) return
    }
    const flight = work().finally(() => {
      this.#flights.delete(subject)
      this.#flights.delete(own)
    })
    const settled = flight.catch(() => {})
    this.#flights.set(subject, settled)
    this.#flights.set(own, settled)
    return flight
  }

  /**
   * Asks the old provider, unless it does not answer; throws `busy` for an address that has failed too often. `take` stores what it said
   * about the end user, and returns why it could not.
   */
  async ask(
    app: App,
    settings: LazyMoveRow,
    { address, signIn }: { address: string; signIn: OldSignIn },
    take: (endUser: OldEndUser) => Promise<string | undefined>,
  ): Promise<void> {
    const { attempts } = this.#parts
    const breaker = `${app.id}\n${settings.protocol}\n${settings.url}`
    if (this.#isPaused(breaker)) return
    // Counted before the outcome is known: concurrent guesses beyond the limit are not asked for.
    await this.#refuseGuesses(app, address)
    let failure: string | undefined
    try {
      failure = await take(await this.#askInTurn(app, settings, { address, signIn, breaker }))
      if (failure === undefined) return await attempts.forget(refusedMoves, app.id, address)
    } catch (error) {
      if (error instanceof OldRefusal) failure = error.message
      else {
        await attempts.forget(refusedMoves, app.id, address)
        if (!(error instanceof NoAnswer)) throw error
        failure = error.message
      }
    }
    const at = this.#parts.ctx.clock.now()
    await repo.countFailed(this.#parts.ctx.db, app, { reason: toReason(failure), at })
  }

  /** Counts an end user in the transaction that takes it over, at its end: all of an app lock the same row. */
  countMoved(write: WriteTransaction, app: App): void {
    write.last([repo.countMoved.with(write.tx, { appId: app.id })])
  }

  /** Answers busy beyond the limit: honest callers behind the same address try again later. */
  async #refuseGuesses(app: App, address: string): Promise<void> {
    await this.#parts.attempts.count(refusedMoves, app.id, address).catch((error: Problem) => {
      const { retryAfterSeconds } = error
      throw error.code === 'rate_limited' ? problem('busy', { retryAfterSeconds }) : error
    })
  }

  async #askInTurn(
    app: App,
    settings: LazyMoveRow,
    { address, signIn, breaker }: { address: string; signIn: OldSignIn; breaker: string },
  ): Promise<OldEndUser> {
    const endOfApp = await this.#ofApp.enter({ address, account: app.id })
    try {
      const endOfVendor = await this.#ofVendor.enter({ address, account: app.ownerId })
      try {
        // Another one of the app may have found that the provider is down.
        if (this.#isPaused(breaker)) throw new NoAnswer('The old provider did not answer lately.')
        return await this.#askNow(settings, signIn, breaker)
      } finally {
        endOfVendor()
      }
    } finally {
      endOfApp()
    }
  }

  async #askNow(settings: LazyMoveRow, signIn: OldSignIn, breaker: string): Promise<OldEndUser> {
    const { ctx, outbound } = this.#parts
    const provider = {
      url: settings.url,
      protocol: settings.protocol,
      name: settings.old_name,
      ownerId: settings.old_owner_id,
      secret: secretOf(ctx.seal, settings),
      publicKey: settings.public_key,
    }
    try {
      const found = await askOldProvider({ outbound, now: () => ctx.clock.now() }, provider, signIn)
      this.#breakers.delete(breaker)
      return found
    } catch (error) {
      if (error instanceof NoAnswer) this.#noteFailure(breaker)
      else if (error instanceof OldRefusal) this.#breakers.delete(breaker)
      throw error
    }
  }

  #isPaused(breaker: string): boolean {
    const found = this.#breakers.get(breaker)
    return found !== undefined && found.until > this.#parts.ctx.clock.now()
  }

  #noteFailure(breaker: string): void {
    const failures = (this.#breakers.get(breaker)?.failures ?? 0) + 1
    const until = failures >= failuresMax ? this.#parts.ctx.clock.now() + pauseMs : 0
    this.#breakers.delete(breaker)
    this.#breakers.set(breaker, { failures, until })
    const [oldest] = this.#breakers.keys()
    if (this.#breakers.size > breakersKept && oldest !== undefined) this.#breakers.delete(oldest)
  }
}

const queue = (shares: Pick<ConstructorParameters<typeof FairQueue>[0], 'running' | 'perAccount'>) =>
  new FairQueue({
    ...shares,
    waiting: 1000,
    waitMs: 10_000,
    rejection: () => problem('busy', { retryAfterSeconds: 5 }),
  })

/** What a foreign server says is shown, so it is one short line. */
const toReason = (text: string): string =>
  text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, reasonLength)
