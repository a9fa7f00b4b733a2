import { email as emailSchema, toPlainText, toToldText } from '@keyward/contract'

/** What one event says about an order. */
export type OrderFact = { order: string; at: number /** Its buyer was erased. */; erased?: true } & (
  | PaidFact
  /** `amount` is what this refund returns, or all refunds so far; null for everything. */
  | { kind: 'refunded'; amount: number | null; isSum?: boolean }
  | { kind: 'disputed' | 'dispute_won' | 'payment_failed' | 'ended' }
  | { kind: 'renewed'; until: number }
  | ChangedFact
)

/** `products` is all that the subscription has now, where it can have several; `until` is null if nothing is known of it. */
export interface ChangedFact {
  kind: 'changed'
  product: string
  products?: readonly string[]
  until: number | null
}

export interface PaidFact {
  kind: 'paid'
  email: string | null
  name: string | null
  /** The buyer's language, as the shop names it. */
  locale?: string | null
  amount: number | null
  currency: string | null
  test: boolean
  lines: readonly OrderLine[]
  /** When a subscription that begins with it ends, unless it is renewed. */
  until?: number
}

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

export interface OrderLine {
  product: string
  quantity: number
}

/** A fact with the place of its event, which orders facts of one moment. */
export interface PlacedFact {
  fact: OrderFact
  eventId: string
}

/** What an order is, by all that its shop has told. */
export interface ToldOrder {
  paid: (PaidFact & Pick<OrderFact, 'erased'>) | undefined
  /** How many of each product were bought. */
  lines: OrderLine[]
  ban: 'refund' | 'dispute' | null
  /** The sum of refunds that do not return everything. */
  partlyRefunded: number
  /** When a subscription ends; undefined if nothing was told about it. */
  end: number | undefined
  /** The product that a subscription was changed to. */
  product: string | null
  /** Products that a subscription has beside those that were bought. */
  added: string[]
}

/** In this order things happen within one moment: many shops tell times in seconds. */
const ranks: Record<OrderFact['kind'], number> = {
  paid: 0,
  changed: 1,
  renewed: 2,
  payment_failed: 3,
  ended: 4,
  refunded: 5,
  disputed: 6,
  dispute_won: 7,
}

/**
 * What events say together. Depends on which facts there are, and not on the order in which they arrived: events arrive in
 * any order, more than once, and at the same time.
 */
export function toldBy(facts: readonly PlacedFact[]): ToldOrder {
  const sorted = facts
    .toSorted(
      (a, b) =>
        a.fact.at - b.fact.at || ranks[a.fact.kind] - ranks[b.fact.kind] || (a.eventId < b.eventId ? -1 : 1),
    )
    .map(({ fact }) => fact)
  const paid = sorted.filter((fact) => fact.kind === 'paid')
  const refunds = sorted.filter((fact) => fact.kind === 'refunded')
  const sums = refunds.map(({ amount, isSum }) => (isSum ? (amount ?? 0) : 0))
  const single = refunds.reduce((sum, { amount, isSum }) => sum + (isSum ? 0 : (amount ?? 0)), 0)
  const returned = single + Math.max(0, ...sums)
  const total = paid[0]?.amount ?? null
  // A shop that tells sums says itself what is everything: the first payment may be a trial, and the refund that of a renewal.
  const isReturned =
    refunds.some(({ amount }) => amount === null) || (total !== null && single > 0 && single >= total)
  const lines = linesOf(paid)
  return {
    paid: paid[0],
    lines,
    ban: isReturned ? 'refund' : isDisputed(sorted) ? 'dispute' : null,
    partlyRefunded: isReturned ? 0 : returned,
    ...subscriptionOf(sorted, lines),
  }
}

/** A shop that tells of an order twice, by events of its own, gets no second license for it. */
function linesOf(paid: readonly PaidFact[]): OrderLine[] {
  const bought = new Map<string, number>()
  for (const { lines } of paid) {
    const one = new Map<string, number>()
    for (const { product, quantity } of lines) one.set(product, (one.get(product) ?? 0) + quantity)
    for (const [product, quantity] of one) bought.set(product, Math.max(bought.get(product) ?? 0, quantity))
  }
  return [...bought]
    .map(([product, quantity]) => ({ product, quantity }))
    .sort((a, b) => (a.product < b.product ? -1 : 1))
}

function isDisputed(sorted: readonly OrderFact[]): boolean {
  const last = sorted.findLast(({ kind }) => kind === 'disputed' || kind === 'dispute_won')
  return last?.kind === 'disputed'
}

/** A failed payment ends the paid time, and what follows are the license's grace days; a further one does not start them again. */
function subscriptionOf(
  sorted: readonly OrderFact[],
  lines: readonly OrderLine[],
): Pick<ToldOrder, 'end' | 'product' | 'added'> {
  let end: number | undefined
  let product: string | null = null
  let products = lines.map((line) => line.product)
  let added: string[] = []
  for (const fact of sorted) {
    if ((fact.kind === 'renewed' || fact.kind === 'paid') && fact.until !== undefined)
      end = Math.max(end ?? fact.until, fact.until)
    if (fact.kind === 'changed') {
      if (fact.until !== null) end = fact.until
      const after = fact.products ?? [fact.product]
      const replacing = newProductOf(fact, products)
      product = replacing ?? product
      const fresh = after.filter((one) => one !== replacing && !products.includes(one))
      added = [...added, ...fresh].filter((one) => after.includes(one))
      products = [...after]
    }
    if (fact.kind === 'payment_failed' || fact.kind === 'ended') end = Math.min(end ?? fact.at, fact.at)
  }
  return { end, product, added }
}

/** Many shops tell all of a subscription whenever something about it changes. What replaces nothing is an addition. */
function newProductOf({ product, products }: ChangedFact, before: readonly string[]): string | undefined {
  if (!products && before.length > 1) return product
  const after = products ?? [product]
  const isAddition = before.every((one) => after.includes(one))
  return isAddition ? undefined : after.find((one) => !before.includes(one))
}
