import { system } from '../../core/actor.ts'
import { inSlices, type WriteTransaction } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { countOrder, type SaleEntry } from '../sales/sales.count.ts'
import type { OrderFact } from './orders.facts.ts'
import * as repo from './orders.repo.ts'
import { type FoldedOrder, foldFacts, inOrder, type PlacedFact, placedOf } from './orders.rules.ts'
import { disputesIn, isNameless, type Payment, paidBefore, paymentsOf } from './payments.rules.ts'
import { listFacts } from './shop-events.repo.ts'

/** What an order is counted as, by all that its shop has told; nothing for a test, and before the order itself has arrived. */
export function salesOf(facts: readonly PlacedFact[], { paid, ban, end }: FoldedOrder): SaleEntry[] {
  if (!paid || paid.test) return []
  const sorted = inOrder(facts)
  const payments = paymentsOf(sorted, [])
  const { all } = payments
  const first = sorted.find((fact) => fact.kind === 'paid')
  const bought = first && payments.of.get(first)
  const currencies = new Map<Payment, string>()
  for (const [fact, payment] of payments.of) {
    const currency = 'currency' in fact ? fact.currency : undefined
    if (currency && !currencies.has(payment)) currencies.set(payment, currency.toUpperCase())
  }
  const currencyOf = (payment?: Payment) =>
    (payment && currencies.get(payment)) ?? paid.currency?.toUpperCase() ?? ''
  const entry = (kind: SaleEntry['kind'], at: number, amount: number, payment?: Payment): SaleEntry => ({
    ...{ kind, at, amount, currency: currencyOf(payment), product: productAt(sorted, payment?.at ?? at) },
  })
  const entries = all.flatMap((payment) => {
    const kind = payment === bought ? 'new' : 'renewed'
    const own = entry(kind, payment.at, payment.amount ?? 0, payment)
    return payment.amount === null ? [own, { ...own, kind: 'unpriced' as const }] : [own]
  })
  const heldBy = (held: readonly Payment[]) => held.reduce((sum, { amount }) => sum + (amount ?? 0), 0)
  for (const { fact, opened } of disputesIn(sorted)) {
    const one = payments.find(opened ?? fact)
    const held = one ? [one] : isNameless(opened ?? fact) ? paidBefore(all, (opened ?? fact).at) : []
    if (!opened) entries.push(entry('disputed', fact.at, heldBy(held), held[0]))
    else if (opened.kind === 'disputed') entries.push(entry('dispute_won', fact.at, heldBy(held), held[0]))
  }
  for (const { at, amount, payment } of refundsOf(sorted, payments))
    entries.push(entry('refunded', at, amount, payment))
  const last = all.findLast(({ lost }) => lost === null)
  const isOver = sorted.some(
    (fact) => (fact.kind === 'ended' || fact.kind === 'payment_failed') && last && fact.at >= last.at,
  )
  if (last && end !== undefined && ban === null && !isOver) {
    const priced = all.findLast(({ lost, amount }) => lost === null && amount !== null)
    entries.push({ ...entry('due', end, priced?.amount ?? 0, last), product: productAt(sorted, last.at) })
  }
  return entries
}

/** The only product that an order had at a time; empty for several, or for none. */
function productAt(sorted: readonly OrderFact[], at: number): string {
  let products: readonly string[] = []
  for (const fact of sorted) {
    if (fact.kind === 'paid' && products.length === 0) products = fact.lines.map(({ product }) => product)
    if (fact.kind !== 'changed' || fact.at > at) continue
    if (fact.products) products = fact.products
    else if (products.length < 2) products = [fact.product]
  }
  const [only = '', ...others] = new Set(products)
  return others.length > 0 ? '' : only
}

interface Refund {
  at: number
  /** Negative for a refund that failed later. */
  amount: number
  payment: Payment | undefined
}

type Payments = ReturnType<typeof paymentsOf>

/** What was returned, and when: never more than was paid, as far as that was told. */
function refundsOf(sorted: readonly OrderFact[], { all, find }: Payments): Refund[] {
  const refunds: Refund[] = []
  /** By payment; of those that were not told by name, and of the whole order by its last payment. */
  const returned = new Map<Payment | string, number>()
  /** The sums that were told last, and when. */
  const sums = new Map<Payment | string, { sum: number; at: number }>()
  for (const fact of sorted) {
    if (fact.kind !== 'refunded') continue
    const one = find(fact)
    const key = one ?? fact.payment ?? ''
    const of = one ? [one] : isNameless(fact) ? paidBefore(all, fact.at) : []
    const isPriced = of.length > 0 && of.every(({ amount }) => amount !== null)
    const paid = of.reduce((sum, { amount }) => sum + (amount ?? 0), 0)
    const before = [...(one ? [] : [key]), ...of].reduce((sum, each) => sum + (returned.get(each) ?? 0), 0)
    const told = sums.get(key)
    const own = fact.amount ?? Math.max(0, paid - (fact.isSum ? 0 : before))
    // The largest one of the sums that were told at one time counts.
    const sum = told?.at === fact.at ? Math.max(told.sum, own) : own
    if (fact.isSum) sums.set(key, { sum, at: fact.at })
    const wanted = before + (fact.isSum ? sum - (told?.sum ?? 0) : own)
    const after = Math.max(0, isPriced ? Math.min(wanted, paid) : wanted)
    const isUnpriced = fact.amount === null && !isPriced
    if (after === before && !(isUnpriced && before === 0)) continue
    returned.set(key, (returned.get(key) ?? 0) + after - before)
    refunds.push({ at: fact.at, amount: after - before, payment: one ?? of[0] })
  }
  return refunds
}

/** Counts the orders of earlier versions, a few at a time, until the server ends. */
export const countEarlier = (ctx: Ctx, isEnding: () => boolean): Promise<number> =>
  inSlices(ctx, system, async (write, size) => {
    const ids = isEnding() ? [] : await repo.listUncounted(write.tx, size)
    for (const id of ids) await countOnce(write, id)
    return { found: ids.length }
  })

async function countOnce(write: WriteTransaction, id: string): Promise<void> {
  const { tx } = write
  const order = await repo.findLocked(tx, id)
  if (order?.counted !== 0) return
  const placed = placedOf(await listFacts(tx, id))
  await countOrder(write, order, salesOf(placed, foldFacts(placed, repo.chosenOf(order).banned)))
  await repo.updateOrder(tx, id, { counted: 1 })
}
