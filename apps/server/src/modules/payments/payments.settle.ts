import type { ProviderActor } from '../../core/actor.ts'
import { newId } from '../../core/ids.ts'
import type { Write } from '../../core/record.ts'
import type { Tx } from '../../db/open.ts'
import type { OrderRow, OwnerRow, PaymentRow } from '../../db/tables.ts'
import { lockOwner, setPremiumUntil } from '../auth/auth.service.ts'
import type { Payments } from './payments.ctx.ts'
import type { ProviderDispute, ProviderPayment } from './payments.provider.ts'
import * as repo from './payments.repo.ts'
import { isGivenBack, isTaken, nextCheck, nextPeriod, remainingOf } from './payments.rules.ts'

/** What the provider says of a payment now. */
export interface Sighting {
  payment: ProviderPayment
  dispute?: ProviderDispute | undefined
}

/** Asks the provider about an order; called again when the order has changed meanwhile. */
export type Look = (order: OrderRow) => Promise<Sighting[]>

const triesMax = 10

/**
 * Brings an order to what the provider knows. Whoever asks, and however often and by however many at once: news that
 * was asked for before the last change is not believed, so that what is written is never older than what was there.
 */
export async function settle({ ctx }: Payments, orderId: string, look: Look): Promise<void> {
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const before = await repo.getOrder(ctx.db, orderId)
    const sightings = await look(before)
    const actor: ProviderActor = { kind: 'provider', ownerId: before.owner_id, provider: before.provider }
    const isSettled = await ctx.tx(actor, async (write) => {
      const { tx } = write
      const owner = await lockOwner(tx, actor)
      const order = await repo.lockOrder(tx, orderId)
      if (order.version !== before.version) return false
      await new Settlement(write, owner, order, ctx.clock.now()).settle(sightings)
      return true
    })
    if (isSettled) return
  }
  throw new Error(`order ${orderId} changed ${triesMax} times while the provider was asked about it`)
}

/** Has an order looked at soon, should this server end before it has settled what it was told. */
export const note = ({ ctx }: Payments, orderId: string): Promise<unknown> =>
  repo.updateOrder(ctx.db, orderId, { next_check_at: ctx.clock.now() })

/** Settles what was noted. When that fails, nobody who asked before the news may write over the note. */
export async function settleNoted(payments: Payments, orderId: string, look: Look): Promise<void> {
  try {
    await settle(payments, orderId, look)
  } catch (error) {
    await repo.touchOrder(payments.ctx.db, orderId, payments.ctx.clock.now())
    throw error
  }
}

/** A payment may be disputed more than once: what one dispute took, no other one brings back. */
function disputeOf(
  known: Pick<PaymentRow, 'dispute' | 'dispute_id'> = { dispute: null, dispute_id: null },
  news: Sighting['dispute'],
): Pick<PaymentRow, 'dispute' | 'dispute_id'> {
  const { dispute, dispute_id } = known
  const isOther = dispute_id !== null && dispute_id !== news?.id
  if (!news || (dispute === 'lost' && isOther)) return { dispute, dispute_id }
  return { dispute: news.status, dispute_id: news.id }
}

/** One order in one transaction that has locked its owner. */
class Settlement {
  readonly #write: Write
  readonly #tx: Tx
  readonly #now: number
  readonly #owner: OwnerRow
  readonly #order: OrderRow
  #hasChanged = false

  constructor(write: Write, owner: OwnerRow, order: OrderRow, now: number) {
    this.#write = write
    this.#tx = write.tx
    this.#owner = owner
    this.#order = order
    this.#now = now
  }

  async settle(sightings: Sighting[]): Promise<void> {
    for (const { payment, dispute } of sightings) {
      // Somebody has begun to type a card number: nothing to keep.
      if (payment.status === 'created') continue
      const row = await this.#see(payment, dispute)
      await this.#judge(row)
    }
    await this.#planNextCheck()
  }

