import { type DeliveredName, limits, testEvent } from '@keyward/contract'
import { system, type VendorActor } from '../../core/actor.ts'
import { day, hour, minute, second } from '../../core/clock.ts'
import type { Tx } from '../../db/index.ts'
import type { DeliveryRow, WebhookRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { DeliveryRunner, type Lane, type Queue } from '../../service/delivery-runner.ts'
import type { Description } from '../description.ts'
import * as repo from './deliveries.repo.ts'
import { type QueuedEvent, toBody } from './webhooks.body.ts'
import { findMaker, mayReadEvent } from './webhooks.makers.ts'
import { pauseWebhook } from './webhooks.pauses.ts'
import { noteHealth } from './webhooks.repo.ts'
import { type Attempt, send } from './webhooks.send.ts'
import { readTarget } from './webhooks.service.ts'

type Parts = Parameters<typeof send>[0]

export interface WebhookTimes {
  /** Between attempts of a delivery; the last one repeats. */
  pausesMs: readonly number[]
  /** After the first failure of a receiver that did its part before. */
  receiverPauseMs: number
  leaseMs: number
}

interface WorkerOptions {
  ctx: Ctx
  modules: readonly Description[]
  parts: Parts
  onError: (error: unknown) => void
  consoleUrl: () => string
  times?: WebhookTimes | undefined
  pollMs?: number | undefined
}

/** A claimed delivery with its webhook. */
interface Job {
  hook: WebhookRow
  row: DeliveryRow
}

const usualPausesMs = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  hour,
  3 * hour,
  6 * hour,
  12 * hour,
]
const retryForMs = limits.webhookRetryDays * day
/** A receiver answers within 15 seconds, so a running attempt ends long before its lease. */
const leaseMs = 45 * second
/** Rows that a claim looks at, at once and in all: many events may wait for an earlier one of their subject. */
const [candidates, pages] = [100, 5]
/** Rows of a webhook that is paused or deleted, of which one claim gives up so many. */
const givenUpAtOnce = 500

export const createWebhookRunner = (options: WorkerOptions): DeliveryRunner<Job> =>
  new DeliveryRunner(new WebhookQueue(options), {
    clock: options.ctx.clock,
    onError: options.onError,
    leaseMs: options.times?.leaseMs ?? leaseMs,
    ...(options.times && { pauseFirstMs: options.times.receiverPauseMs }),
    ...(options.pollMs === undefined ? {} : { pollMs: options.pollMs }),
  })

