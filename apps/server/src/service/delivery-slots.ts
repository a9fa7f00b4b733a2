import { minute, second } from '../core/clock.ts'

/** The waiting rows of one vendor to one receiver: a webhook, or the mail server. */
export interface Lane {
  /** Lanes are listed in the order of their ids. */
  id: string
  vendor: string
  receiver: string
  /** A hint for a process that knows nothing of the receiver yet: its latest attempts failed. */
  isFailing?: boolean
}

/** How many deliveries run at once on this node. */
export interface SlotSizes {
  /** To receivers that answer. */
  quick: number
  /** A part of them that only receivers use which have answered this process quickly. */
  reserved: number
  /** To receivers that were slow or failing lately. */
  slow: number
  /** To receivers that turned out to be slow during the delivery; receivers that are unknown wait meanwhile. */
  overflow: number
  /** Quick ones to receivers of one vendor. */
  ofVendor: number
  /** Slow ones to receivers of one vendor. */
  slowOfVendor: number
}

/** How a receiver did lately. */
interface Health {
  failures: number
  isSlow: boolean
  /** A receiver that fails is tried once at a time, and not before. */
  retryAt: number
}

interface Slot {
  vendor: string
  receiver: string
  isSlow: boolean
}

const pauseUsualMs = second
const pauseMaxMs = minute / 2
/** More receivers than this are forgotten, and are unknown then. */
const receiversKept = 10_000

/** Which receivers may be delivered to now, so that slow and failing ones delay no healthy one. */
export class DeliverySlots {
  readonly #sizes: SlotSizes
  readonly #now: () => number
  readonly #pauseFirstMs: number
  readonly #running = new Set<Slot>()
  readonly #health = new Map<string, Health>()

  constructor(sizes: SlotSizes, now: () => number, pauseFirstMs = pauseUsualMs) {
    this.#sizes = sizes
    this.#pauseFirstMs = pauseFirstMs
    this.#now = now
  }

  /** How many deliveries to quick receivers could start now. */
  get free(): number {
    return this.#sizes.quick - this.#count(({ isSlow }) => !isSlow)
  }

  /** How many rows of the lane may be delivered now. */
  freeFor(lane: Lane): number {
    const { receiver, vendor } = lane
    const { slow, ofVendor, slowOfVendor, overflow, reserved } = this.#sizes
    const health = this.#healthOf(lane)
    const slowRunning = this.#count(({ isSlow }) => isSlow)
    const share = (isSlow: boolean) => this.#count((slot) => slot.vendor === vendor && slot.isSlow === isSlow)
    if (health && (health.failures > 0 || health.isSlow)) {
      const isTried = this.#count((slot) => slot.receiver === receiver) > 0
      if (health.failures > 0 && (isTried || health.retryAt > this.#now())) return 0
      const free = Math.min(slow - slowRunning, slowOfVendor - share(true))
      return Math.max(0, health.failures > 0 ? Math.min(1, free) : free)
    }
    if (!health && slowRunning >= overflow) return 0
    return Math.max(0, Math.min(this.free - (health ? 0 : reserved), ofVendor - share(false)))
  }

  take(lane: Lane): Slot {
    const health = this.#healthOf(lane)
    const { vendor, receiver } = lane
    const slot = { vendor, receiver, isSlow: health !== undefined && (health.isSlow || health.failures > 0) }
    this.#running.add(slot)
    return slot
  }

  /** The delivery takes long: it leaves its quick slot, which another one may use. */
  slowDown(slot: Slot): void {
    slot.isSlow = true
  }

  /** `isWell` is undefined if the receiver was not asked. */
  end(slot: Slot, done: { isWell: boolean | undefined; isSlow: boolean }): void {
    const { receiver } = slot
    this.#running.delete(slot)
    if (done.isWell === undefined) return
    const failures = done.isWell ? 0 : (this.#health.get(receiver)?.failures ?? 0) + 1
    const pauseMs = Math.min(pauseMaxMs, this.#pauseFirstMs * 2 ** Math.min(failures - 1, 20))
    this.#remember(receiver, {
      failures,
      isSlow: done.isSlow,
      retryAt: failures === 0 ? 0 : this.#now() + pauseMs,
    })
  }

  #healthOf({ receiver, isFailing }: Lane): Health | undefined {
    return this.#health.get(receiver) ?? (isFailing ? { failures: 1, isSlow: false, retryAt: 0 } : undefined)
  }

  #remember(receiver: string, health: Health): void {
    this.#health.delete(receiver)
    this.#health.set(receiver, health)
    const [oldest] = this.#health.keys()
    if (this.#health.size > receiversKept && oldest !== undefined) this.#health.delete(oldest)
  }

  #count(isCounted: (slot: Slot) => boolean): number {
    let count = 0
    for (const slot of this.#running) if (isCounted(slot)) count += 1
    return count
  }
}
