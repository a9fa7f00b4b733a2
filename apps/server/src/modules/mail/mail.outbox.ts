import { limits } from '@keyward/contract'
import type { FastifyBaseLogger } from 'fastify'
import { system } from '../../core/actor.ts'
import { day, hour, minute, second } from '../../core/clock.ts'
import { inSlices, type WriteTransaction } from '../../db/index.ts'
import type { MailRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { DeliveryRunner, listLanes } from '../../service/delivery-runner.ts'
import type { Description, MailEnd, TidyCtx } from '../description.ts'
import { MailError } from './mail.error.ts'
import { findLogo, withLogo } from './mail.face.ts'
import * as repo from './mail.queue.ts'
import { openMail } from './mail.queue.ts'
import type { Mailer } from './mail.service.ts'

/** Sent, failed and expired mails are kept this long, without their content. */
export const keptMs = limits.mailDays * day
const retryFirstMs = 15 * second
const retryMaxMs = hour
const lateMs = 10 * minute

interface Parts {
  modules?: readonly Description[]
  ctx: Pick<Ctx, 'clock' | 'db' | 'seal' | 'tx'>
  mailer: Mailer
  log: Pick<FastifyBaseLogger, 'warn'>
  onError: (error: unknown) => void
  pollMs?: number | undefined
}

/** Sends queued mails, on any node. */
export class MailOutbox {
  readonly #parts: Parts
  readonly #runner: DeliveryRunner<MailRow>
  #watch: NodeJS.Timeout | undefined
  #warnedAt = Number.NEGATIVE_INFINITY

  constructor(parts: Parts) {
    this.#parts = parts
    const { ctx, onError, pollMs } = parts
    const now = () => ctx.clock.now()
    this.#runner = new DeliveryRunner<MailRow>(
      {
        hasDue: async () => (await repo.findDue.first(ctx.db, { now: now() })) !== undefined,
        listLanes: async (after, count) => {
          const { lanes, next } = await listLanes(ctx.db, 'mails', { after, count, now: now() })
          return { lanes: lanes.map(toLane), next }
        },
        claim: ({ id }, { count, leaseMs }) =>
          ctx.tx(system, ({ tx }) => repo.claim(tx, id, { now: now(), until: now() + leaseMs, count })),
        deliver: (row) => this.#send(row),
      },
      {
        clock: ctx.clock,
        onError,
        // One mail server takes all, over as many connections as there are slots.
        sizes: { quick: 4, reserved: 0, slow: 2, overflow: 4, ofVendor: 2, slowOfVendor: 1 },
        ...(pollMs === undefined ? {} : { pollMs }),
      },
    )
  }

  start(): void {
    this.#runner.start()
    this.#watch = setInterval(() => this.warnOfLate().catch(this.#parts.onError), minute)
    this.#watch.unref()
  }

  wake(): void {
    this.#runner.wake()
  }

  /** Waits a short time for messages being sent. */
  async end(): Promise<void> {
    clearInterval(this.#watch)
    await this.#runner.end(() => this.#parts.mailer.close())
  }

  /** Warns once an hour while a mail waits for long. */
  async warnOfLate(): Promise<void> {
    const { ctx, log } = this.#parts
    const now = ctx.clock.now()
    if (now < this.#warnedAt + hour) return
    const oldest = await repo.findOldest(ctx.db)
    if (oldest === undefined || oldest > now - lateMs) return
    this.#warnedAt = now
    const minutes = Math.floor((now - oldest) / minute)
    log.warn({ minutes }, 'mails wait for the mail server: `keyward outbox` shows how many')
  }

  async #send(row: MailRow): Promise<boolean | undefined> {
    const { ctx, mailer, modules } = this.#parts
    const subject = subjectIn(modules, row.id)
    if (subject && !(await subject.isCurrent(ctx))) {
      await ctx.tx(system, async (write) => {
        await repo.remove(write.tx, row.id)
        await subject.onEnded(write, 'dropped')
      })
      return undefined
    }
    if (row.expires_at <= ctx.clock.now()) {
      await this.#end(row, 'expired', row.last_error)
      return undefined
    }
    try {
      const mail = openMail(ctx.seal, row.id, row.sealed ?? '')
      const logo = mail.logo && (await findLogo(ctx.db, mail.logo))
      await mailer.send(logo ? withLogo(mail) : mail, logo)
    } catch (error) {
      return this.#noteFailure(row, error)
    }
    await this.#end(row, 'sent', null)
    return true
  }

  /** Returns whether the mail server refused this mail alone. */
  async #noteFailure(row: MailRow, error: unknown): Promise<boolean> {
    const { ctx, onError } = this.#parts
    // Other errors may quote the mail.
    const failure = error instanceof MailError ? error : new MailError({ code: 'EOPEN' })
    if (row.attempts === 1 || failure.isPermanent) onError(failure)
    if (failure.isPermanent) await this.#end(row, 'failed', failure.message)
    else {
      const due_at = Math.min(ctx.clock.now() + retryAfterMs(row.attempts), row.expires_at)
      await this.#store(row, { due_at, last_error: failure.message })
    }
    return failure.isAboutMessage
  }

  #end(row: MailRow, state: Exclude<MailEnd, 'dropped'>, last_error: string | null): Promise<void> {
    const { ctx, modules } = this.#parts
    const kept_until = ctx.clock.now() + keptMs
    return this.#store(row, { state, last_error, kept_until, due_at: null, sealed: null }, (write) =>
      subjectIn(modules, row.id)?.onEnded(write, state),
    )
  }

  async #store(
    row: MailRow,
    outcome: Parameters<typeof repo.store>[2],
    follow: (write: WriteTransaction) => Promise<void> | undefined = () => undefined,
  ): Promise<void> {
    const store = async (write: WriteTransaction) => {
      if (await repo.store(write.tx, row, outcome)) await follow(write)
    }
    // A message that was accepted must not be sent again because PostgreSQL restarts.
    await this.#parts.ctx.tx(system, store, { isPatient: true })
  }
}

const toLane = (lane: string) => ({ id: lane, vendor: lane.split(' ')[0] ?? lane, receiver: 'mail server' })

/** Doubles with each attempt, and differs by a quarter, so that mails that failed together do not all return together. */
const retryAfterMs = (attempts: number): number => {
  const usualMs = Math.min(retryMaxMs, retryFirstMs * 2 ** Math.min(attempts - 1, 20))
  return Math.round(usualMs * (0.75 + Math.random() / 2))
}

/** What a mail is about, by the module that has it. */
function subjectIn(modules: readonly Description[] = [], mailId: string) {
  const id = repo.subjectOf(mailId) ?? ''
  const prefix = id.slice(0, id.indexOf('_'))
  const subject = modules.map(({ mails }) => mails?.[prefix]).find((found) => found !== undefined)
  return (
    subject && {
      isCurrent: (ctx: Pick<Ctx, 'db' | 'seal'>) => subject.isCurrent(ctx, id, mailId),
      onEnded: (write: WriteTransaction, end: MailEnd) => subject.onEnded(write, id, end),
    }
  )
}

/** Erases mails that have expired while none of them could be sent. */
export async function expireMails(ctx: TidyCtx): Promise<void> {
  const now = ctx.clock.now()
  await inSlices(ctx, system, async (write, count) => {
    const ids = await repo.expire(write.tx, { now, keptUntil: now + keptMs, count })
    for (const id of ids) await subjectIn(ctx.modules, id)?.onEnded(write, 'expired')
    return { found: ids.length }
  })
}
