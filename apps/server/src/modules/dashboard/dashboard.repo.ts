import { sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { type Db, inScope } from '../../db/index.ts'

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
