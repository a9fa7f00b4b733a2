import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Clock, second } from '../core/clock.ts'
import type { Db, Tables } from '../db/tables.ts'
import { DeliverySlots, type Lane, type SlotSizes } from './delivery-slots.ts'

export type { Lane } from './delivery-slots.ts'

/** The rows that wait for delivery, in a table that all nodes share. */
export interface Queue<Row> {
  /** Whether any row is due: one indexed query, asked about once a second. */
  hasDue(): Promise<boolean>
  /** Lanes with due rows, in the order of their ids, after a place; `next` is the place that the next page begins after. */
  listLanes(after: string, count: number): Promise<{ lanes: readonly Lane[]; next: string | undefined }>
  /**
   * Claims the oldest due rows of a lane with one guarded statement: no other node gets them for `leaseMs`, and any node
   * gets them afterwards if they are still undelivered, because this process died. Fewer rows than `count` mean that the
   * lane has no further ones now.
   */
  claim(lane: Lane, options: { count: number; leaseMs: number }): Promise<readonly Row[]>
  /**
   * Delivers a row and stores the outcome: that it is done, or when it is due again. Returns whether the receiver did its
   * part; false for one that cannot be reached or fails, undefined if it was not asked. A row whose `deliver` throws stays claimed until its lease ends.
   * It must be over before the lease: `signal` aborts it at two thirds of that time, and on shutdown.
   */
  deliver(row: Row, signal: AbortSignal): Promise<boolean | undefined>
}

interface Options {
  clock: Clock
  onError: (error: unknown) => void
  sizes?: Partial<SlotSizes>
  leaseMs?: number
  /** After the first failure of a receiver; it doubles with each further one. */
  pauseFirstMs?: number
  /** How often rows of other nodes and of dead processes are looked for. */
  pollMs?: number
  /** A delivery that takes longer is a slow one. */
  slowAfterMs?: number
  /** On shutdown, deliveries get this long to end. */
  graceMs?: number
}

const usualSizes: SlotSizes = {
  quick: 16,
  reserved: 4,
  slow: 8,
  overflow: 64,
  ofVendor: 4,
  slowOfVendor: 2,
}
const lanesPerPage = 200
const pagesPerTurn = 5

/**
 * Delivers the rows of a queue, at least once each, on any node. Vendors take turns, and each holds a share of the slots at
 * most. Receivers that were slow or failing lately have a few slots of their own; one that fails is tried once at a time,
 * with pauses of up to 30 seconds. Call `wake` after a local commit that adds rows; `start` also polls.
 */
export class DeliveryRunner<Row> {
  readonly #queue: Queue<Row>
  readonly #options: Required<Omit<Options, 'sizes' | 'pauseFirstMs'>>
  readonly #slots: DeliverySlots
  readonly #stopping = new AbortController()
  readonly #deliveries = new Set<Promise<void>>()
  /** The turn in which a vendor or a lane was served last. */
  #served = new Map<string, number>()
  #turns = 0
  #place = ''
  #looking: Promise<void> | undefined
  #isWanted = false
  #isEnding = false
  #hasFailed = false
  #timer: NodeJS.Timeout | undefined