  async #see(seen: ProviderPayment, dispute: Sighting['dispute']): Promise<PaymentRow> {
    const facts = {
      status: seen.status,
      amount: seen.amount,
      currency: seen.currency,
      amount_refunded: seen.amountRefunded,
      method: seen.method,
      failure: seen.failure,
    }
    const known = await repo.findPayment(this.#tx, this.#order.id, seen.id)
    const disputed = disputeOf(known, dispute)
    if (known) return this.#change(known, { ...facts, ...disputed })
    const row: PaymentRow = {
      ...facts,
      id: newId('pay'),
      order_id: this.#order.id,
      owner_id: this.#owner.id,
      provider_payment_id: seen.id,
      refund_reason: null,
      refund_due: 0,
      ...disputed,
      activated_at: null,
      period_start: null,
      period_end: null,
      taken_back_ms: null,
      created_at: this.#now,
    }
    await repo.insertPayment(this.#tx, row)
    this.#recordStatus(row)
    return row
  }

  /** What follows from a payment as it is now. */
  async #judge(row: PaymentRow): Promise<void> {
    if (!isTaken(row)) return
    const givenBack = isGivenBack(row)
    if (row.activated_at === null) {
      if (!givenBack && this.#isAwaited(row)) return this.#activate(row)
      if (this.#order.status === 'open' || this.#order.status === 'expired') this.#order.status = 'closed'
      if (!givenBack && row.refund_reason === null) {
        const isSame = row.amount === this.#order.amount && row.currency === this.#order.currency
        await this.#change(row, { refund_reason: isSame ? 'second' : 'different', refund_due: 1 })
        this.#record('payment.refund_due', row)
        return
      }
    } else if (givenBack && row.taken_back_ms === null) {
      row = await this.#takeBack(row)
    } else if (!givenBack && row.taken_back_ms !== null && row.refund_reason === null) {
      row = await this.#restore(row)
    }
    // A refund of ours that failed in the end is due again.
    if (row.refund_reason !== null) await this.#change(row, { refund_due: givenBack ? 0 : 1 })
  }

  #isAwaited(row: PaymentRow): boolean {
    const { status, amount, currency } = this.#order
    return status !== 'paid' && status !== 'closed' && row.amount === amount && row.currency === currency
  }

  async #activate(row: PaymentRow): Promise<void> {
    const { start, end } = nextPeriod(this.#owner.premium_until, this.#order.plan_duration, this.#now)
    this.#order.status = 'paid'
    const paid = await this.#change(row, { activated_at: this.#now, period_start: start, period_end: end })
    this.#owner.premium_cancelled_at = null
    await this.#setPremiumUntil(end)
    this.#record('plan.paid', paid)
  }

  /** The rest of the period that was paid with it goes; what was paid for later begins earlier. */
  async #takeBack(row: PaymentRow): Promise<PaymentRow> {
    const [start, end] = [row.period_start ?? 0, row.period_end ?? 0]
    const gone = remainingOf({ start, end }, this.#now)
    const taken = await this.#change(row, { taken_back_ms: gone, period_end: end - gone })
    if (gone > 0) {
      await repo.shiftPeriods(this.#tx, { ownerId: this.#owner.id }, end, -gone)
      await this.#setPremiumUntil(Math.max(this.#now, (this.#owner.premium_until ?? 0) - gone))
    }
    this.#record('plan.taken_back', taken)
    return taken
  }

  /** A dispute was won, or a refund failed: what had gone begins again. */
  async #restore(row: PaymentRow): Promise<PaymentRow> {
    const start = Math.max(this.#now, this.#owner.premium_until ?? 0)
    const end = start + (row.taken_back_ms ?? 0)
    const period = end > start ? { period_start: start, period_end: end } : {}
    const restored = await this.#change(row, { taken_back_ms: null, ...period })
    if (end > start) await this.#setPremiumUntil(end)
    this.#record('plan.restored', restored)
    return restored
  }

  async #setPremiumUntil(until: number): Promise<void> {
    const { id, premium_cancelled_at } = this.#owner
    await setPremiumUntil(this.#tx, { ownerId: id }, until, premium_cancelled_at)
    this.#owner.premium_until = until
  }

  async #change(row: PaymentRow, change: repo.PaymentChange): Promise<PaymentRow> {
    const isNews = Object.entries(change).some(([name, value]) => row[name as keyof PaymentRow] !== value)
    if (!isNews) return row
    const changed = await repo.updatePayment(this.#tx, row.id, change)
    this.#recordStatus(changed)
    return changed
  }

  async #planNextCheck(): Promise<void> {
    const { id, status, version } = this.#order
    await repo.updateOrder(this.#tx, id, {
      status,
      version: this.#hasChanged ? version + 1 : version,
      next_check_at: nextCheck(this.#order, await repo.summarize(this.#tx, id), this.#now),
    })
  }

  #record(
    action: 'payment.refund_due' | 'plan.paid' | 'plan.taken_back' | 'plan.restored',
    row: PaymentRow,
  ): void {
    const { id: orderId } = this.#order
    const premiumUntil = this.#owner.premium_until
    this.#write.record(action, row.id, { orderId, amount: row.amount, currency: row.currency, premiumUntil })
  }

  #recordStatus(row: PaymentRow): void {
    this.#hasChanged = true
    this.#write.record('payment.updated', row.id, { orderId: this.#order.id, status: row.status })
  }
}
