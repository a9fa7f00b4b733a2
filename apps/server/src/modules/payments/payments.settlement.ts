import type { ProviderActor } from '../../core/actor.ts'
import { newId } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import { Gate } from '../../core/queues/gate.ts'
import type { Tx, WriteTransaction } from '../../db/index.ts'
import type { OrderRow, OwnerRow, PaymentRow } from '../../db/tables.ts'
import { lockOwner, setPremiumUntil } from '../owners/owners.service.ts'
import { isForever } from '../owners/plan.rules.ts'
import type { Payments, ProviderDispute, ProviderPayment } from './payments.provider.ts'
import * as repo from './payments.repo.ts'
import { isRefunded, isTaken, nextCheck, nextPeriod, remainingOf, startOfNext } from './payments.rules.ts'

/** What the provider reports about a payment. */
export interface Reported {
  payment: ProviderPayment
  dispute?: ProviderDispute | undefined
}

/** Fetches the current state of an order from the provider; called again when the order changed meanwhile. */
export type Fetch = (order: OrderRow) => Promise<Reported[]>

const attemptsInTurn = 20
const attemptsAtOnce = 2

/** A call that was overtaken twice waits for its turn: many payments of one order would overtake each other too often. */
const turns = new Gate({
  running: 1,
  waiting: Number.POSITIVE_INFINITY,
  rejection: () => problem('internal'),
})

/**
 * Applies what the provider reports about an order. Fetched outside of the transaction; a report that was fetched
 * before the order's last change is discarded and fetched again, so that an older state never overwrites a newer one.
 */
export async function settle(payments: Payments, orderId: string, fetch: Fetch): Promise<void> {
  if (await trySettling(payments, orderId, fetch, attemptsAtOnce)) return
  const endTurn = await turns.enter(orderId)
  try {
    if (await trySettling(payments, orderId, fetch, attemptsInTurn)) return
  } finally {
    endTurn()
  }
  // The scheduled recheck settles the order later.
  throw problem('payment_pending')
}

async function trySettling(
  { ctx }: Payments,
  orderId: string,
  fetch: Fetch,
  attempts: number,
): Promise<boolean> {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const before = await repo.getOrder(ctx.db, orderId)
    const reported = await fetch(before)
    const actor: ProviderActor = { kind: 'provider', ownerId: before.owner_id, provider: before.provider }
    const isSettled = await ctx.tx(actor, async (write) => {
      const owner = await lockOwner(write.tx, actor)
      const order = await repo.lockOrder(write.tx, orderId)
      if (order.version !== before.version) return false
      await new Settlement(write, owner, order, ctx.clock.now()).apply(reported)
      return true
    })
    if (isSettled) return true
  }
  return false
}

/** A payment may be disputed more than once; winning one dispute does not undo another one that was lost. */
function disputeOf(
  known: Pick<PaymentRow, 'dispute' | 'dispute_id'> = { dispute: null, dispute_id: null },
  reported: Reported['dispute'],
): Pick<PaymentRow, 'dispute' | 'dispute_id'> {
  const { dispute, dispute_id } = known
  const isOther = dispute_id !== null && dispute_id !== reported?.id
  if (!reported || (dispute === 'lost' && isOther)) return { dispute, dispute_id }
  return { dispute: reported.status, dispute_id: reported.id }
}

/** One order in one transaction that has locked its owner. */
class Settlement {
  readonly #write: WriteTransaction
  readonly #tx: Tx
  readonly #now: number
  readonly #owner: OwnerRow
  readonly #order: OrderRow
  #hasChanged = false

  constructor(write: WriteTransaction, owner: OwnerRow, order: OrderRow, now: number) {
    this.#write = write
    this.#tx = write.tx
    this.#owner = owner
    this.#order = order
    this.#now = now
  }

  async apply(reported: Reported[]): Promise<void> {
    for (const { payment, dispute } of reported) {
      // The buyer has only started to enter card details.
      if (payment.status === 'created') continue
      const row = await this.#store(payment, dispute)
      await this.#applyConsequences(row)
    }
    await this.#planNextCheck()
  }

  async #store(payment: ProviderPayment, dispute: Reported['dispute']): Promise<PaymentRow> {
    const facts = {
      status: payment.status,
      amount: payment.amount,
      currency: payment.currency,
      amount_refunded: payment.amountRefunded,
      method: payment.method,
      failure: payment.failure,
    }
    const known = await repo.findPayment(this.#tx, this.#order.id, payment.id)
    const disputed = disputeOf(known, dispute)
    if (known) return this.#change(known, { ...facts, ...disputed })
    const row: PaymentRow = {
      ...facts,
      id: newId('pay'),
      order_id: this.#order.id,
      owner_id: this.#owner.id,
      provider_payment_id: payment.id,
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

  /** Starts, takes back or restores premium, or marks the payment for a refund. */
  async #applyConsequences(row: PaymentRow): Promise<void> {
    if (!isTaken(row)) return
    const refunded = isRefunded(row)
    if (row.activated_at === null) {
      if (!refunded && this.#isAwaited(row)) return this.#activate(row)
      if (this.#order.status === 'open' || this.#order.status === 'expired') this.#order.status = 'closed'
      if (!refunded && row.refund_reason === null) {
        const isSame = row.amount === this.#order.amount && row.currency === this.#order.currency
        await this.#change(row, { refund_reason: isSame ? 'second' : 'different', refund_due: 1 })
        this.#record('payment.refund_due', row)
        return
      }
    } else if (refunded && row.taken_back_ms === null) {
      row = await this.#takeBack(row)
    } else if (!refunded && row.taken_back_ms !== null && row.refund_reason === null) {
      row = await this.#restore(row)
    }
    // A failed refund is due again.
    if (row.refund_reason !== null) await this.#change(row, { refund_due: refunded ? 0 : 1 })
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

  /** Removes the rest of the paid period; later periods move forward. */
  async #takeBack(row: PaymentRow): Promise<PaymentRow> {
    const [start, end] = [row.period_start ?? 0, row.period_end ?? 0]
    const removedMs = remainingOf({ start, end }, this.#now)
    const taken = await this.#change(row, { taken_back_ms: removedMs, period_end: end - removedMs })
    if (removedMs > 0) {
      await repo.shiftPeriods(this.#tx, { ownerId: this.#owner.id }, end, -removedMs)
      await this.#setPremiumUntil(Math.max(this.#now, (this.#owner.premium_until ?? 0) - removedMs))
    }
    this.#record('plan.taken_back', taken)
    return taken
  }

  /** Restores the removed time after a won dispute or a failed refund. */
  async #restore(row: PaymentRow): Promise<PaymentRow> {
    const start = startOfNext(this.#owner.premium_until, this.#now)
    const end = start + (row.taken_back_ms ?? 0)
    const period = end > start ? { period_start: start, period_end: end } : {}
    const restored = await this.#change(row, { taken_back_ms: null, ...period })
    if (end > start) await this.#setPremiumUntil(end)
    this.#record('plan.restored', restored)
    return restored
  }

  async #setPremiumUntil(until: number): Promise<void> {
    if (isForever(this.#owner.premium_until)) return
    const { id, premium_cancelled_at } = this.#owner
    await setPremiumUntil(this.#tx, { ownerId: id }, until, premium_cancelled_at)
    this.#owner.premium_until = until
  }

  async #change(row: PaymentRow, change: repo.PaymentChange): Promise<PaymentRow> {
    const isChanged = Object.entries(change).some(([name, value]) => row[name as keyof PaymentRow] !== value)
    if (!isChanged) return row
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