  constructor(queue: Queue<Row>, { sizes, pauseFirstMs, ...options }: Options) {
    this.#queue = queue
    const usual = { leaseMs: 120 * second, pollMs: second, slowAfterMs: 2 * second, graceMs: 5 * second }
    this.#options = { ...usual, ...options }
    this.#slots = new DeliverySlots({ ...usualSizes, ...sizes }, () => options.clock.now(), pauseFirstMs)
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), this.#options.pollMs)
    this.#timer.unref()
    this.wake()
  }

  /** Whether it is not looking for due rows right now. */
  get isIdle(): boolean {
    return this.#looking === undefined
  }

  /** Looks for due rows now. */
  wake(): void {
    if (this.#isEnding) return
    this.#isWanted = true
    this.#looking ??= this.#lookUntilDone()
  }

  /** Claims nothing more, and waits a short time for what is being delivered; `close` ends the rest. */
  async end(close = () => {}): Promise<void> {
    this.#isEnding = true
    clearInterval(this.#timer)
    const grace = setTimeout(() => {
      this.#stopping.abort()
      close()
    }, this.#options.graceMs)
    await this.#looking
    await Promise.all(this.#deliveries)
    clearTimeout(grace)
  }

  async #lookUntilDone(): Promise<void> {
    while (this.#isWanted && !this.#isEnding) {
      // Deliveries and commits of the same moment are looked after together.
      await nextTurn()
      this.#isWanted = false
      try {
        await this.#takeTurn()
        this.#hasFailed = false
      } catch (error) {
        // The poll tries again: one report of an outage is enough.
        if (!this.#hasFailed) this.#options.onError(error)
        this.#hasFailed = true
        break
      }
    }
    // In the same moment as the last check of the loop: a wake after it begins a new one.
    this.#looking = undefined
  }

  async #takeTurn(): Promise<void> {
    if (!(await this.#queue.hasDue())) return
    let lanes = this.#inTurn(await this.#listLanes())
    while (lanes.length > 0 && !this.#isEnding) {
      const further: Lane[] = []
      for (const [at, lane] of lanes.entries()) {
        const share = Math.ceil(this.#slots.free / (lanes.length - at))
        const count = Math.min(this.#slots.freeFor(lane), Math.max(1, share))
        if (count <= 0 || this.#isEnding) continue
        const { leaseMs } = this.#options
        const rows = await this.#queue.claim(lane, { count, leaseMs })
        for (const row of rows) this.#begin(lane, row)
        if (rows.length > 0) this.#noteServed(lane)
        if (rows.length >= count) further.push(lane)
      }
      lanes = further
    }
  }

  /** Lanes from the place where the last turn ended, around to it. */
  async #listLanes(): Promise<Lane[]> {
    const found = new Map<string, Lane>()
    let hasWrapped = this.#place === ''
    for (let page = 0; page < pagesPerTurn; page += 1) {
      const { lanes, next } = await this.#queue.listLanes(this.#place, lanesPerPage)
      for (const lane of lanes) found.set(lane.id, lane)
      this.#place = next ?? ''
      if (next !== undefined) continue
      if (hasWrapped) break
      hasWrapped = true
    }
    return [...found.values()]
  }

  /** One lane of each vendor first, and those first that were served longest ago. */
  #inTurn(lanes: readonly Lane[]): Lane[] {
    const servedAt = (name: string) => this.#served.get(name) ?? 0
    const laneKey = ({ id }: Lane) => `lane ${id}`
    const vendorKey = ({ vendor }: Lane) => `vendor ${vendor}`
    const ranked = [...Map.groupBy(lanes, vendorKey).values()].flatMap((ofVendor) =>
      ofVendor
        .toSorted((a, b) => servedAt(laneKey(a)) - servedAt(laneKey(b)))
        .map((lane, rank) => ({ lane, rank, vendorAt: servedAt(vendorKey(lane)) })),
    )
    const known = new Set(lanes.flatMap((lane) => [laneKey(lane), vendorKey(lane)]))
    this.#served = new Map([...this.#served].filter(([name]) => known.has(name)))
    return ranked.sort((a, b) => a.rank - b.rank || a.vendorAt - b.vendorAt).map(({ lane }) => lane)
  }

  #noteServed({ id, vendor }: Lane): void {
    this.#turns += 1
    this.#served.set(`vendor ${vendor}`, this.#turns)
    this.#served.set(`lane ${id}`, this.#turns)
  }

  #begin(lane: Lane, row: Row): void {
    const delivery = this.#deliver(lane, row).finally(() => {
      this.#deliveries.delete(delivery)
      this.wake()
    })
    this.#deliveries.add(delivery)
  }

  async #deliver(lane: Lane, row: Row): Promise<void> {
    const { leaseMs, slowAfterMs, onError } = this.#options
    const slot = this.#slots.take(lane)
    let isSlow = false
    const slow = setTimeout(() => {
      isSlow = true
      this.#slots.slowDown(slot)
      this.wake()
    }, slowAfterMs)
    const signal = AbortSignal.any([
      this.#stopping.signal,
      AbortSignal.timeout(Math.floor((leaseMs * 2) / 3)),
    ])
    let isWell: boolean | undefined = false
    try {
      isWell = await this.#queue.deliver(row, signal)
    } catch (error) {
      onError(error)
    }
    clearTimeout(slow)
    this.#slots.end(slot, { isWell, isSlow })
  }
}

/** A queue, and the column whose rows of one value are a lane. Its index has this column and `due_at`. */
const queues = { mails: 'lane', reset_requests: 'network', shop_events: 'lane' } as const satisfies {
  [Table in keyof Tables]?: keyof Tables[Table]
}

/**
 * Lanes with due rows after a place, found one after the other by the index, however many rows each has. `next` is the place
 * that the next page begins after.
 */
export async function listLanes(
  db: Db,
  queue: keyof typeof queues,
  { after, now, count }: { after: string; now: number; count: number },
): Promise<{ lanes: string[]; next: string | undefined }> {
  const [table, column] = [sql.table(queue), sql.ref(`q.${queues[queue]}`)]
  const first = (place: ReturnType<typeof sql>) => sql`
    select min(${column}) from ${table} q where ${column} > ${place} and q.due_at is not null`
  const { rows } = await sql<{ lane: string; is_due: number | boolean }>`
    with recursive waiting (lane, place) as (
      select (${first(sql`${after}`)}), 1
      union all select (${first(sql`waiting.lane`)}), place + 1 from waiting
        where waiting.lane is not null and place < ${sql.lit(count)}
    )
    select lane, exists (select 1 from ${table} q where ${column} = waiting.lane and q.due_at <= ${now}) as is_due
    from waiting where lane is not null order by lane`.execute(db)
  const next = rows.length < count ? undefined : rows.at(-1)?.lane
  return { lanes: rows.filter((row) => Boolean(row.is_due)).map(({ lane }) => lane), next }
}
