import { allApps } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import { accessEnd, displayedEnd } from '../../db/stored-end.ts'
import type { LicenseRow, LicenseTypeRow, ShopOrderRow, ShopOrderUnitRow } from '../../db/tables.ts'
import { tellRenewed } from '../customer-mails/customer-mails.tell.ts'
import { accessOf, isOfPayment } from '../entitlements/access.rules.ts'
import { type Changed, changeHolders, lockHolders, ownOf } from '../entitlements/grants.ts'
import { findTypeOf } from '../license-types/license-types.access.ts'
import { upgradesOf } from '../license-types/license-types.rules.ts'
import { readBuyReference } from '../licenses/licenses.rules.ts'
import * as unitRepo from './order-units.repo.ts'
import type { Need } from './orders.choices.ts'
import { type Kept, readFolded } from './orders.fallback.ts'
import { type MailCtx, tellOfRenewal } from './orders.mail.ts'
import type { Chosen } from './orders.repo.ts'
import { type Gift, giftOf, hasEverything, nothing, paidForEver, paidUntil } from './renewals.rules.ts'
import type { Share } from './units.rules.ts'

/** What a unit gave to the license that it renews. */
interface StoredGift extends Gift {
  grant: string
  at: number
  /** Whether another subscription of the license was charged then, and the vendor has not decided yet. */
  isAsking: boolean
}

/** Null while nothing was gift. */
const giftOfUnit = ({ gift }: Pick<ShopOrderUnitRow, 'gift'>): StoredGift | null =>
  gift === null ? null : JSON.parse(gift)

/** Whether a unit gets a license of its own instead of renewing one: the vendor chose so, or that one was deleted before. */
export const isDropped = (unit: ShopOrderUnitRow, chosen: Chosen['reference']): boolean =>
  unit.gift !== null && (chosen === 'newLicense' || (unit.renewed_id === null && giftOfUnit(unit) === null))

/** What is stored of a unit that is to renew a license, before it does. */
export const noGift = 'null'

type Order = Pick<ShopOrderRow, 'id' | 'owner_id' | 'app_id' | 'number' | 'test'>

/** The license that an order names, locked, if an order of it can renew it. */
export async function lockNamed(
  { tx }: Pick<WriteTransaction, 'tx'>,
  { seal }: Pick<MailCtx, 'seal'>,
  order: Order,
  reference: string,
): Promise<LicenseRow | undefined> {
  const id = readBuyReference(seal, reference)
  if (!id) return undefined
  const [holder] = await lockHolders(tx, allApps(order.owner_id), { licenses: [id] })
  const license = holder?.license
  const fits =
    license?.app_id === order.app_id &&
    license.client_id !== null &&
    license.type_id !== null &&
    license.test === order.test
  return fits ? license : undefined
}

/** The types that a license can become. */
export async function listUpgrades(
  { tx }: Pick<WriteTransaction, 'tx'>,
  { owner_id, app_id }: Order,
  { type_id }: LicenseRow,
): Promise<string[]> {
  const type = type_id === null ? undefined : await findTypeOf(tx, allApps(owner_id), app_id, type_id)
  return type ? upgradesOf(type).map((one) => one.type) : []
}

const needing = (code: Need['code'], reason: string): Need => ({ code, reason, isRetried: true })

const banned = needing(
  'license_banned',
  'The license that this order renews is banned: lift the ban, or give the buyer a new license',
)
const subscribed = needing(
  'license_subscribed',
  'The license that this order renews has another subscription that will charge again: let this one replace it, or give the buyer a new license',
)
const useless = needing(
  'nothing_to_renew',
  'The license that this order renews never ends and covers all updates: give the buyer a new license, or refund the order',
)

interface Renewal {
  ctx: MailCtx
  order: ShopOrderRow
  unit: ShopOrderUnitRow
  right: Pick<Share, 'end' | 'ban'>
  type: LicenseTypeRow | undefined
  /** Whether the other subscriptions of the license are replaced. */
  replaces: boolean
  /** Whether the license stays for ever. */
  kept?: Kept | undefined
}

/** Applies the order of a unit to the license that the unit renews. */
export async function settleRenewal(write: WriteTransaction, renewal: Renewal): Promise<Need | undefined> {
  const { order, unit, replaces } = renewal
  if (unit.gift === null || unit.unheard === 1) return undefined
  const before = giftOfUnit(unit)
  const gift = before ? await giveAgain(write, renewal, before) : await give(write, renewal)
  if ('code' in gift) return gift
  if (!gift.isAsking) return undefined
  const others = await listCharging(write, order, unit)
  if (others.length > 0 && !replaces) return subscribed
  await unitRepo.unhear(write.tx, unit.renewed_id ?? '', others)
  await unitRepo.setGift(write.tx, unit, { gift: JSON.stringify({ ...gift, isAsking: false }) })
  return undefined
}

