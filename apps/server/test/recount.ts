import { sql } from 'kysely'
import type { TestServer } from './harness.ts'

type Row = Record<string, unknown>

const bucket = (column: string) => sql.raw(`(${column} + 3599999) / 3600000`)

/** Returns the counts kept by triggers and a recount from the rows, both sorted and without zeros. */
export async function recount(on: TestServer): Promise<{ kept: Row[][]; counted: Row[][] }> {
  const { db } = on.database
  const read = async (query: ReturnType<typeof sql>) => {
    const { rows } = await query.execute(db)
    return (rows as Row[]).map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? value : Number(value)]),
      ),
    )
  }
  const kept = [
    sql`select app_id, owner_id, bucket, used, banned, n from license_counts where n <> 0
      order by app_id, bucket, used, banned`,
    sql`select app_id, owner_id, bucket, banned, n from client_counts where n <> 0 order by app_id, bucket, banned`,
    sql`select app_id, owner_id, place, block, used, banned, n from license_places where n <> 0
      order by app_id, place, block, used, banned`,
    sql`select app_id, owner_id, place, block, banned, n from client_places where n <> 0
      order by app_id, place, block, banned`,
    sql`select id, device_count as n from clients order by id`,
    sql`select id, license_count as n from apps order by id`,
    sql`select id, license_count as n from resellers order by id`,
    sql`select id, app_count as n from owners order by id`,
  ]
  const counted = [
    sql`select app_id, owner_id, ${bucket('expires_at')} as bucket, used, banned, count(*) as n from licenses
      group by 1, 2, 3, 4, 5 order by 1, 3, 4, 5`,
    sql`select app_id, owner_id, ${bucket('expires_at')} as bucket, banned, count(*) as n from clients
      group by 1, 2, 3, 4 order by 1, 3, 4`,
    sql`select app_id, owner_id, seq / 16384 as place, expires_at / 115200000 as block, used, banned, count(*) as n
      from licenses group by 1, 2, 3, 4, 5, 6 order by 1, 3, 4, 5, 6`,
    sql`select app_id, owner_id, seq / 16384 as place, expires_at / 115200000 as block, banned, count(*) as n
      from clients group by 1, 2, 3, 4, 5 order by 1, 3, 4, 5`,
    sql`select id, (select count(*) from devices d where d.client_id = c.id) as n from clients c order by id`,
    sql`select id, (select count(*) from licenses l where l.app_id = a.id) as n from apps a order by id`,
    sql`select id, (select count(*) from licenses l where l.reseller_id = r.id) as n from resellers r order by id`,
    sql`select id, (select count(*) from apps a where a.owner_id = o.id) as n from owners o order by id`,
  ]
  return { kept: await Promise.all(kept.map(read)), counted: await Promise.all(counted.map(read)) }
}
