import { sql } from 'kysely'
import type { ResellerActor } from '../../core/actor.ts'
import { onPage, type PageOrAll } from '../../core/paging.ts'
import type { Db } from '../../db/open.ts'

/** Newest first; everything when no limit is given. */
export function listLicenses(db: Db, { resellerId }: ResellerActor, page: PageOrAll) {
  const query = db
    .selectFrom('licenses as l')
    .leftJoin('clients as c', 'c.id', 'l.client_id')
    .select(['l.id', 'l.key', 'l.used', 'l.created_at', 'l.expires_at', 'c.username'])
    .where('l.reseller_id', '=', resellerId)
    .orderBy('l.seq', 'desc')
  return onPage(query, page).execute()
}

/** Counts the licenses that exist; a reseller has at most some thousands. */
export async function countLicenses(db: Db, { resellerId }: ResellerActor, now: number) {
  const row = await db
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
