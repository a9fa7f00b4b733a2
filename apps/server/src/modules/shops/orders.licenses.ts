import { isEmailAddress, limits, type OrderReasonCode, unlimited } from '@keyward/contract'
import type { Updateable } from 'kysely'
import { allApps } from '../../core/actor.ts'
import { Problem } from '../../core/problem.ts'
import type { Tx, WriteTransaction } from '../../db/index.ts'
import type { LicenseTypeRow, ShopOrderRow, ShopOrderUnitRow, ShopRow, Tables } from '../../db/tables.ts'
import { reserveLicenses } from '../apps/apps.access.ts'
import { tellPaymentFailed } from '../customer-mails/customer-mails.tell.ts'
import { customerOf } from '../customers/customers.access.ts'
import { lockHolders } from '../entitlements/grants.ts'
import { getTypeOf } from '../license-types/license-types.access.ts'
import { termsOf } from '../license-types/license-types.rules.ts'
import { issueLicenses } from '../licenses/licenses.issue.ts'
import { getLimits } from '../owners/owners.service.ts'
import * as unitRepo from './order-units.repo.ts'
import type { Need } from './orders.choices.ts'
import { type Kept, keptBy } from './orders.fallback.ts'
import { type MailCtx, queueOrderMail, withdrawOrderMail } from './orders.mail.ts'
import { isDropped, listUpgrades, lockNamed, noGift, settleRenewal, takeBack } from './orders.renewals.ts'
import type { Chosen } from './orders.repo.ts'
import {
  fewerUnits,
  giveTypes,
  idsOf,
  issuedOf,
  overBy,
  rightsOf,
  setBans,
  setEnds,
} from './orders.rights.ts'
import type { FoldedOrder } from './orders.rules.ts'
import { lineFor } from './renewals.rules.ts'
import { productsOf } from './shops.repo.ts'

interface Paid {
  ctx: MailCtx
  shop: ShopRow
  order: ShopOrderRow
  folded: FoldedOrder
  isNew: boolean
  /** The lines of the order before. */
  linesBefore: string
  /** Licenses of units that were given up. */
  ended: readonly string[]
  /** What the vendor chose for the license that the order names. */
  reference: Chosen['reference']
}

/** A product of which licenses are missing. */
interface Missing {
  product: string
  type: LicenseTypeRow
  count: number
  /** How many units of it have their licenses already. */
  begun: number
  /** The unit that was to renew a license; it stays until the new one exists. */
  replaced?: ShopOrderUnitRow
}

interface Settled {
  /** What the order needs to create or change others. */
  needs: Need[]
  /** The columns of the order that follow. */
  change: Updateable<Tables['shop_orders']>
}

