import { allApps } from '../../core/actor.ts'
import type { Tx, WriteTransaction } from '../../db/index.ts'
import type { LicenseRow, LicenseTypeRow, ShopOrderRow, ShopOrderUnitRow } from '../../db/tables.ts'
import { lockHolders } from '../entitlements/grants.ts'
import { changeBans, changeEnds } from '../licenses/licenses.change.ts'
import { giveType } from '../licenses/licenses.type.ts'
import * as unitRepo from './order-units.repo.ts'
import { licenseOf } from './order-units.repo.ts'
import type { Need } from './orders.choices.ts'
import type { OrderLine } from './orders.facts.ts'
import { type Kept, keepLicenses, loseKept, type OverUnit } from './orders.fallback.ts'
import type { Issued } from './orders.repo.ts'
import type { FoldedOrder } from './orders.rules.ts'
import type { Share } from './units.rules.ts'

/** What the licenses of an order have, by their ids. */
export type Rights = ReadonlyMap<string, Pick<Share, 'end' | 'ban'>>

interface Order {
  order: Pick<ShopOrderRow, 'id' | 'issued'>
  folded: FoldedOrder
  linesBefore: string
  /** Licenses of units that were given up. */
  ended: readonly string[]
}

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
  { order, folded, ended }: Order,
  { issued, units }: { issued: Issued; units: readonly ShopOrderUnitRow[] },
): Promise<Rights> {
  const held = units.filter((unit) => licenseOf(unit) !== null)
  const isSplit = folded.bought.some(({ shares }) => shares.length > 1)
  const usedAt = isSplit ? await unitRepo.listLastUses(tx, order.id) : new Map<string, number>()
  const rights = new Map<string, Pick<Share, 'end' | 'ban'>>()
  for (const [product, own] of Map.groupBy(held, (unit) => unit.product)) {
    const shares = folded.bought.find((line) => line.product === product)?.shares ?? []
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
      rights.set(licenseOf(unit) ?? '', share ?? folded)
    }
  }
  return rights
}

/** The units whose licenses have ended, or have stayed for ever until now. */
export const overBy = (rights: Rights, units: readonly ShopOrderUnitRow[], now: number): OverUnit[] =>
  units.flatMap((unit) => {
    const { end, ban = null } = rights.get(licenseOf(unit) ?? '') ?? {}
    const isOver = end !== undefined && ban === null && (end <= now || unit.kept_after !== null)
    return isOver ? [{ unit, end }] : []
  })

/** Says that a subscription has fewer units than licenses. */
export function fewerUnits(
  { folded, ended }: Pick<Order, 'folded' | 'ended'>,
  { issued, units }: { issued: Issued; units: readonly ShopOrderUnitRow[] },
): Need | undefined {
  const surplus = folded.bought.flatMap(({ product }) => {
    const now = folded.lines.find((line) => line.product === product)?.quantity ?? 0
    const ids = units.flatMap((unit) => {
      const id = licenseOf(unit)
      return unit.product === product && id !== null && !ended.includes(id) ? [id] : []
    })
    const count = ids.length - now * (issued[product]?.each ?? 1)
    return count > 0 ? [{ ids, count }] : []
  })
  if (surplus.length === 0) return undefined
  const now = folded.lines.reduce((sum, { quantity }) => sum + quantity, 0)
  const count = surplus.reduce((sum, one) => sum + one.count, 0)
  const reason = `The subscription has ${now} ${now === 1 ? 'unit' : 'units'} from now on: choose ${count} of its licenses that end`
  return { code: 'fewer_units', reason, isRetried: false, surplus }
}

export const idsOf = (units: readonly ShopOrderUnitRow[]): string[] =>
  units.flatMap(({ license_id }) => license_id ?? [])

const sourceOf = ({ id }: ShopOrderRow) => ({ source_kind: 'order', source_id: id }) as const

/** The units whose licenses lag behind what the shop has reported, with these licenses, locked. */
async function unitsBehind(
  tx: Tx,
  order: ShopOrderRow,
  units: readonly ShopOrderUnitRow[],
): Promise<{ unit: ShopOrderUnitRow; license: LicenseRow }[]> {
  const heard = units.filter(({ unheard }) => unheard === 0)
  if (heard.length === 0) return []
  const byId = new Map(heard.map((unit) => [unit.license_id, unit]))
  const holders = await lockHolders(tx, allApps(order.owner_id), { licenses: idsOf(heard) })
  return holders.flatMap(({ license }) => {
    const unit = license && byId.get(license.id)
    return unit ? [{ unit, license }] : []
  })
}

type UnitsBehind = Awaited<ReturnType<typeof unitsBehind>>

const licenseIdsOf = (some: readonly { license: LicenseRow }[]) => some.map(({ license }) => license.id)

