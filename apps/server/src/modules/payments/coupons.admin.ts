import type { ActionDetail } from '@keyward/contract'
import { type Database, type Db, transactAsOperator } from '../../db/index.ts'
import type { CouponRow } from '../../db/tables.ts'

/** A coupon with the number of orders that used it and that hold a use of it. */
export type CouponWithUses = CouponRow & { uses: number; held: number }

/** Creates a coupon or changes its terms; existing orders keep theirs. */
export const setCoupon = (
  { db }: Pick<Database, 'db'>,
  coupon: Omit<CouponRow, 'active'>,
  now: number,
): Promise<void> =>
  transactAsOperator(db, { ownerId: null, now }, async (write) => {
    const after: CouponRow = { ...coupon, active: 1 }
    const before = await findCoupon(write.tx, coupon.code)
    const { code: _, ...terms } = after
    await write.tx
      .insertInto('coupons')
      .values(after)
      .onConflict((conflict) => conflict.column('code').doUpdateSet(terms))
      .execute()
    write.record('coupon.set', coupon.code, {
      before: before ? toTerms(before) : null,
      after: toTerms(after),
    })
  })

/** Ends a coupon, so that no new order can use it; false if there is no such coupon. */
export const endCoupon = ({ db }: Pick<Database, 'db'>, code: string, now: number): Promise<boolean> =>
  transactAsOperator(db, { ownerId: null, now }, async (write) => {
    const before = await findCoupon(write.tx, code)
    if (!before) return false
    await write.tx.updateTable('coupons').set({ active: 0 }).where('code', '=', code).execute()
    write.record('coupon.ended', code, { before: toTerms(before) })
    return true
  })

const findCoupon = (db: Db, code: string): Promise<CouponRow | undefined> =>
  db.selectFrom('coupons').selectAll().where('code', '=', code).executeTakeFirst()

const toTerms = (row: CouponRow): ActionDetail<'coupon.set'>['after'] => ({
  percent: row.percent,
  from: row.valid_from,
  until: row.valid_until,
  uses: row.max_uses,
  usesPerOwner: row.max_uses_per_owner,
  listed: row.listed === 1,
  active: row.active === 1,
})

export async function listCoupons(db: Db, now: number, code?: string): Promise<CouponWithUses[]> {
  let query = db
    .selectFrom('coupons as c')
    .leftJoin('payment_orders as o', 'o.coupon_code', 'c.code')
    .selectAll('c')
    .select(({ fn, eb, and }) => [
      fn.sum<number>(eb.case().when('o.status', '=', 'paid').then(1).else(0).end()).as('uses'),
      fn
        .sum<number>(
          eb
            .case()
            .when(and([eb('o.status', '=', 'open'), eb('o.expires_at', '>', now)]))
            .then(1)
            .else(0)
            .end(),
        )
        .as('held'),
    ])
    .groupBy('c.code')
    .orderBy('c.code')
  if (code !== undefined) query = query.where('c.code', '=', code)
  return query.execute()
}