/** Creates and changes the licenses of a paid order. */
export async function settleLicenses(write: WriteTransaction, paid: Paid): Promise<Settled> {
  const { ctx, shop, order, folded } = paid
  const needs: Need[] = folded.bought.length === 0 ? [unnamed] : []
  const products = productsOf(shop)
  const all = paid.isNew ? [] : await unitRepo.listUnits(write.tx, order.id)
  const dropped = all.filter((unit) => isDropped(unit, paid.reference))
  const units = all.filter((unit) => !dropped.includes(unit))
  const typeIds = new Set<string>()
  const mappedTo = (product: string) => {
    const mapped = products.get(product)
    if (!mapped) needs.push(needing('type_missing', `No license type is chosen for the product “${product}”`))
    if (mapped?.type) typeIds.add(mapped.type)
    return mapped
  }
  const issued = issuedOf(paid, all)
  const changed =
    folded.product === null ? undefined : { product: folded.product, mapped: mappedTo(folded.product) }
  const lines = folded.bought
    // What a product is mapped to later concerns later orders, and units that are added.
    .filter(({ product, quantity }) => quantity > (issued[product]?.units ?? 0))
    .map(({ product, quantity }) => ({ product, quantity, mapped: mappedTo(product) }))
  const unissued = dropped.map((unit) => ({ unit, mapped: mappedTo(unit.product) }))
  const renewing = units.filter(({ gift }) => gift === noGift)
  for (const { product } of renewing) mappedTo(product)
  for (const product of folded.added) if (mappedTo(product)?.type) needs.push(addition(product))
  const isLost = folded.bought.some(({ shares }) => shares.some(({ end }) => end === undefined))
  if (isLost && units.some(({ told_end }) => told_end !== null))
    for (const id of await unitRepo.listTypesToRestore(write.tx, order.id)) typeIds.add(id)
  const customerId = [...lines, ...unissued].some(({ mapped }) => mapped?.type)
    ? await linkCustomer(write, paid)
    : order.customer_id
  // Types are locked before licenses, as their deletion does.
  const types = await lockTypes(write.tx, order, [...typeIds].toSorted())
  if (units.length > 0) await lockHolders(write.tx, allApps(order.owner_id), { licenses: idsOf(units) })
  const typeOf = (product: string, id: string | null | undefined) => {
    const type = id ? types.get(id) : undefined
    if (id && !type)
      needs.push(needing('type_deleted', `The license type of the product “${product}” was deleted`))
    return type
  }
  const typed = lines.flatMap(({ product, quantity, mapped }) => {
    const type = typeOf(product, mapped?.type)
    return mapped && type ? [{ product, quantity, each: mapped.quantity, type }] : []
  })
  const named = paid.reference === 'newLicense' ? undefined : await findNamed(write, paid, typed, issued)
  const missing = typed.flatMap(({ product, quantity, type, ...mapped }): Missing[] => {
    const { units: before, each } = issued[product] ?? { units: 0, each: mapped.each }
    const begun = all.filter((unit) => unit.product === product).length
    issued[product] = { units: quantity, each }
    const renewed = named?.product === product ? 1 : 0
    const count = (quantity - before) * each - renewed
    return count > 0 ? [{ product, type, count, begun: begun + renewed }] : []
  })
  for (const { unit, mapped } of unissued) {
    const type = typeOf(unit.product, mapped?.type)
    if (!type) continue
    await takeBack(write, order, unit)
    missing.push({ product: unit.product, type, count: 1, begun: unit.unit, replaced: unit })
  }
  const { need, added } = await issueMissing(write, { ...paid, customerId }, missing, units.length)
  if (named && !need) {
    const { product, license } = named
    const unit = { order_id: order.id, app_id: order.app_id, product, unit: 0, license_id: null }
    added.push(...(await unitRepo.insertUnits(write.tx, [{ ...unit, renewed_id: license, gift: noGift }])))
  }
  if (need) needs.push(need)
  const hasAll = ({ mapped }: (typeof lines)[number]) => mapped && (!mapped.type || types.has(mapped.type))
  const isWhole = !need && lines.every(hasAll)
  const type = changed && typeOf(changed.product, changed.mapped?.type)
  const issuedUnits = [...units, ...added]
  if (changed && folded.bought.length > 1) needs.push(unclear)
  else if (type) await giveTypes(write, order, { units: issuedUnits, product: changed.product, type })
  const present = type
    ? (await unitRepo.listUnits(write.tx, order.id)).filter((unit) => !isDropped(unit, paid.reference))
    : issuedUnits
  const rights = await rightsOf(write.tx, paid, { issued, units: present })
  const over = overBy(rights, present, write.now)
  const kept =
    over.length > 0 ? await keptBy(write, order, folded, { issued, over }) : new Map<string, Kept>()
  await setEnds(write, order, { units: present, rights, types, kept })
  await setBans(write, order, { units: present, rights })
  for (const unit of present.filter(({ gift }) => gift !== null)) {
    const right = rights.get(unit.renewed_id ?? '') ?? folded
    const own = type ?? types.get(products.get(unit.product)?.type ?? '')
    const replaces = paid.reference === 'replace'
    const open = await settleRenewal(write, {
      ...{ ctx, unit, right, type: own, replaces, kept: kept.get(unit.renewed_id ?? '') },
      order: { ...order, customer_id: customerId },
    })
    if (open) needs.push(open)
  }
  if (folded.isPastDue && folded.ban === null)
    for (const license of await unitRepo.listHeard(write.tx, order.id))
      await tellPaymentFailed(write, license, order)
  const fewer = need ? undefined : fewerUnits(paid, { issued, units: present })
  if (fewer) needs.push(fewer)
  const hasKeys = missing.length > 0 || units.some(({ license_id }) => license_id !== null)
  if (hasKeys && customerId === null && folded.ban === null && !folded.paid?.test && !folded.paid?.erased)
    needs.push(unaddressed)
  // One mail has all keys. A dispute that was won, or a product that needs no license, ends the wait without a new one.
  const isMailed = isWhole && (missing.length > 0 || (order.mail === 'none' && order.state !== 'fulfilled'))
  const mail =
    folded.ban !== null
      ? await withdrawOrderMail(write, order)
      : isMailed
        ? await queueOrderMail(ctx, write, { ...order, customer_id: customerId })
        : {}
  const change = { customer_id: customerId, ...(!need && { issued: JSON.stringify(issued) }), ...mail }
  return { needs, change }
}

interface Typed {
  product: string
  type: LicenseTypeRow
}

