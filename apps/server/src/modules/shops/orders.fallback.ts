import type { Tx, WriteTransaction } from '../../db/index.ts'
import { displayedEnd } from '../../db/stored-end.ts'
import type { LicenseRow, ShopOrderRow, ShopOrderUnitRow } from '../../db/tables.ts'
import { changeHolders, type Holder } from '../entitlements/grants.ts'
import { lastPaidEnd, paidMonths } from './fallback.rules.ts'
import * as unitRepo from './order-units.repo.ts'
import { chosenOf, type Need } from './orders.choices.ts'
import type { OrderLine } from './orders.facts.ts'
import * as repo from './orders.repo.ts'
import { placedOf, type ToldOrder, toldBy } from './orders.rules.ts'
import type { Payment } from './payments.rules.ts'
import { listFacts } from './shop-events.repo.ts'
import type { Share } from './units.rules.ts'

/** That a license stays for ever: after how many paid months, and until when it covers updates. */
export interface Kept {
  after: number
  updatesUntil: number
}

/** Which licenses stay for ever, by their ids: of subscriptions that have ended, or that went on after they had. */
export async function keptBy(
  { tx, now }: WriteTransaction,
  order: Pick<ShopOrderRow, 'id' | 'app_id'>,
  told: ToldOrder,
  { issued, units, rights }: { issued: Issued; units: readonly ShopOrderUnitRow[]; rights: Rights },
): Promise<ReadonlyMap<string, Kept>> {
  const ends = units.flatMap((unit) => {
    const { end, ban = null } = rights.get(licenseOf(unit) ?? '') ?? {}
    const isOver = end !== undefined && ban === null && (end <= now || unit.kept_after !== null)
    return isOver ? [{ unit, end }] : []
  })
  const kept = new Map<string, Kept>()
  if (ends.length === 0) return kept
  const months = await repo.listFallbackMonths(tx, order.app_id)
  const licenses = months.size > 0 ? await unitRepo.listTypesOfUnits(tx, order.id) : new Map()
  for (const { unit, end } of ends) {
    const license = licenses.get(licenseOf(unit) ?? '')
    const type = typeBy(unit, license)
    const after = unit.kept_after ?? months.get(type)
    const isBanned = license?.banned === 1 && unit.told_ban === null
    if (after === undefined || (isBanned && unit.kept_after === null)) continue
    const until = Math.min(now, end)
    const own = paidFor(told, issued, unit)
    const isPaid =
      paidMonths(own, until) >= after ||
      paidMonths([...own, ...(await paidByOthers(tx, order.id, { unit, license, type }))], until) >= after
    if (isPaid) kept.set(licenseOf(unit) ?? '', { after, updatesUntil: lastPaidEnd(told.payments, end) })
  }
  return kept
}

/** The type that a unit gave to its license. */
const typeBy = ({ gift }: Pick<ShopOrderUnitRow, 'gift'>, license: Pick<LicenseRow, 'type_id'> | undefined) =>
  JSON.parse(gift ?? 'null')?.type ?? license?.type_id

/**
 * The payments since the first that contained a unit: those before were for others. When its license was made does not count: an
 * order may have waited.
 */
function paidFor(
  { payments, contained }: ToldOrder,
  issued: Issued,
  { product, unit }: Pick<ShopOrderUnitRow, 'product' | 'unit'>,
): readonly Payment[] {
  const before = Math.floor(unit / (issued[product]?.each ?? 1))
  const first = payments.findIndex((payment) => (contained.get(product)?.get(payment) ?? 0) > before)
  return payments.slice(Math.max(0, first))
}

/** What other subscriptions of a type have paid for a license: who subscribes again goes on with the months of before. */
async function paidByOthers(
  tx: Tx,
  id: string,
  {
    unit,
    license,
    type,
  }: { unit: ShopOrderUnitRow; license: Pick<LicenseRow, 'type_id'> | undefined; type: string },
): Promise<Payment[]> {
  const payments: Payment[] = []
  for (const other of await unitRepo.listOrdersOf(tx, licenseOf(unit) ?? '', id))
    if (typeBy(other, license) === type)
      payments.push(...paidFor(await readTold(tx, other), JSON.parse(other.issued), other))
  return payments
}

/** Makes licenses stay for ever; one that never ends already stays as it is. */
export async function keepLicenses(
  write: WriteTransaction,
  holders: readonly Holder[],
  { id: source_id }: Pick<ShopOrderRow, 'id'>,
  updates_until: number,
): Promise<void> {
  const { now } = write
  const source = { source_kind: 'order', source_id } as const
  const changes = await changeHolders(write, holders, ({ access, grants }) => {
    const changed = withdrawnKept(grants, source_id, now)
    if (changed.length === 0 && displayedEnd(access, now) === null) return undefined
    return { changed, added: [{ kind: 'end', until: null, ...source, updates_until }] }
  })
  for (const { before, after } of changes) {
    const change = { before: displayedEnd(before.access, now), after: displayedEnd(after.access, now) }
    write.record('license.expiry_changed', after.id, change, after.license?.app_id ?? null)
  }
}

/** Withdraws that licenses stay for ever. */
export async function loseKept(
  write: WriteTransaction,
  holders: readonly Holder[],
  { id }: Pick<ShopOrderRow, 'id'>,
): Promise<void> {
  await changeHolders(write, holders, ({ grants }) => ({ changed: withdrawnKept(grants, id, write.now) }))
}

const withdrawnKept = (grants: Holder['grants'], order: string, withdrawn_at: number): Holder['grants'] =>
  grants
    .filter(({ kind, source_id, updates_until, withdrawn_at: before }) => {
      return kind === 'end' && source_id === order && updates_until !== null && before === null
    })
    .map((grant) => ({ ...grant, withdrawn_at }))

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

/** What was told of an order so far. */
export const readTold = async (
  tx: Tx,
  { id, chosen }: Pick<ShopOrderRow, 'id' | 'chosen'>,
): Promise<ToldOrder> => toldBy(placedOf(await listFacts(tx, id)), chosenOf({ chosen }).banned)
