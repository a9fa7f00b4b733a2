import type { Tx, WriteTransaction } from '../../db/index.ts'
import { displayedEnd } from '../../db/stored-end.ts'
import type { LicenseRow, ShopOrderRow, ShopOrderUnitRow } from '../../db/tables.ts'
import { changeHolders, type Holder } from '../entitlements/grants.ts'
import { lastPaidEnd, paidMonths } from './fallback.rules.ts'
import * as unitRepo from './order-units.repo.ts'
import * as repo from './orders.repo.ts'
import type { ToldOrder } from './orders.rules.ts'
import { readTold } from './orders.told.ts'
import { licenseOf, type Rights } from './orders.units.ts'
import type { Payment } from './payments.rules.ts'

/** That a license stays for ever: after how many paid months, and until when it covers updates. */
export interface Kept {
  after: number
  updatesUntil: number
}

/** Which licenses stay for ever, by their ids: of subscriptions that have ended, or that went on after they had. */
export async function keptBy(
  { tx, now }: WriteTransaction,
  { id, app_id }: Pick<ShopOrderRow, 'id' | 'app_id'>,
  { payments }: ToldOrder,
  { units, rights }: { units: readonly ShopOrderUnitRow[]; rights: Rights },
): Promise<ReadonlyMap<string, Kept>> {
  const ends = units.flatMap((unit) => {
    const { end, ban = null } = rights.get(licenseOf(unit) ?? '') ?? {}
    const isOver = end !== undefined && ban === null && (end <= now || unit.kept_after !== null)
    return isOver ? [{ unit, end }] : []
  })
  const kept = new Map<string, Kept>()
  if (ends.length === 0) return kept
  const months = await repo.listFallbackMonths(tx, app_id)
  const licenses = months.size > 0 ? await unitRepo.listTypesOfUnits(tx, id) : new Map()
  for (const { unit, end } of ends) {
    const license = licenses.get(licenseOf(unit) ?? '')
    const { type, since } = begunBy(unit, license)
    const after = unit.kept_after ?? months.get(type)
    const isBanned = license?.banned === 1 && unit.told_ban === null
    if (after === undefined || (isBanned && unit.kept_after === null)) continue
    const until = Math.min(now, end)
    const own = payments.filter(paysAfter(since))
    const isPaid =
      paidMonths(own, until) >= after ||
      paidMonths([...own, ...(await paidByOthers(tx, id, { unit, license, type }))], until) >= after
    if (isPaid) kept.set(licenseOf(unit) ?? '', { after, updatesUntil: lastPaidEnd(payments, end) })
  }
  return kept
}

type Begun = Pick<LicenseRow, 'type_id' | 'created_at'> | undefined

/** Of which type a license has what a unit gave, and since when. */
function begunBy({ gift }: Pick<ShopOrderUnitRow, 'gift'>, license: Begun): { type: string; since: number } {
  const { type = license?.type_id, at = license?.created_at } = JSON.parse(gift ?? 'null') ?? {}
  return { type, since: at ?? 0 }
}

/** A license that came later to its order has nothing of the periods before. */
const paysAfter =
  (since: number) =>
  ({ untils }: Payment): boolean =>
    Math.max(...untils) > since

/** What other subscriptions of a type have paid for a license: who subscribes again goes on with the months of before. */
async function paidByOthers(
  tx: Tx,
  id: string,
  { unit, license, type }: { unit: ShopOrderUnitRow; license: Begun; type: string },
): Promise<Payment[]> {
  const payments: Payment[] = []
  for (const other of await unitRepo.listOrdersOf(tx, licenseOf(unit) ?? '', id)) {
    const its = begunBy(other, license)
    if (its.type === type) payments.push(...(await readTold(tx, other)).payments.filter(paysAfter(its.since)))
  }
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
