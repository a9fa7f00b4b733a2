import { day, hour } from '../../core/clock.ts'
import type { OrderFact, PaymentName } from './orders.facts.ts'

export type Ban = 'refund' | 'dispute'

/** One payment of an order. It stands until it is lost. */
export interface Payment {
  /** Its name, else one that the facts about it have in common. */
  key: string
  isNamed: boolean
  at: number
  amount: number | null
  untils: number[]
  lost: Ban | null
}

export interface Payments {
  /** In the order of their times. */
  all: Payment[]
  /** Which payment a fact with an end belongs to. */
  of: ReadonlyMap<OrderFact, Payment>
  partly: Record<string, number>
  warnings: string[]
  /** The payment that a fact names; undefined if it is none of these. */
  find: (fact: PaymentName & { at: number }) => Payment | undefined
}

type FactOf<K extends OrderFact['kind']> = Extract<OrderFact, { kind: K }>
const isKind =
  <K extends OrderFact['kind']>(...kinds: K[]) =>
  (fact: OrderFact): fact is FactOf<K> =>
    (kinds as string[]).includes(fact.kind)

/** The payments that facts tell of, and which of them stand. */
export function paymentsOf(sorted: readonly OrderFact[], banned: readonly string[]): Payments {
  const told = collect(sorted)
  const { all } = told
  const partly = loseRefunded(told, sorted)
  for (const payment of all) if (banned.includes(payment.key)) payment.lost = 'refund'
  const warnings = loseDisputed(told, sorted)
  const kept = Object.entries(partly).filter(([key]) => !all.some((one) => one.key === key && one.lost))
  const isLost = all.length > 0 && all.every(({ lost }) => lost === 'refund')
  return { ...told, warnings: isLost ? [] : warnings, partly: isLost ? {} : Object.fromEntries(kept) }
}

export const isNameless = ({ payment, periodEnd, periodStart }: PaymentName): boolean =>
  payment === undefined && periodEnd === undefined && periodStart === undefined

type Told = Pick<Payments, 'all' | 'of' | 'find'>

/** How far the beginning of a period may be from the end of the one before. */
export const slack = 12 * hour

function collect(sorted: readonly OrderFact[]): Told {
  const paid = sorted.filter(isKind('paid'))
  /** The checkout of a subscription may not name its invoice. */
  const isFirstBill = ({ isFirst, at }: FactOf<'renewed'>) =>
    isFirst || (paid[0]?.isUnnamed && Math.abs(at - paid[0].at) < day)
  const firstName =
    paid.find(({ payment }) => payment !== undefined)?.payment ??
    sorted.filter(isKind('renewed')).find((fact) => fact.payment !== undefined && isFirstBill(fact))?.payment
  const firstKey = firstName ?? ''
  const byKey = new Map<string, Payment>()
  const of = new Map<OrderFact, Payment>()
  const ends = () => [...byKey.values()].flatMap(({ untils }) => untils)
  const withEnd = (until: number) => [...byKey.values()].find(({ untils }) => untils.includes(until))?.key
  /** The first period may be told by an event of its own. */
  const isFirstPeriod = (at: number) =>
    paid[0] !== undefined && Math.abs(at - paid[0].at) < day && ends().length === 0
  const newKey = (at: number, until: number) => (isFirstPeriod(at) ? firstKey : `until ${until}`)
  const keyOf = (fact: FactOf<'paid' | 'renewed' | 'changed'>): string | undefined => {
    if (fact.payment !== undefined) return fact.payment
    if (fact.kind === 'paid') return firstKey
    const { at, until } = fact
    if (until === null) return undefined
    if (fact.kind === 'renewed')
      return withEnd(until) ?? (fact.amount === undefined ? newKey(at, until) : `until ${until}`)
    const pays = fact.pays ?? fact.products === undefined
    if (pays && until >= Math.max(...ends(), Number.NEGATIVE_INFINITY) + slack) return newKey(at, until)
    return withEnd(until) ?? [...byKey.keys()].at(-1) ?? firstKey
  }
  for (const fact of sorted) {
    if (fact.kind !== 'paid' && fact.kind !== 'renewed' && fact.kind !== 'changed') continue
    const key = keyOf(fact)
    if (key === undefined) continue
    const { at } = fact
    const known = byKey.get(key)
    const isNamed = fact.payment !== undefined || key === firstName
    const payment = known ?? { key, isNamed, at, amount: null, untils: [], lost: null }
    payment.amount ??= fact.kind === 'changed' ? null : (fact.amount ?? null)
    if (fact.until !== undefined && fact.until !== null) payment.untils.push(fact.until)
    byKey.set(key, payment)
    of.set(fact, payment)
  }
  const all = [...byKey.values()]
  const nameless = all.filter(({ isNamed }) => !isNamed)
  const find: Payments['find'] = ({ payment, periodEnd, periodStart, isExtra, isFirst, at }) => {
    const named = payment === undefined ? undefined : byKey.get(payment)
    if (named || isExtra) return named
    if (isFirst) return byKey.get(firstKey)
    const byEnd = nameless.find(({ untils }) => periodEnd !== undefined && untils.includes(periodEnd))
    if (byEnd) return byEnd
    if (periodStart !== undefined) {
      const later = all
        .flatMap((one) => one.untils.map((until) => ({ one, until })))
        .filter(({ until }) => until > periodStart + slack)
      return later.toSorted((a, b) => a.until - b.until)[0]?.one
    }
    return payment === undefined ? undefined : (nameless.findLast((one) => one.at <= at) ?? nameless[0])
  }
  return { all, of, find }
}

