import type { DataOf, endpoints } from '@keyward/contract'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { OfOwner } from '../../core/actor.ts'
import { minute } from '../../core/clock.ts'
import { toPrice } from '../../core/money.ts'
import { type Problem, problem } from '../../core/problem.ts'
import type { Db, Tx } from '../../db/index.ts'
import type { CouponRow } from '../../db/tables.ts'
import type { Allowance, Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { discounted } from './payments.rules.ts'

/** Unknown coupon codes per owner; stops guessing. */
const couponMisses: Allowance = { name: 'coupon', max: 30, windowMs: 15 * minute }

type Validated = DataOf<typeof endpoints.payments.validateCoupon>

/** Checks whether the owner can use the coupon now and what each term costs with it. Reserves nothing. */
export async function validateCoupon(
  ctx: Ctx,
  attempts: Attempts,
  scope: OfOwner,
  code: string,
): Promise<Validated> {
  const coupon = await countingMisses(attempts, scope, async () => {
    const found = await findCoupon(ctx.db, code)
    await refuseUnusable(ctx.db, found, { scope, now: ctx.clock.now(), withOwnOpen: false })
    return found
  })
  const { monthly, yearly, currency } = ctx.config.prices
  const total = (amount: number) => toPrice(discounted(amount, coupon.percent), currency)
  return {
    couponCode: coupon.code,
    discount: coupon.percent,
    totals: { monthly: total(monthly), yearly: total(yearly) },
  }
}

/**
 * Reads a coupon and locks the row, so that concurrent orders count its uses one after the other. Coupons belong to
 * the server, not to an owner.
 */
export async function lockCoupon(tx: Tx, code: string): Promise<CouponRow> {
  const coupon = await tx
    .updateTable('coupons')
    .set({ code })
    .where('code', '=', code)
    .returningAll()
    .executeTakeFirst()
  if (!coupon) throw problem('invalid_coupon')
  return coupon
}

async function findCoupon(db: Db, code: string): Promise<CouponRow> {
  const coupon = await db.selectFrom('coupons').selectAll().where('code', '=', code).executeTakeFirst()
  if (!coupon) throw problem('invalid_coupon')
  return coupon
}

/** Counts invalid coupons against the owner; errors of `work` are rethrown. */
export async function countingMisses<T>(
  attempts: Attempts,
  { ownerId }: OfOwner,
  work: () => Promise<T>,
): Promise<T> {
  await attempts.check(couponMisses, ownerId)
  try {
    return await work()
  } catch (error) {
    if ((error as Problem).code === 'invalid_coupon') await attempts.count(couponMisses, ownerId)
    throw error
  }
}

interface Use {
  scope: OfOwner
  now: number
  /** Whether the owner's own open orders count as uses; false where one of them would be reused. */
  withOwnOpen: boolean
}

/** Throws if the coupon is not valid now, or all of its uses are taken or held by open orders. */
export async function refuseUnusable(db: Db, coupon: CouponRow, use: Use): Promise<void> {
  const reason = await reasonUnusable(db, coupon, use)
  if (reason !== undefined) throw problem('invalid_coupon', reason === '' ? {} : { message: reason })
}

/** Undefined if the coupon is usable; empty where the response must not reveal that the coupon exists. */
async function reasonUnusable(db: Db, coupon: CouponRow, use: Use): Promise<string | undefined> {
  const { now } = use
  const { active, valid_from, valid_until, max_uses, max_uses_per_owner } = coupon
  if (active === 0 || (valid_from !== null && valid_from > now)) return ''
  if (valid_until !== null && valid_until <= now) return 'This coupon has expired'
  if (max_uses === null && max_uses_per_owner === null) return undefined
  const uses = await countUses(db, coupon, use)
  const isTaken =
    (max_uses !== null && uses.all >= max_uses) ||
    (max_uses_per_owner !== null && uses.own >= max_uses_per_owner)
  if (!isTaken) return undefined
  const held = use.withOwnOpen ? await findHolding(db, coupon.code, use) : undefined
  if (held) {
    const minutes = Math.ceil((held.expires_at - now) / minute)
    return `Your open ${held.plan_duration} order holds this coupon. Finish it, or try again in ${minutes} min.`
  }
  return uses.own > 0 ? 'You have used this coupon already' : 'This coupon has been used up'
}

/** The public coupons that the owner can use now, largest discount first. */
export async function listOffered(
  { db, clock }: Ctx,
  scope: OfOwner,
): Promise<{ couponCode: string; discount: number }[]> {
  const use: Use = { scope, now: clock.now(), withOwnOpen: false }
  const listed = await db
    .selectFrom('coupons')
    .selectAll()
    .where('listed', '=', 1)
    .orderBy('percent', 'desc')
    .orderBy('code')
    .execute()
  const reasons = await Promise.all(listed.map((coupon) => reasonUnusable(db, coupon, use)))
  return listed
    .filter((_, index) => reasons[index] === undefined)
    .map(({ code, percent }) => ({ couponCode: code, discount: percent }))
}

/** Counts orders that used the coupon, and open orders that hold a use until they expire. */
async function countUses(db: Db, { code, max_uses }: CouponRow, use: Use) {
  // SQLite uses the partial index only if the query repeats its predicate literally.
  const all = max_uses === null ? 0 : await countOrders(db, code, use, sql`coupon_code <> ''`)
  const own = await countOrders(db, code, use, sql`owner_id = ${use.scope.ownerId}`)
  return { all, own }
}

async function countOrders(
  db: Db,
  code: string,
  { scope, now, withOwnOpen }: Use,
  filter: RawBuilder<SqlBool>,
): Promise<number> {
  const { n } = await db
    .selectFrom('payment_orders')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('coupon_code', '=', code)
    .where(filter)
    .where(({ or, and, eb }) =>
      or([
        eb('status', '=', 'paid'),
        and([
          eb('status', '=', 'open'),
          eb('expires_at', '>', now),
          ...(withOwnOpen ? [] : [eb('owner_id', '<>', scope.ownerId)]),
        ]),
      ]),
    )
    .executeTakeFirstOrThrow()
  return n
}

const findHolding = (db: Db, code: string, { scope, now }: Use) =>
  db
    .selectFrom('payment_orders')
    .select(['plan_duration', 'expires_at'])
    .where('coupon_code', '=', code)
    .where('owner_id', '=', scope.ownerId)
    .where('status', '=', 'open')
    .where('expires_at', '>', now)
    .executeTakeFirst()
