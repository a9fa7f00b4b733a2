import type { ProgramActor } from '../../core/actor.ts'
import type { Clock } from '../../core/clock.ts'
import { minute } from '../../core/clock.ts'
import { randomBytes } from '../../core/crypto.ts'
import type { ActionRecord, Tx } from '../../db/index.ts'
import { countRefusals, type DailyRefusals } from '../daily-counts/daily-counts.service.ts'
import * as repo from './activity.repo.ts'
import { type ActivityInput, type Repeated, Sources, shareOf, toGathered } from './activity.sources.ts'

interface Options {
  clock: Clock
  write(work: (tx: Tx) => Promise<void>): Promise<void>
  /** Runs in the transaction that stores new events. */
  alsoWrite?(tx: Tx, rows: readonly repo.NewActivity[]): Promise<void>
  /** Called with the owners of written events. */
  onWritten(apps: readonly { ownerId: string; appId: string }[]): void
  onError(error: unknown): void
  limits?: Partial<typeof activityLimits>
}

export const activityLimits = {
  flushMs: 250,
  flushRows: 200,
  /** Rows that wait for a flush; further ones are counted and dropped. */
  queued: 10_000,
  /** New rows of one app in a minute on one node, for each share: a flood of refusals hides no sign-in. */
  perMinute: 3000,
  /** Equal events within this time share a row and a reference. */
  mergeMs: minute,
  merged: 20_000,
}

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** 50 random bits, short enough to be read out. */
export function newReference(): string {
  const reference = Array.from(randomBytes(10), (byte) => crockford[byte & 31]).join('')
  // The digit distinguishes it from a word that is typed into a search.
  return /\d/.test(reference) ? reference : newReference()
}

/**
 * Gathers what programs do and writes it in batches, so that a check waits for nothing. It never fails a call: when
 * the queue or the disk is full, or in a flood, events are dropped and counted.
 */
export class ActivityLog {
  readonly #options: Options
  readonly #limits: typeof activityLimits
  #queue: repo.NewActivity[] = []
  #merged = new Map<string, Repeated>()
  #repeats: repo.Repeat[] = []
  #mergedSince = 0
  readonly #sources = new Sources()
  /** Ends a window in which no later event does. */
  #windowEnd: NodeJS.Timeout | undefined
  #droppedAreDue = false
  readonly #spent = new Map<string, number>()
  readonly #dropped = new Map<string, { ownerId: string; count: number }>()
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> | undefined

  constructor(options: Options) {
    this.#options = options
    this.#limits = { ...activityLimits, ...options.limits }
  }

  /** Notes an event and returns its reference; undefined if it is not kept. */
  note(event: ActivityInput): string | undefined {
    const now = this.#options.clock.now()
    this.#renewWindow(now)
    const { appId, clientId = null, kind, call = null, code = null, address = null, variant = null } = event
    const subject = event.subject == null ? null : toPlain(event.subject)
    // None of them contains a line break, and JSON takes three times as long.
    const key = [appId, clientId, kind, call, code, subject, address, variant].join('\n')
    const known = this.#merged.get(key)
    if (known) return repeat(known, now)
    const gathers = this.#sources.keyOf(event, shareOf(event))
    const gathered = gathers === undefined ? undefined : this.#sources.find(gathers)
    if (gathered) return repeat(gathered, now)
    const row = this.#keep(gathers === undefined ? { ...event, subject } : toGathered(event), now)
    if (row && gathers !== undefined) this.#sources.add(gathers, row)
    else if (row && this.#merged.size < this.#limits.merged) this.#merged.set(key, { row, unsaved: 0 })
    return row?.reference
  }

  /** Queues a new row; undefined in a flood. */
  #keep(event: ActivityInput, now: number): repo.NewActivity | undefined {
    const share = shareOf(event)
    const budget = `${event.appId} ${share}`
    const spent = this.#spent.get(budget) ?? 0
    if (spent >= this.#limits.perMinute || this.#queue.length >= this.#limits.queued) {
      this.#drop(event, 1)
      return undefined
    }
    this.#spent.set(budget, spent + 1)
    const row = {
      reference: newReference(),
      owner_id: event.ownerId,
      app_id: event.appId,
      client_id: event.clientId ?? null,
      kind: event.kind,
      share,
      call: event.call ?? null,
      code: event.code ?? null,
      subject: event.subject ?? null,
      address: event.address ?? null,
      detail: event.detail ? JSON.stringify(event.detail) : null,
      times: 1,
      created_at: now,
      last_at: now,
    }
    this.#queue.push(row)
    this.#schedule()
    return row
  }

  /** Notes what programs did in committed transactions. */
  consume(records: readonly ActionRecord[], { ownerId, appId, address }: ProgramActor): void {
    for (const { action, targetId, detail } of records) {
      const endUserId =
        (detail as { endUserId?: string }).endUserId ?? (targetId?.startsWith('usr_') ? targetId : null)
      this.note({ ownerId, appId, clientId: endUserId, kind: action, address })
    }
  }

