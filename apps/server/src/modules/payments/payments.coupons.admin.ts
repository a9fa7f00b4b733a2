import type { Db } from '../../db/open.ts'
import type { CouponRow } from '../../db/tables.ts'

/** A coupon, and how many orders used it or hold a use of it. */
export type CouponWithUses = CouponRow & { uses: number; held: number }

/** Makes a coupon, or gives one that is there new terms; orders that were placed with it keep theirs. */
export async function setCoupon(db: Db, coupon: Omit<CouponRow, 'active'>): Promise<void> {
  const { code, ...terms } = { ...coupon, active: 1 as const }
  await db
    .insertInto('coupons')
    .values({ code, ...terms })
    .onConflict((conflict) => conflict.column('code').doUpdateSet(terms))
    .execute()
}

/** Lets nobody use a coupon any more; false when there is none of this name. */
export async function endCoupon(db: Db, code: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('coupons')
    .set({ active: 0 })
    .where('code', '=', code)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

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
