import {
  type Actor,
  isVendor,
  type OfOwner,
  type ResellerActor,
  type ShopActor,
  type VendorActor,
} from '../core/actor.ts'
import { hour, second } from '../core/clock.ts'
import { problem } from '../core/problem.ts'
import type { Allowance, Attempts } from './attempts.ts'
import type { Ctx } from './ctx.ts'

interface Options {
  ctx: Pick<Ctx, 'clock' | 'config'>
  attempts: Pick<Attempts, 'add'>
  /** Bytes that an account of this owner may add in an hour. */
  readBytesPerHour: (scope: OfOwner) => Promise<number>
  onError: (error: unknown) => void
}

interface Spent {
  endsAt: number
  /** Undefined until the first sum was stored. */
  bytesPerHour: number | undefined
  /** The sum of all nodes that was stored last. */
  stored: number
  storing: number
  waiting: number
}

const bytesWritten: Allowance = { name: 'bytes written', max: Number.MAX_SAFE_INTEGER, windowMs: hour }

/** A smaller sum is not stored: an account that changes little costs no further write. */
const firstStoredBytes = 32_768
/** Later sums are stored after this part of what the account may add. */
const storedParts = 32
const accountsMax = 10_000

/**
 * Bounds what an account adds to the audit log and to stored answers in an hour, which nothing deletes soon. Each node adds
 * up in memory, and stores its sums in the database, so that all nodes refuse together; a request waits for neither.
 */
export class WriteBudget {
  readonly #options: Options
  readonly #accounts = new Map<string, Spent>()
  readonly #storing = new Set<Promise<void>>()

  constructor(options: Options) {
    this.#options = options
  }

  /** Throws 429 once the account has added its bytes of the hour. Reads nothing before that. */
  check(actor: Payer): Promise<void> | undefined {
    const spent = this.#accounts.get(accountOf(actor))
    return spent && this.#waitOf(spent) > 0 ? this.#refuse(actor, spent) : undefined
  }

  async #refuse(scope: OfOwner, spent: Spent): Promise<void> {
    // The owner may have bought premium meanwhile.
    spent.bytesPerHour = await this.#options.readBytesPerHour(scope)
    const waitMs = this.#waitOf(spent)
    if (waitMs === 0) return
    throw problem('rate_limited', {
      message: 'This account has made too many changes within an hour. Try again later.',
      retryAfterSeconds: Math.ceil(waitMs / second),
    })
  }

  /** Milliseconds until the account may change something again; 0 if it may now. */
  #waitOf({ endsAt, bytesPerHour, stored, storing, waiting }: Spent, part = 1): number {
    if (bytesPerHour === undefined || stored + storing + waiting < bytesPerHour * part) return 0
    const waitMs = endsAt - this.#options.ctx.clock.now()
    // A longer wait began before the clock was set back.
    return waitMs > 2 * hour ? 0 : Math.max(0, waitMs)
  }

  /** Counts what a committed transaction of an owner or a reseller has added. */
  add(actor: Actor, bytes: number): void {
    if (isPayer(actor)) this.#count(actor, accountOf(actor), bytes)
  }

  /** Counts licenses of shops and imports, which have half as many bytes beside those of persons. */
  grow(actor: Actor, bytes: number): void {
    if (isPayer(actor)) this.#count(actor, growthOf(actor), bytes)
  }

  /** Milliseconds until shops and imports may make further licenses with this part of their share; 0 if they may now. */
  waitToGrow(actor: Actor, part: number): number {
    const spent = isPayer(actor) ? this.#accounts.get(growthOf(actor)) : undefined
    return spent ? this.#waitOf(spent, growthShare * part) : 0
  }

  #count(actor: Payer, account: string, bytes: number): void {
    if (bytes === 0 || this.#options.ctx.config.rateLimits === 'off') return
    const spent = this.#spentBy(account)
    spent.waiting += bytes
    const dueAt = Math.max(firstStoredBytes, (spent.bytesPerHour ?? 0) / storedParts)
    if (spent.storing > 0 || spent.waiting < dueAt) return
    const stored = this.#store(actor, account, spent)
      .catch(this.#options.onError)
      .finally(() => this.#storing.delete(stored))
    this.#storing.add(stored)
  }

  async ended(): Promise<void> {
    await Promise.all(this.#storing)
  }

  #spentBy(account: string): Spent {
    const now = this.#options.ctx.clock.now()
    const known = this.#accounts.get(account)
    if (known && known.endsAt > now) return known
    if (this.#accounts.size >= accountsMax) {
      for (const [one, { endsAt }] of this.#accounts) if (endsAt <= now) this.#accounts.delete(one)
    }
    const begun = { endsAt: now + hour, bytesPerHour: undefined, stored: 0, storing: 0, waiting: 0 }
    this.#accounts.set(account, begun)
    return begun
  }

  async #store(scope: OfOwner, account: string, spent: Spent): Promise<void> {
    const { attempts, readBytesPerHour } = this.#options
    spent.storing = spent.waiting
    spent.waiting = 0
    try {
      const sum = await attempts.add(bytesWritten, spent.storing, account)
      spent.stored = sum.count
      spent.endsAt = sum.window_ends
      spent.bytesPerHour = await readBytesPerHour(scope)
    } catch (error) {
      spent.waiting += spent.storing
      throw error
    } finally {
      spent.storing = 0
    }
  }
}

/** What licenses of shops and imports may add, as a part of what persons may. */
const growthShare = 0.5

const growthOf = ({ ownerId }: Payer): string => `growth of ${ownerId}`

type Payer = VendorActor | ResellerActor | ShopActor

const isPayer = (actor: Actor): actor is Payer =>
  isVendor(actor) || actor.kind === 'reseller' || actor.kind === 'shop'

/** A reseller, and all shops together, have an account of their own: they must not use up that of a person. */
function accountOf(actor: Payer): string {
  if (actor.kind === 'reseller') return actor.resellerId
  return actor.kind === 'shop' ? actor.ownerId : actor.actorId
}
