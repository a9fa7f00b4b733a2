import { email as emailSchema, toPlainText, toToldText } from '@keyward/contract'
import type { ChangedFact, OrderFact, OrderLine, PaidFact } from './orders.facts.ts'
import { type Ban, type Payment, paymentsOf } from './payments.rules.ts'
import { type Share, unitsOf } from './units.rules.ts'

/** A fact that says no more who bought. */
export const withoutBuyer = (fact: OrderFact): OrderFact =>
  fact.kind === 'paid'
    ? { ...fact, email: null, name: null, locale: null, erased: true }
    : { ...fact, erased: true }

const emailMax = 254

/** What a buyer typed, without what a database cannot store or a list cannot show. */
export function withPlainTexts(fact: OrderFact): OrderFact {
  if (fact.kind !== 'paid') return fact
  const typed = fact.email?.replace(/[\s\p{C}]/gu, '') ?? ''
  const email = emailSchema.safeParse(typed).data ?? typed
  const name = toPlainText(fact.name ?? '')
  return {
    ...fact,
    name: name || null,
    email: email.length <= emailMax ? email || null : null,
    locale: toPlainText(fact.locale ?? '') || null,
    lines: fact.lines.map((line) => ({ ...line, product: toToldText(line.product) })),
  }
}

/** A fact with the place of its event, which orders facts of one moment. */
export interface PlacedFact {
  fact: OrderFact
  eventId: string
}

/** What stored events say. */
export const placedOf = (stored: readonly { fact: string | null; event_id: string }[]): PlacedFact[] =>
  stored.flatMap(({ fact, event_id: eventId }) =>
    fact === null ? [] : [{ fact: JSON.parse(fact), eventId }],
  )

/** The state of an order, by all facts of its shop. */
export interface FoldedOrder {
  paid: (PaidFact & Pick<OrderFact, 'erased'>) | undefined
  /** How many of each product the order has now. */
  lines: OrderLine[]
  /** How many of each product were paid at most at one time, with the rights of each. */
  bought: BoughtLine[]
  /** How many of each product each payment contains. */
  contained: ReadonlyMap<string, ReadonlyMap<Payment, number>>
  ban: Ban | null
  /** What was returned of payments that stand, by payment. */
  partlyRefunded: Readonly<Record<string, number>>
  /** Payments that may be lost. */
  warnings: string[]
  /** All payments, in the order of their times. */
  payments: readonly Payment[]
  /** Payments that stand. */
  standing: string[]
  /** When a subscription ends; undefined if nothing was told about it. */
  end: number | undefined
  /** Whether a subscription is paid again when its period ends. */
  isRunning: boolean
  /** Whether its last payment has failed, and nothing was told since. */
  isPastDue: boolean
  /** The product that a subscription was changed to. */
  product: string | null
  /** Products that a subscription has beside those that were bought. */
  added: string[]
}

interface BoughtLine extends OrderLine {
  shares: Share[]
}

/** In this order things happen within one moment: many shops tell times in seconds. */
const ranks: Record<OrderFact['kind'], number> = {
  paid: 0,
  changed: 1,
  renewed: 2,
  payment_failed: 3,
  canceled: 4,
  resumed: 5,
  ended: 6,
  refunded: 7,
  warned: 8,
  disputed: 9,
  dispute_won: 10,
}

/** What events say, in the order in which it happened. */
export const inOrder = (facts: readonly PlacedFact[]): OrderFact[] =>
  facts
    .toSorted(
      (a, b) =>
        a.fact.at - b.fact.at || ranks[a.fact.kind] - ranks[b.fact.kind] || (a.eventId < b.eventId ? -1 : 1),
    )
    .map(({ fact }) => fact)

/**
 * Folds the facts of an order to its state, which does not depend on the order in which they arrived: events arrive in
 * any order, more than once, and at the same time. `banned` are payments whose licenses the vendor has banned.
 */
export function foldFacts(facts: readonly PlacedFact[], banned: readonly string[] = []): FoldedOrder {
  const sorted = inOrder(facts)
  const first = sorted.find((fact) => fact.kind === 'paid')
  const products = productsOf(sorted)
  const payments = paymentsOf(sorted, banned)
  const changes = changesOf(sorted, products)
  const units = products.map((product) =>
    unitsOf(sorted, payments, { product, products, replacing: changes.product }),
  )
  const whole = unitsOf(sorted, payments)
  return {
    paid: first,
    lines: units.flatMap(({ product, now }) => (now > 0 ? [{ product, quantity: now }] : [])),
    bought: units.map(({ product, most, shares }) => ({ product, quantity: most, shares })),
    contained: new Map(units.map(({ product, contained }) => [product, contained])),
    ban: payments.all.length === 0 ? null : (whole.shares[0]?.ban ?? null),
    partlyRefunded: payments.partly,
    warnings: payments.warnings,
    payments: payments.all,
    standing: payments.all.flatMap(({ key, lost }) => (lost === null ? [key] : [])),
    end: whole.shares[0]?.end,
    isRunning: isRunning(sorted),
    isPastDue: isPastDue(sorted),
    ...changes,
  }
}

/** One that is canceled, past due or ended is not. */
const isRunning = (sorted: readonly OrderFact[]): boolean =>
  sorted.reduce((before, fact) => {
    if (fact.kind === 'payment_failed' || fact.kind === 'ended' || fact.kind === 'canceled') return false
    if (fact.kind === 'changed') return fact.cancels ? false : before || fact.until !== null
    return (
      before ||
      fact.kind === 'renewed' ||
      fact.kind === 'resumed' ||
      (fact.kind === 'paid' && fact.until !== undefined)
    )
  }, false)

const isPastDue = (sorted: readonly OrderFact[]): boolean =>
  sorted.reduce((before, { kind, ...fact }) => {
    if (kind === 'payment_failed') return true
    const isPaid = kind === 'changed' && 'until' in fact && fact.until !== null
    return isPaid || kind === 'renewed' || kind === 'ended' ? false : before
  }, false)

const productsOf = (sorted: readonly OrderFact[]): string[] => {
  const bought = sorted.flatMap((fact) => (fact.kind === 'paid' ? fact.lines : []))
  return [...new Set(bought.map(({ product }) => product))].sort((a, b) => (a < b ? -1 : 1))
}

function changesOf(
  sorted: readonly OrderFact[],
  bought: readonly string[],
): Pick<FoldedOrder, 'product' | 'added'> {
  let product: string | null = null
  let products = bought
  let added: string[] = []
  for (const fact of sorted) {
    if (fact.kind !== 'changed') continue
    const after = fact.products ?? [fact.product]
    const replacing = newProductOf(fact, products)
    product = replacing ?? product
    const fresh = after.filter((one) => one !== replacing && !products.includes(one))
    added = [...added, ...fresh].filter((one) => after.includes(one))
    products = [...after]
  }
  return { product, added }
}

/** Many shops tell all of a subscription whenever something about it changes. What replaces nothing is an addition. */
function newProductOf({ product, products }: ChangedFact, before: readonly string[]): string | undefined {
  if (!products && before.length > 1) return product
  const after = products ?? [product]
  const isAddition = before.every((one) => after.includes(one))
  return isAddition ? undefined : after.find((one) => !before.includes(one))
}
