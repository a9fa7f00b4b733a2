import type { Tx } from '../../db/index.ts'
import type { ShopOrderRow, ShopOrderUnitRow } from '../../db/tables.ts'
import * as unitRepo from './order-units.repo.ts'
import type { OrderLine } from './orders.facts.ts'
import type { Need } from './orders.needs.ts'
import type { ToldOrder } from './orders.rules.ts'
import type { Share } from './units.rules.ts'

/** For how many units a product has its licenses, and how many each unit got. */
type Issued = Record<string, { units: number; each: number }>

/** What the licenses of an order have, by their ids. */
export type Rights = ReadonlyMap<string, Pick<Share, 'end' | 'ban'>>

interface Order {
  order: Pick<ShopOrderRow, 'id' | 'issued'>
  told: ToldOrder
  linesBefore: string
  /** Licenses of units that were given up. */
  ended: readonly string[]
}

/** The license that a unit created or renews. */
export const licenseOf = ({ license_id, renewed_id }: ShopOrderUnitRow): string | null =>
  license_id ?? renewed_id

const compare = (one: number, other: number): number => (one === other ? 0 : one - other)

/** The lines of orders of earlier versions say for how many units there are licenses. */
export function issuedOf({ order, linesBefore }: Order, units: readonly ShopOrderUnitRow[]): Issued {
  const issued: Issued = JSON.parse(order.issued)
  const before = new Map(
    (JSON.parse(linesBefore) as OrderLine[]).map((line) => [line.product, line.quantity]),
  )
  for (const [product, own] of Map.groupBy(units, (unit) => unit.product)) {
    const quantity = before.get(product) ?? own.length
    issued[product] ??= { units: quantity, each: Math.max(1, Math.round(own.length / quantity)) }
  }
  return issued
}

/** Which licenses have what was paid: units that were given up come last, and those used last come first. */
export async function rightsOf(
  tx: Tx,
  { order, told, ended }: Order,
  { issued, units }: { issued: Issued; units: readonly ShopOrderUnitRow[] },
): Promise<Rights> {
  const held = units.filter((unit) => licenseOf(unit) !== null)
  const isSplit = told.bought.some(({ shares }) => shares.length > 1)
  const usedAt = isSplit ? await unitRepo.listLastUses(tx, order.id) : new Map<string, number>()
  const rights = new Map<string, Pick<Share, 'end' | 'ban'>>()
  for (const [product, own] of Map.groupBy(held, (unit) => unit.product)) {
    const shares = told.bought.find((line) => line.product === product)?.shares ?? []
    const each = issued[product]?.each ?? 1
    const rank = (unit: ShopOrderUnitRow) =>
      [
        ended.includes(licenseOf(unit) ?? '') ? 0 : 1,
        // A license keeps what it got before another one.
        unit.told_end ?? 0,
        // One that is renewed is used.
        unit.gift === null ? (usedAt.get(unit.license_id ?? '') ?? 0) : Number.POSITIVE_INFINITY,
      ] as const
    const ranked = own.toSorted((a, b) => {
      const [one, other] = [rank(a), rank(b)]
      return other[0] - one[0] || other[1] - one[1] || compare(other[2], one[2]) || a.unit - b.unit
    })
    for (const [at, unit] of ranked.entries()) {
      const share = shares.find(({ units: upTo }) => at < upTo * each) ?? shares.at(-1)
      rights.set(licenseOf(unit) ?? '', share ?? told)
    }
  }
  return rights
}

/** Says that a subscription has fewer units than licenses. */
export function fewerUnits(
  { told, ended }: Pick<Order, 'told' | 'ended'>,
  { issued, units }: { issued: Issued; units: readonly ShopOrderUnitRow[] },
): Need | undefined {
  const surplus = told.bought.flatMap(({ product }) => {
    const now = told.lines.find((line) => line.product === product)?.quantity ?? 0
    const ids = units.flatMap((unit) => {
      const id = licenseOf(unit)
      return unit.product === product && id !== null && !ended.includes(id) ? [id] : []
    })
    const count = ids.length - now * (issued[product]?.each ?? 1)
    return count > 0 ? [{ ids, count }] : []
  })
  if (surplus.length === 0) return undefined
  const now = told.lines.reduce((sum, { quantity }) => sum + quantity, 0)
  const count = surplus.reduce((sum, one) => sum + one.count, 0)
  const reason = `The subscription has ${now} ${now === 1 ? 'unit' : 'units'} from now on: choose ${count} of its licenses that end`
  return { code: 'fewer_units', reason, isRetried: false, surplus }
}