/** The deliveries that wait: one lane for each webhook, in order for each subject. */
class WebhookQueue implements Queue<Job> {
  readonly #options: WorkerOptions
  readonly #ctx: Ctx

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#ctx = options.ctx
  }

  get #now(): number {
    return this.#ctx.clock.now()
  }

  async hasDue(): Promise<boolean> {
    return (await repo.hasDue.first(this.#ctx.db, { now: this.#now })) !== undefined
  }

  async listLanes(after: string, count: number) {
    const { rows, next } = await repo.listLanes(this.#ctx.db, { after, now: this.#now, count })
    const lanes = rows.map(({ id, owner_id, failing_since }) => ({
      id,
      vendor: owner_id,
      receiver: id,
      isFailing: failing_since !== null,
    }))
    return { lanes, next }
  }

  /** Claims the first events of their subjects, and lets those wait that follow another one. */
  async claim(lane: Lane, { count, leaseMs }: { count: number; leaseMs: number }): Promise<readonly Job[]> {
    const claimed: Job[] = []
    for (let page = 0; page < pages && claimed.length < count; page += 1) {
      const { jobs, isLast } = await this.#ctx.tx(system, ({ tx }) =>
        this.#claimSome(tx, lane, { count: count - claimed.length, leaseMs }),
      )
      claimed.push(...jobs)
      if (isLast) break
    }
    return claimed
  }

  async #claimSome(
    tx: Tx,
    lane: Lane,
    { count, leaseMs }: { count: number; leaseMs: number },
  ): Promise<{ jobs: Job[]; isLast: boolean }> {
    const now = this.#now
    const hook = await repo.lockHook(tx, lane.id)
    if (!hook) return { jobs: [], isLast: true }
    if (hook.active === 0) {
      const found = await repo.giveUp(tx, lane.id, { now, count: givenUpAtOnce })
      return { jobs: [], isLast: found < givenUpAtOnce }
    }
    const found = await repo.listCandidates(tx, { webhookId: lane.id, now, count: candidates })
    const heads = found.filter(({ seq, head_seq }) => seq === head_seq).slice(0, count)
    const following = found.filter(({ seq, head_seq }) => seq !== head_seq)
    const until = now + leaseMs
    const taken = new Set(heads.map(({ seq }) => seq))
    for (const [due, rows] of Map.groupBy(following, ({ head_seq, head_due }) =>
      // What is not claimed now is in the way of what follows it only until it is.
      taken.has(head_seq) || head_due <= now ? until : head_due,
    )) {
      const seqs = rows.map(({ seq }) => seq)
      await repo.postpone(tx, seqs, { now, until: due })
    }
    const rows = heads.length === 0 ? [] : await repo.claim(tx, [...taken], { now, until })
    rows.sort((a, b) => a.seq - b.seq)
    return { jobs: rows.map((row) => ({ hook, row })), isLast: found.length < candidates }
  }

  /** Returns nothing where the receiver was not asked. */
  async deliver(job: Job, signal: AbortSignal): Promise<boolean | undefined> {
    const { hook, row } = job
    const maker = await findMaker(this.#ctx.db, hook, this.#now)
    if (!maker) {
      await pauseWebhook(this.#options, hook, 'maker_gone')
      return undefined
    }
    const parcel = await this.#parcelOf(job, maker)
    if (parcel === undefined) {
      await this.#drop(row)
      return undefined
    }
    const attempt =
      parcel === 'broken'
        ? notMade
        : await Promise.race([send(this.#options.parts, ...parcel), aborted(signal)])
    // The lease ends, and a node sends it again.
    if (!attempt) return undefined
    const hasArrived = attempt.status !== null && attempt.status >= 200 && attempt.status < 300
    if (hasArrived) await this.#storeSuccess(row, attempt)
    else await this.#storeFailure(job, attempt)
    return hasArrived
  }

  /** What to send where; undefined for an event that the maker may not read. One that cannot be made counts as a failed attempt. */
  async #parcelOf(job: Job, maker: VendorActor) {
    try {
      const body = await this.#bodyOf(job, maker)
      if (body === undefined) return undefined
      const target = readTarget(this.#ctx, job.hook, this.#now)
      return [target, { id: job.row.event_id, body, now: this.#now }] as const
    } catch (error) {
      this.#options.onError(error)
      return 'broken'
    }
  }

  /** The rights of the maker are those of this moment; the body is that of its first attempt. */
  async #bodyOf({ hook, row }: Job, maker: VendorActor): Promise<string | undefined> {
    const event = toQueued(row)
    if (!mayReadEvent(maker, { event: event.action, appId: event.appId })) return undefined
    if (row.body !== null && row.body_maker === hook.maker_id) return row.body
    const body = await toBody(this.#options, event, event.action === testEvent ? readerOfTests(maker) : maker)
    if (body !== undefined)
      await this.#ctx.tx(system, ({ tx }) => repo.setBody(tx, row, { body, body_maker: hook.maker_id }))
    return body
  }

  async #drop(row: DeliveryRow): Promise<void> {
    await this.#ctx.tx(system, async ({ tx }) => {
      await repo.lockHook(tx, row.webhook_id)
      await repo.dropDelivery(tx, row.seq)
      await repo.releaseNext(tx, row, this.#now)
    })
  }

  async #storeSuccess(row: DeliveryRow, attempt: Attempt): Promise<void> {
    const now = this.#now
    await this.#ctx.tx(system, async ({ tx }) => {
      await repo.lockHook(tx, row.webhook_id)
      const done = { state: 'delivered', due_at: null, ...toColumns(attempt) } as const
      if (!(await repo.storeAttempt(tx, row, done))) return
      await repo.releaseNext(tx, row, now)
      await noteHealth(tx, row.webhook_id, null)
    })
  }

  async #storeFailure({ hook, row }: Job, attempt: Attempt): Promise<void> {
    const now = this.#now
    const end = (row.first_at ?? now) + retryForMs
    const isOver = now >= end
    const dueAt = isOver ? null : Math.min(end, now + this.#pauseAfter(row.attempts, attempt))
    const since = await this.#ctx.tx(system, async ({ tx }) => {
      await repo.lockHook(tx, row.webhook_id)
      const ended = isOver
        ? ({ state: 'given_up', expires_at: now + repo.keptMs } as const)
        : { state: 'failed' as const }
      if (!(await repo.storeAttempt(tx, row, { ...ended, due_at: dueAt, ...toColumns(attempt) }))) return null
      if (isOver) await repo.releaseNext(tx, row, now)
      await noteHealth(tx, row.webhook_id, now)
      return (await repo.lockHook(tx, row.webhook_id))?.failing_since ?? null
    })
    // The first failure was noted when its attempt ended.
    if (isOver && since !== null && since <= now - retryForMs + minute)
      await pauseWebhook(this.#options, hook, 'failing')
  }

  #pauseAfter(attempts: number, { retryAfterMs }: Attempt): number {
    const pausesMs = this.#options.times?.pausesMs ?? usualPausesMs
    const pauseMs = pausesMs[Math.min(attempts, pausesMs.length) - 1] ?? 0
    return Math.max(Math.round(pauseMs * (0.8 + Math.random() * 0.4)), retryAfterMs ?? 0)
  }
}

const notMade: Attempt = {
  ...{
    status: null,
    error: 'The event could not be prepared. The log of the server says why.',
    durationMs: 0,
  },
  ...{ request: '', response: null, retryAfterMs: null },
}

const aborted = (signal: AbortSignal) =>
  new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })

/** A test says nothing of any app, so that every maker of a webhook may read it. */
const readerOfTests = (maker: VendorActor): VendorActor => ({
  ...maker,
  apps: null,
  permissions: new Set(['webhooks:read']),
})

const toColumns = ({ status, error, durationMs, request, response }: Attempt) => ({
  status,
  error,
  duration_ms: durationMs,
  request,
  response,
})

const toQueued = (row: DeliveryRow): QueuedEvent => ({
  id: row.event_id,
  ownerId: row.owner_id,
  appId: row.app_id,
  action: row.event as DeliveredName,
  actor: { kind: row.actor_kind, id: row.actor_id },
  targetId: row.target_id,
  detail: row.detail === null ? {} : JSON.parse(row.detail),
  at: row.happened_at,
})
