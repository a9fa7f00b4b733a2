import { sql } from 'kysely'
import type { ResellerActor } from '../../core/actor.ts'
import { orderOf, type Page, seek } from '../../core/paging.ts'
import type { Database } from '../../db/open.ts'

/** A page of the reseller's `total` licenses, newest first. */
export async function pageLicenses(
  { db, lists }: Database,
  { resellerId }: ResellerActor,
  page: Page,
  total: number,
) {
  const target = seek(page, total, 'newest')
  if (!target) return []
  const found = await lists
    .selectFrom('licenses')
    .select('seq')
    .where('reseller_id', '=', resellerId)
    .orderBy('seq', target.order)
    .limit(target.limit)
    .offset(target.offset)
    .execute()
  if (found.length === 0) return []
  const seqs = found.map(({ seq }) => seq)
  return db
    .selectFrom('licenses as l')
    .leftJoin('clients as c', 'c.id', 'l.client_id')
    .select(['l.id', 'l.key', 'l.used', 'l.created_at', 'l.expires_at', 'l.grace_days'])
    .select(['l.term', 'l.duration_value', 'l.duration_unit', 'l.started_at', 'c.username'])
    .where('l.seq', 'in', seqs)
    .where('l.reseller_id', '=', resellerId)
    .orderBy('l.seq', orderOf.newest)
    .execute()
}

/** Counts the reseller's licenses; a covering index holds all columns read. */
export async function countLicenses({ lists }: Database, { resellerId }: ResellerActor, now: number) {
  const row = await lists
    .selectFrom('licenses')
    .select((eb) => [
      eb.fn.countAll<number>().as('total'),
      sql<number>`coalesce(sum(used), 0)`.as('used'),
      sql<number>`coalesce(sum(case when expires_at <= ${now} then 1 else 0 end), 0)`.as('expired'),
      sql<number>`coalesce(sum(case when expires_at > ${now} and used = 0 then 1 else 0 end), 0)`.as(
        'available',
      ),
    ])
    .where('reseller_id', '=', resellerId)
    .executeTakeFirstOrThrow()
  return {
    total: Number(row.total),
    used: Number(row.used),
    expired: Number(row.expired),
    available: Number(row.available),
  }
}