  /** Writes everything that waits, counts of repetitions included. */
  async close(): Promise<void> {
    this.#endWindow()
    await this.#flushing
    while (this.#hasWork()) await this.flush()
  }

  /** Writes the events that have been noted so far. */
  async drain(): Promise<void> {
    const { flushRows } = this.#limits
    // A flush that runs already is the first.
    for (let left = this.#queue.length + flushRows; left > 0; left -= flushRows) await this.flush()
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#flushing) return this.#flushing
    this.#flushing = this.#write().finally(() => {
      this.#flushing = undefined
      if (this.#hasWork()) this.#schedule()
    })
    return this.#flushing
  }

  async #write(): Promise<void> {
    const now = this.#options.clock.now()
    const rows = this.#queue.splice(0, this.#limits.flushRows)
    // Repetitions of rows that still wait would be lost.
    const repeats = this.#queue.length > 0 ? [] : this.#repeats.splice(0, this.#limits.flushRows)
    const dropped = this.#droppedAreDue ? [...this.#dropped] : []
    this.#droppedAreDue = false
    if (dropped.length > 0) this.#dropped.clear()
    const notes = dropped.map(([appId, { ownerId, count }]) => toDropped(appId, ownerId, count, now))
    if (rows.length + repeats.length + notes.length === 0) return
    try {
      await this.#options.write(async (tx) => {
        // Locks the apps first, as their deletion does.
        await countRefusals(tx, toRefusals([...rows, ...repeats]))
        await repo.insertActivity(tx, [...rows, ...notes], repeats)
        await this.#options.alsoWrite?.(tx, rows)
      })
      this.#options.onWritten(
        [...rows, ...notes].map((row) => ({ ownerId: row.owner_id, appId: row.app_id })),
      )
    } catch (error) {
      this.#options.onError(error)
      this.#forget(rows)
      for (const row of rows) this.#drop({ ownerId: row.owner_id, appId: row.app_id }, row.times)
      for (const [appId, { ownerId, count }] of dropped) this.#drop({ ownerId, appId }, count)
    }
  }

  /** The next equal event gets a new row, because the reference of a row that was not stored leads nowhere. */
  #forget(rows: readonly repo.NewActivity[]): void {
    const lost = new Set(rows)
    for (const kept of [this.#merged, this.#sources]) {
      for (const [key, { row, unsaved }] of kept.entries()) {
        if (!lost.has(row)) continue
        row.times += unsaved
        kept.delete(key)
      }
    }
  }

  #hasWork(): boolean {
    return this.#queue.length + this.#repeats.length > 0 || (this.#droppedAreDue && this.#dropped.size > 0)
  }

  #schedule(): void {
    if (this.#flushing) return
    if (this.#queue.length >= this.#limits.flushRows) void this.flush()
    else this.#timer ??= setTimeout(() => void this.flush(), this.#limits.flushMs)
  }

  #drop({ ownerId, appId }: { ownerId: string; appId: string }, count: number): void {
    const before = this.#dropped.get(appId)?.count ?? 0
    this.#dropped.set(appId, { ownerId, count: before + count })
  }

  #renewWindow(now: number): void {
    if (Math.abs(now - this.#mergedSince) >= this.#limits.mergeMs) {
      this.#endWindow()
      this.#mergedSince = now
      this.#sources.renew(now)
    }
    this.#windowEnd ??= setTimeout(() => this.#endWindow(), this.#limits.mergeMs).unref()
  }

  #endWindow(): void {
    clearTimeout(this.#windowEnd)
    this.#windowEnd = undefined
    for (const kept of [this.#merged, this.#sources]) {
      for (const [, repeated] of kept.entries()) {
        const { row, unsaved } = repeated
        if (unsaved === 0) continue
        const { reference, last_at, app_id, share } = row
        this.#repeats.push({ reference, times: unsaved, last_at, app_id, share })
        repeated.unsaved = 0
      }
    }
    this.#droppedAreDue = this.#dropped.size > 0
    this.#merged = new Map()
    this.#spent.clear()
    if (this.#hasWork()) this.#schedule()
  }
}

const toRefusals = (events: readonly repo.Repeat[]): DailyRefusals[] =>
  events
    .filter(({ share }) => share === 'refusals')
    .map(({ app_id, last_at, times }) => ({ appId: app_id, at: last_at, times }))

/** Without characters that could fake a line or hide a part, or that PostgreSQL rejects. */
const toPlain = (text: string): string =>
  /^[ -~]{0,100}$/.test(text)
    ? text
    : [...text.toWellFormed().replace(/[\p{Cc}\p{Cf}]/gu, '')].slice(0, 100).join('')

function repeat(known: Repeated, now: number): string {
  known.unsaved += 1
  known.row.last_at = now
  return known.row.reference
}

const toDropped = (appId: string, ownerId: string, count: number, now: number): repo.NewActivity => ({
  reference: newReference(),
  owner_id: ownerId,
  app_id: appId,
  client_id: null,
  kind: 'dropped',
  share: 'other',
  call: null,
  code: null,
  subject: null,
  address: null,
  detail: null,
  times: count,
  created_at: now,
  last_at: now,
})
