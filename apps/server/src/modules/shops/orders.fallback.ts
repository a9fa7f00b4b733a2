import type { Tx, WriteTransaction } from '../../db/index.ts'
import { displayedEnd } from '../../db/stored-end.ts'
import type { LicenseRow, ShopOrderRow, ShopOrderUnitRow } from '../../db/tables.ts'
import { changeHolders, type Holder } from '../entitlements/grants.ts'
import { lastPaidEnd, paidMonths } from './fallback.rules.ts'
import * as unitRepo from './order-units.repo.ts'
import * as repo from './orders.repo.ts'
import { type FoldedOrder, foldFacts, placedOf } from './orders.rules.ts'
import type { Payment } from './payments.rules.ts'
import { listFacts } from './shop-events.repo.ts'

/** That a license stays for ever: after how many paid months, and until when it covers updates. */
export interface Kept {
  after: number
  updatesUntil: number
}

/** A unit whose license has ended, or has stayed for ever until now. */
export interface OverUnit {
  unit: ShopOrderUnitRow
  end: number
}

/** Which licenses stay for ever, by their ids: of units whose subscriptions have ended, or that went on after they had. */
export async function keptBy(
  { tx, now }: WriteTransaction,
  order: Pick<ShopOrderRow, 'id' | 'app_id'>,
  folded: FoldedOrder,
  { issued, over }: { issued: repo.Issued; over: readonly OverUnit[] },
): Promise<ReadonlyMap<string, Kept>> {
  const kept = new Map<string, Kept>()
  const months = await repo.listFallbackMonths(tx, order.app_id)
  const licenses = months.size > 0 ? await unitRepo.listTypesOfUnits(tx, order.id) : new Map()
  for (const { unit, end } of over) {
    const license = licenses.get(unitRepo.licenseOf(unit) ?? '')
    const type = typeBy(unit, license)
    const after = unit.kept_after ?? months.get(type)
    const isBanned = license?.banned === 1 && unit.told_ban === null
    if (after === undefined || (isBanned && unit.kept_after === null)) continue
    const until = Math.min(now, end)
    const own = paidFor(folded, issued, unit)
    const isPaid =
      paidMonths(own, until) >= after ||
      paidMonths([...own, ...(await paidByOthers(tx, order.id, { unit, license, type }))], until) >= after
    if (isPaid)
      kept.set(unitRepo.licenseOf(unit) ?? '', { after, updatesUntil: lastPaidEnd(folded.payments, end) })
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
  { payments, contained }: FoldedOrder,
  issued: repo.Issued,
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
  for (const other of await unitRepo.listOrdersOf(tx, unitRepo.licenseOf(unit) ?? '', id))
    if (typeBy(other, license) === type)
      payments.push(...paidFor(await readFolded(tx, other), JSON.parse(other.issued), other))
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

/** An order by the facts that have arrived so far. */
export const readFolded = async (
  tx: Tx,
  { id, chosen }: Pick<ShopOrderRow, 'id' | 'chosen'>,
): Promise<FoldedOrder> => foldFacts(placedOf(await listFacts(tx, id)), repo.chosenOf({ chosen }).banned)