/** Reads who has the license again: a change of another license of the same end user may have changed it. */
async function giveTypeTo(
  write: WriteTransaction,
  order: ShopOrderRow,
  { id }: LicenseRow,
  type: LicenseTypeRow,
): Promise<void> {
  const holders = await lockHolders(write.tx, allApps(order.owner_id), { licenses: [id] })
  for (const holder of holders) await giveType(write, holder, type, sourceOf(order))
}

export async function giveTypes(
  write: WriteTransaction,
  order: ShopOrderRow,
  { units, product, type }: { units: readonly ShopOrderUnitRow[]; product: string; type: LicenseTypeRow },
): Promise<void> {
  const behind = await unitsBehind(
    write.tx,
    order,
    units.filter(({ told_product }) => told_product !== product),
  )
  if (behind.length === 0) return
  for (const { license } of behind) await giveTypeTo(write, order, license, type)
  // The type set another end.
  const columns = { told_product: product, told_end: null }
  await unitRepo.updateUnits(write.tx, licenseIdsOf(behind), columns)
  const before = behind[0]?.unit.told_product ?? behind[0]?.unit.product ?? null
  const change = { order: order.number, before, after: product }
  write.record('shop_order.product_changed', order.id, change, order.app_id)
}

/** Gives licenses the ends that the shop reported, or the end of their type where no report stands any more. */
export async function setEnds(
  write: WriteTransaction,
  order: ShopOrderRow,
  {
    units,
    rights,
    types,
    kept,
  }: {
    units: readonly ShopOrderUnitRow[]
    rights: Rights
    types: ReadonlyMap<string, LicenseTypeRow>
    kept: ReadonlyMap<string, Kept>
  },
): Promise<void> {
  const endOf = ({ license_id }: ShopOrderUnitRow) => rights.get(license_id ?? '')?.end
  const keptOf = ({ license_id }: ShopOrderUnitRow) => kept.get(license_id ?? '')
  const isBehind = (unit: ShopOrderUnitRow) => {
    const right = rights.get(unit.license_id ?? '')
    if (!right || (right.end === undefined && right.ban !== null)) return false
    return (right.end ?? null) !== unit.told_end || (keptOf(unit)?.after ?? null) !== unit.kept_after
  }
  const holdersOf = (some: UnitsBehind) =>
    lockHolders(write.tx, allApps(order.owner_id), { licenses: licenseIdsOf(some) })
  const behind = await unitsBehind(write.tx, order, units.filter(isBehind))
  const lost = behind.filter(({ unit }) => unit.kept_after !== null && !keptOf(unit))
  if (lost.length > 0) await loseKept(write, await holdersOf(lost), order)
  for (const some of Map.groupBy(behind, ({ unit }) => `${endOf(unit)} ${keptOf(unit)?.after}`).values()) {
    const [end, stays] = some[0] ? [endOf(some[0].unit), keptOf(some[0].unit)] : []
    if (stays) await keepLicenses(write, await holdersOf(some), order, stays.updatesUntil)
    else if (end !== undefined) await changeEnds(write, await holdersOf(some), end, sourceOf(order))
    for (const { license } of end === undefined ? some : []) {
      const type = types.get(license.type_id ?? '')
      if (type) await giveTypeTo(write, order, license, type)
    }
    await unitRepo.updateUnits(write.tx, licenseIdsOf(some), {
      ...{ told_end: end ?? null, kept_after: stays?.after ?? null },
    })
    const change = { order: order.number, before: some[0]?.unit.told_end ?? null, after: end ?? null }
    write.record('shop_order.end_changed', order.id, change, order.app_id)
  }
}

const banReasons = { refund: 'The order was refunded', dispute: 'The payment is disputed' } as const

/** Bans licenses or lifts the order's own ban; a ban by the vendor stays what it is. */
export async function setBans(
  write: WriteTransaction,
  order: ShopOrderRow,
  { units, rights }: { units: readonly ShopOrderUnitRow[]; rights: Rights },
): Promise<void> {
  const banOf = ({ license_id }: ShopOrderUnitRow) => rights.get(license_id ?? '')?.ban ?? null
  const behind = await unitsBehind(
    write.tx,
    order,
    units.filter((unit) => unit.told_ban !== banOf(unit)),
  )
  for (const [ban, some] of Map.groupBy(behind, ({ unit }) => banOf(unit))) {
    for (const { unit, license } of some) {
      const isOwn = unit.told_ban !== null && license.ban_reason === banReasons[unit.told_ban]
      if (license.banned === 1 && !isOwn) continue
      if (ban === null && license.banned === 0) continue
      const reason = ban && banReasons[ban]
      await changeBans(write, allApps(order.owner_id), [license], ban !== null, reason)
      if (ban) write.record('license.banned', license.id, { reason }, license.app_id)
      else write.record('license.unbanned', license.id, {}, license.app_id)
    }
    await unitRepo.updateUnits(write.tx, licenseIdsOf(some), { told_ban: ban })
  }
}