/** The license that an order names, and which of the products that it has not begun yet renews it. */
async function findNamed(
  write: WriteTransaction,
  { ctx, order, folded }: Paid,
  typed: readonly Typed[],
  issued: Readonly<Record<string, unknown>>,
): Promise<{ product: string; license: string } | undefined> {
  const { reference, lines: paid = [] } = folded.paid ?? {}
  const begun = typed.filter(({ product }) => !Object.hasOwn(issued, product))
  const license = reference && begun.length > 0 && (await lockNamed(write, ctx, order, reference))
  if (!license) return undefined
  const lines = paid.flatMap((line) => begun.filter(({ product }) => product === line.product))
  const line = lineFor(lines, license, await listUpgrades(write, order, license))
  return line && { product: line.product, license: license.id }
}

/** The customer of an order; none of a test. */
async function linkCustomer(write: WriteTransaction, { order, folded }: Paid): Promise<string | null> {
  const { email, name, test } = folded.paid ?? {}
  if (order.customer_id !== null || !email || !isEmailAddress(email) || test) return order.customer_id
  const { owner_id: owner, app_id: appId } = order
  return customerOf(write, { owner, appId, seesAll: false, email, name })
}

const needing = (code: OrderReasonCode, reason: string): Need => ({ code, reason, isRetried: true })

const unnamed: Need = {
  code: 'no_product',
  reason: 'The shop names no product of this order',
  isRetried: false,
}

const addition = (product: string): Need => ({
  code: 'product_added',
  reason: `The shop added the product “${product}” to this subscription: generate its license yourself`,
  isRetried: false,
})

/** The buyer has paid, and nobody got the keys. */
export const unaddressed: Need = {
  code: 'no_address',
  reason: 'The shop sent no address that mail can reach: enter the buyer’s, or hand over the keys yourself',
  isRetried: false,
}

const growing: Need = {
  code: 'hour_full',
  reason:
    'Your shops and imports have made many licenses within an hour: this order gets its licenses later, by itself',
  isRetried: true,
}

const unclear: Need = {
  code: 'product_unclear',
  reason: 'The order has several products, so it is unclear which one the shop has changed',
  isRetried: false,
}

/** Locks the types that still exist. */
async function lockTypes(
  tx: Tx,
  order: ShopOrderRow,
  ids: readonly string[],
): Promise<Map<string, LicenseTypeRow>> {
  const types = new Map<string, LicenseTypeRow>()
  for (const id of ids) {
    try {
      types.set(id, await getTypeOf(tx, allApps(order.owner_id), order.app_id, id))
    } catch (error) {
      if (!(error instanceof Problem)) throw error
    }
  }
  return types
}

/** Creates the licenses of all these products, or none and says why. */
async function issueMissing(
  write: WriteTransaction,
  { ctx, order, customerId }: Paid & { customerId: string | null },
  missing: readonly Missing[],
  existing: number,
): Promise<{ need?: Need; added: ShopOrderUnitRow[] }> {
  const { tx, now } = write
  const count = missing.reduce((sum, one) => sum + one.count, 0)
  const none = (need: Need) => ({ need, added: [] })
  if (count === 0) return { added: [] }
  if (existing + count > limits.orderLicensesMax) {
    const reason = `An order can create at most ${limits.orderLicensesMax} licenses`
    return none(needing('too_many_licenses', reason))
  }
  // Orders that cost nothing, of which anyone can make many, leave half to paid ones.
  if (write.waitToGrow(order.amount === 0 ? 0.5 : 1) > 0) return none(growing)
  const scope = allApps(order.owner_id)
  const { maxLicensesPerApp: max } = await getLimits({ ...ctx, db: tx }, scope)
  const fits = max === unlimited || (await reserveLicenses(tx, scope, order.app_id, count, max, now))
  if (!fits) return none(needing('plan_full', `Your plan allows ${max} licenses per app`))
  const units = missing.flatMap(({ product, type, count, begun }) =>
    Array.from({ length: count }, (_, at) => ({ product, unit: begun + at, type })),
  )
  const issuer = { ownerId: order.owner_id, appId: order.app_id, customerId, test: order.test, now }
  const licenses = await issueLicenses(
    tx,
    issuer,
    units.map(({ type }) => ({ terms: termsOf(type, now), keyPrefix: type.key_prefix })),
  )
  const rows = units.map(({ product, unit }, at) => ({
    order_id: order.id,
    app_id: order.app_id,
    product,
    unit,
    license_id: licenses[at]?.id ?? null,
  }))
  for (const { replaced } of missing) if (replaced) await unitRepo.deleteUnit(tx, replaced)
  const added = await unitRepo.insertUnits(tx, rows)
  const ids = licenses.map(({ id }) => id)
  write.recordWith(ids, 'licenses.created', order.app_id, { count: ids.length, ids }, order.app_id)
  const objects = customerId === null ? ids : [...ids, customerId]
  write.recordWith(objects, 'shop_order.fulfilled', order.id, { order: order.number, ids }, order.app_id)
  return { added }
}
