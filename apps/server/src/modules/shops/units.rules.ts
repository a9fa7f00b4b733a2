import type { OrderFact, OrderLine } from './orders.facts.ts'
import { type Ban, isNameless, type Payment, type Payments } from './payments.rules.ts'

/** What some units of a product have: those up to `units`, beyond those of the share before. */
export interface Share {
  units: number
  /** Undefined if nothing was told about it. */
  end: number | undefined
  ban: Ban | null
}

/** A product that was bought, all of them, and what replaced the only one. */
interface Bought {
  product: string
  products: readonly string[]
  replacing: string | null
}

interface ToldUnits {
  product: string
  /** How many there are now, also if further ones are not paid yet. */
  now: number
  /** How many were paid at most at one time. */
  most: number
  shares: Share[]
  /** How many each payment contains. */
  contained: ReadonlyMap<Payment, number>
}

/** What was told about the end of some units: until when they are paid, or that a period is over. */
interface Statement {
  kind: 'until' | 'over'
  fact: OrderFact
  until: number
  units: number
  payment: Payment | null
}

/** How many units of a product the payments of an order contain, and until when; of one unit if no product is named. */
export function unitsOf(
  sorted: readonly OrderFact[],
  { all, of, find }: Payments,
  bought?: Bought,
): ToldUnits {
  const told = (fact: OrderFact) => (bought ? quantityIn(fact, bought) : undefined)
  let now = sorted.map(told).find((quantity) => quantity !== undefined) ?? 1
  let most = 0
  const contained = new Map<Payment, number>()
  const statements: Statement[] = []
  for (const fact of sorted) {
    const payment = of.get(fact) ?? null
    if (fact.kind === 'paid' || fact.kind === 'renewed' || fact.kind === 'changed') {
      const before = now
      now = told(fact) ?? now
      const isPaid = fact.kind !== 'changed' || fact.hasPaidUnits || contained.get(payment!) === undefined
      const units = isPaid ? now : Math.min(now, before)
      if (payment && (fact.kind !== 'changed' || isPaid)) {
        contained.set(payment, Math.max(contained.get(payment) ?? 0, units))
        most = Math.max(most, units)
      }
      const until = fact.until ?? null
      if (until === null) continue
      // What is fewer from now on was paid until this end, if no other one was told.
      const covers = fact.kind === 'changed' && statements.length === 0 ? Math.max(before, units) : units
      statements.push({ kind: 'until', fact, until, units: covers, payment })
    }
    if (fact.kind !== 'payment_failed' && fact.kind !== 'ended') continue
    const failed = fact.kind === 'payment_failed' && !isNameless(fact) ? find(fact) : null
    if (failed !== undefined)
      statements.push({
        kind: 'over',
        fact,
        until: fact.at,
        units: Number.POSITIVE_INFINITY,
        payment: failed,
      })
  }
  const steps = [...new Set([...contained.values(), ...statements.map(({ units }) => units)])]
    .filter((units) => units > 0 && units < most)
    .sort((a, b) => a - b)
  const shareOf = (units: number): Share => {
    const paid = all.filter((payment) => (contained.get(payment) ?? 0) >= units)
    const standing = paid.filter(({ lost }) => lost === null)
    const own = statements.filter((one) => one.units >= units)
    const lost = paid.some((payment) => payment.lost === 'dispute') ? 'dispute' : 'refund'
    // What was lost keeps the end that it had.
    const kept = standing.length > 0 ? null : lost
    const counted = own.filter(({ payment }) => !payment || payment.lost === null || payment.lost === kept)
    return { units, end: endOf(counted), ban: standing.length > 0 || paid.length === 0 ? null : lost }
  }
  const shares = [...steps, Math.max(1, most)].map(shareOf)
  const isLast = (share: Share, at: number) =>
    share.end !== shares[at + 1]?.end || share.ban !== shares[at + 1]?.ban || at === shares.length - 1
  return { product: bought?.product ?? '', now, most, shares: shares.filter(isLast), contained }
}

/** How many units of a product a fact tells of; undefined if it says nothing about them. */
function quantityIn(fact: OrderFact, { product, products, replacing }: Bought): number | undefined {
  if (fact.kind !== 'paid' && fact.kind !== 'renewed' && fact.kind !== 'changed') return undefined
  const { lines } = fact
  if (!lines || lines.length === 0) return undefined
  const of = (name: string | null) => sumOf(lines.filter((line) => line.product === name))
  const own = of(product)
  if (own !== undefined || fact.kind === 'paid') return own
  if (products.length === 1)
    return (
      of(replacing) ??
      (lines.length === 1 && (!fact.isPart || fact.kind === 'changed') ? lines[0]?.quantity : undefined)
    )
  const isRemoved = !fact.isPart && lines.every((line) => products.includes(line.product))
  return isRemoved ? 0 : undefined
}

const sumOf = (lines: readonly OrderLine[]): number | undefined =>
  lines.length === 0 ? undefined : lines.reduce((sum, { quantity }) => sum + quantity, 0)

/**
 * A failed payment ends its period, and what follows are the license's grace days; a further one does not start them again.
 * What other payments paid stays.
 */
function endOf(statements: readonly Statement[]): number | undefined {
  let told: Statement[] = []
  for (const one of statements) {
    if (one.kind === 'until') {
      told.push(one)
      continue
    }
    const isOver = ({ payment }: Statement) => one.payment === null || payment === one.payment
    if (!told.some(isOver)) told.push(one)
    told = told.map((each) =>
      isOver(each)
        ? { ...each, kind: one.payment ? 'over' : each.kind, until: Math.min(each.until, one.until) }
        : each,
    )
  }
  const current = told.filter((one) => !told.some((other) => replaces(other, one)))
  return current.length === 0 ? undefined : Math.max(...current.map(({ until }) => until))
}

/** Whether the newer of two statements counts, also if it tells an earlier end. */
function replaces({ kind, fact }: Statement, { fact: before }: Statement): boolean {
  const isTimed = fact.timed ?? fact.kind === 'changed'
  return kind === 'until' && isTimed && before.timed !== false && fact.at > before.at
}