/** What a fact about the whole order is about: all that was paid before. A shop without times may tell it first. */
export function paidBefore(all: readonly Payment[], at: number): Payment[] {
  const before = all.filter((payment) => payment.at <= at)
  return before.length > 0 ? before : all.slice(0, 1)
}

/** Marks payments that were returned, and says how much was returned of others. */
function loseRefunded({ all, find }: Told, sorted: readonly OrderFact[]): Record<string, number> {
  const refunds = sorted.filter(isKind('refunded'))
  const partly: Record<string, number> = {}
  const isWhole = (fact: FactOf<'refunded'>) => isNameless(fact) && find(fact) === undefined
  const byPayment = Map.groupBy(
    refunds.filter((fact) => !isWhole(fact)),
    (fact) => find(fact) ?? fact.payment ?? '',
  )
  let namedSum = 0
  for (const [payment, own] of byPayment) {
    const single = sumOf(own.filter(({ isSum }) => !isSum))
    const sum = lastSumOf(own)
    const isFull = own.some(({ amount, isSum }) => amount === null && !isSum) || sum === null
    if (typeof payment === 'string') {
      // Its payment was not told: the vendor decides.
      partly[payment] = single + (sum ?? 0) || 1
      continue
    }
    const { amount, key } = payment
    const returned = single + (sum ?? 0)
    if (isFull || (amount !== null && single > 0 && single >= amount)) {
      payment.lost = 'refund'
      namedSum += amount ?? returned
    } else if (returned > 0) {
      partly[key] = returned
      namedSum += returned
    }
  }
  const whole = refunds.filter(isWhole)
  const isUnpriced = sorted.some(
    (fact) => fact.kind === 'renewed' && fact.payment === undefined && fact.amount === undefined,
  )
  let single = 0
  let isLost = false
  for (const fact of whole) {
    const before = paidBefore(all, fact.at)
    if (!fact.isSum) single += fact.amount ?? 0
    const total = before.reduce<number | null>(
      (sum, { amount }) => (sum === null || amount === null ? null : sum + amount),
      0,
    )
    const isAll = !isUnpriced && total !== null && single > 0 && single + namedSum >= total
    if (fact.amount !== null && !isAll) continue
    isLost = true
    for (const payment of before) payment.lost = 'refund'
  }
  const sum = Math.max(0, ...whole.map(({ amount, isSum }) => (isSum ? (amount ?? 0) : 0)))
  if (!isLost && single + sum > 0) partly[''] = single + sum
  return partly
}

const sumOf = (refunds: readonly FactOf<'refunded'>[]): number =>
  refunds.reduce((total, { amount }) => total + (amount ?? 0), 0)

/** The sum that was told last; null if it is everything. A refund that failed makes it smaller. */
function lastSumOf(refunds: readonly FactOf<'refunded'>[]): number | null | undefined {
  const sums = refunds.filter(({ isSum }) => isSum)
  const at = Math.max(...sums.map((fact) => fact.at))
  const last = sums.filter((fact) => fact.at === at).map(({ amount }) => amount)
  return last.includes(null) ? null : last.length === 0 ? undefined : Math.max(...(last as number[]))
}

type DisputeFact = FactOf<'warned' | 'disputed' | 'dispute_won'>

/** Each step of a dispute: that it began, or with what `opened` it, that it was won. */
export function* disputesIn(
  sorted: readonly OrderFact[],
  open = new Map<string, DisputeFact>(),
): Generator<{ fact: DisputeFact; opened?: DisputeFact }> {
  const disputes = sorted.filter(isKind('warned', 'disputed', 'dispute_won'))
  const keyOf = ({ dispute, payment }: DisputeFact) =>
    dispute ?? (payment === undefined ? '' : `payment ${payment}`)
  const begun = new Set(disputes.filter(({ kind }) => kind !== 'dispute_won').map(keyOf))
  for (const fact of disputes) {
    const key = keyOf(fact)
    const wonKey = begun.has(key) ? key : (wonBy(fact, open) ?? key)
    const opened = open.get(fact.kind === 'dispute_won' ? wonKey : key)
    if (fact.kind === 'dispute_won') open.delete(wonKey)
    else open.set(key, fact)
    if (fact.kind === 'dispute_won' ? opened : fact.kind === 'disputed' && opened?.kind !== 'disputed')
      yield fact.kind === 'dispute_won' && opened ? { fact, opened } : { fact }
  }
}

/** Marks payments that an open or lost dispute holds, and returns the keys of warnings. */
function loseDisputed({ all, find }: Told, sorted: readonly OrderFact[]): string[] {
  const open = new Map<string, DisputeFact>()
  Array.from(disputesIn(sorted, open))
  const warnings: string[] = []
  for (const [key, fact] of open) {
    const one = find(fact)
    const held = one ? [one] : isNameless(fact) ? paidBefore(all, fact.at) : []
    if (fact.kind === 'warned' || held.length === 0) {
      if (!one?.lost) warnings.push(key)
    } else for (const payment of held) payment.lost ??= 'dispute'
  }
  return warnings
}

/** The dispute that was won of which the events before have another name, or none. */
function wonBy({ payment }: DisputeFact, open: ReadonlyMap<string, DisputeFact>): string | undefined {
  if (open.has('')) return ''
  const own = [...open].filter(([, fact]) => payment === undefined || fact.payment === payment)
  return own.length === 1 ? own[0]?.[0] : undefined
}
