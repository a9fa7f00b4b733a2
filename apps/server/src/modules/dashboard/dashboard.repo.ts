import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { hour } from '../../core/clock.ts'
import { type Db, inScope } from '../../db/index.ts'

/**
 * Counts used licenses that expire after `from` and until `to`: whole hours from the hourly counts, the partial hours
 * at both ends row by row.
 */
export async function countEnding(
  db: Db,
  scope: OwnerScope,
  span: { from: number; to: number },
): Promise<number> {
  const [first, last] = [Math.floor(span.from / hour), Math.floor(span.to / hour)]
  const { n } = await db
    .selectFrom('license_counts')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('n'), eb.lit(0)).as('n'))
    .where(inScope(scope))
    .where('used', '=', 1)
    .where('bucket', '>', first)
    .where('bucket', '<=', last)
    .executeTakeFirstOrThrow()
  const before = await countRows(db, scope, { from: first * hour, to: span.from })
  const after = await countRows(db, scope, { from: last * hour, to: span.to })
  return Number(n) - before + after
}

async function countRows(db: Db, scope: OwnerScope, span: { from: number; to: number }): Promise<number> {
  const { n } = await db
    .selectFrom('licenses')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where(inScope(scope))
    .where('used', '=', 1)
    .where('expires_at', '>', span.from)
    .where('expires_at', '<=', span.to)
    .executeTakeFirstOrThrow()
  return Number(n)
}

export async function countResellers(
  db: Db,
  scope: OwnerScope,
  span: { from: number; to: number },
): Promise<{ total: number; within: number; before: number }> {
  const length = span.to - span.from
  const count = (from: number, to: number) =>
    sql<number>`coalesce(sum(case when created_at > ${from} and created_at <= ${to} then 1 else 0 end), 0)`
  const { total, within, before } = await db
    .selectFrom('resellers')
    .select((eb) => [
      eb.fn.countAll<number>().as('total'),
      count(span.from, span.to).as('within'),
      count(span.from - length, span.from).as('before'),
    ])
    .where(inScope(scope))
    .executeTakeFirstOrThrow()
  return { total, within, before }
}