async function give(
  write: WriteTransaction,
  { ctx, order, unit, right, type }: Renewal,
): Promise<StoredGift | Need> {
  const { tx, now } = write
  const scope = allApps(order.owner_id)
  const [named] = await lockHolders(tx, scope, { licenses: [unit.renewed_id ?? ''] })
  const license = named?.license
  // Its product has no type any more, which the order says.
  if (!license || !type) return useless
  if (license.banned === 1) return banned
  const clients = license.client_id === null || named.client ? [] : [license.client_id]
  const [holder = named] = await lockHolders(tx, scope, { clients })
  const bought = { type, license, holder, now }
  const offer = giftOf(bought)
  const { end, ban } = right
  const paid = end === undefined ? offer.once : hasEverything(bought) ? null : paidUntil(offer, end)
  if (!paid) return useless
  // What is lost already is a grant too, so that it counts the same, in whichever order events arrive.
  const withdrawn_at = ban === null ? null : now
  const added = [{ ...paid, withdrawn_at, source_kind: 'order', source_id: order.id } as const]
  const [changed] = await changeHolders(write, [holder], () => ({ added }))
  const grant = changed?.after.grants.findLast((one) => isOfPayment(one) && one.source_id === order.id)
  if (!changed || !grant) throw problem('internal')
  const gift: StoredGift = { ...offer, grant: grant.id, at: now, isAsking: true }
  await unitRepo.setGift(tx, unit, { gift: JSON.stringify(gift), told_end: end ?? null, told_ban: ban })
  if (ban !== null) return gift
  write.record('license.renewed', license.id, { order: order.number, ...endsOf(changed, now) }, order.app_id)
  await tellOfRenewal(ctx, write, order, license)
  await tellRenewed(write, { ...license, expires_at: accessEnd(changed.after.access, now) }, order)
  return gift
}

/** Changes the gift of a unit if the order has changed since. */
async function giveAgain(
  write: WriteTransaction,
  { order, unit, right, type, kept }: Omit<Renewal, 'ctx' | 'order'> & { order: Order },
  before: StoredGift,
): Promise<StoredGift> {
  const { tx, now } = write
  const { end, ban } = right
  const isTyped = !type || type.id === before.type
  const keptAfter = kept?.after ?? null
  const isTold = ban !== null || ((end ?? null) === unit.told_end && keptAfter === unit.kept_after)
  if (ban === unit.told_ban && isTold && isTyped) return before
  const scope = allApps(order.owner_id)
  const [named] = await lockHolders(tx, scope, { licenses: [unit.renewed_id ?? ''] })
  const whose = await unitRepo.findHolderOf(tx, before.grant)
  const [holder] = whose ? await lockHolders(tx, scope, whose) : []
  const grant = holder?.grants.find(({ id }) => id === before.grant)
  if (!holder || !grant || !named?.license) return before
  const grants = holder.grants.filter((one) => one !== grant)
  const without = accessOf(ownOf(holder), grants)
  const bought = type && { type, license: named.license, holder: { ...holder, grants, access: without }, now }
  const gift = bought && !isTyped ? { ...before, ...giftOf(bought), at: now } : before
  const paid =
    end === undefined
      ? { ...(gift.once ?? nothing), at: gift.at }
      : {
          ...(kept ? paidForEver(gift, kept.updatesUntil, displayedEnd(without, now)) : paidUntil(gift, end)),
          at: now,
        }
  const standing = { ...grant, ...paid, withdrawn_at: null }
  const lost = { ...grant, withdrawn_at: grant.withdrawn_at ?? now }
  const [changed] = await changeHolders(write, [holder], () => ({
    changed: [ban === null ? standing : lost],
  }))
  await unitRepo.setGift(tx, unit, {
    gift: JSON.stringify(gift),
    ...{ told_end: ban === null ? (end ?? null) : unit.told_end, told_ban: ban, kept_after: keptAfter },
  })
  const ends = changed && endsOf(changed, now)
  if (ends && ends.before !== ends.after)
    write.record('license.expiry_changed', named.license.id, ends, order.app_id)
  return gift
}

const endsOf = ({ before, after }: Changed, now: number) => ({
  before: displayedEnd(before.access, now),
  after: displayedEnd(after.access, now),
})

/** Takes back what a unit gave to the license that it renewed, which hears of its order no more: the buyer gets a new one. */
export async function takeBack(write: WriteTransaction, order: Order, unit: ShopOrderUnitRow): Promise<void> {
  const gift = giftOfUnit(unit)
  const right = { end: undefined, ban: 'refund' } as const
  if (gift) await giveAgain(write, { order, unit, right, type: undefined, replaces: false }, gift)
  await unitRepo.unhear(write.tx, unit.renewed_id ?? '', [order.id])
}

/** Older orders that will charge again for the license that a unit renews. */
async function listCharging(
  { tx, now }: WriteTransaction,
  order: Order,
  { renewed_id }: ShopOrderUnitRow,
): Promise<string[]> {
  const others = renewed_id === null ? [] : await unitRepo.listOrdersOf(tx, renewed_id, order.id)
  const charging: string[] = []
  for (const other of others) {
    if (other.unheard === 1) continue
    const { end, isRunning, ban } = await readFolded(tx, other)
    if (ban === null && isRunning && end !== undefined && end > now) charging.push(other.id)
  }
  return charging
}
