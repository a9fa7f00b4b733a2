import { sql } from 'kysely'
import { allApps } from '../src/core/actor.ts'
import { foldedOf, type Holder, readHolders } from '../src/modules/entitlements/grants.ts'
import type { TestServer } from './harness.ts'

type Row = Record<string, unknown>
type On = { database: Pick<TestServer['database'], 'db'> }

const bucket = (column: string) => sql.raw(`(${column} + 3599999) / 3600000`)

/** Returns the counts kept by triggers, and the columns that grants fold to, with what the rows give, both sorted and without zeros. */
export async function recount(on: On): Promise<{ kept: Row[][]; counted: Row[][] }> {
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
    sql`select app_id, place, n from license_places where n <> 0 order by app_id, place`,
    sql`select app_id, place, n from client_places where n <> 0 order by app_id, place`,
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
    sql`select app_id, seq / 16384 as place, count(*) as n from licenses group by 1, 2 order by 1, 2`,
    sql`select app_id, seq / 16384 as place, count(*) as n from clients group by 1, 2 order by 1, 2`,
    sql`select id, (select count(*) from devices d where d.client_id = c.id) as n from clients c order by id`,
    sql`select id, (select count(*) from licenses l where l.app_id = a.id) as n from apps a order by id`,
    sql`select id, (select count(*) from licenses l where l.reseller_id = r.id) as n from resellers r order by id`,
    sql`select id, (select count(*) from apps a where a.owner_id = o.id) as n from owners o order by id`,
  ]
  const ends = await readEnds(on)
  return {
    kept: [...(await Promise.all(kept.map(read))), ends.map(({ kept }) => kept)],
    counted: [...(await Promise.all(counted.map(read))), ends.map(({ counted }) => counted)],
  }
}

/** The ends of all that has grants: the stored columns, and what the grants fold to. */
async function readEnds({ database: { db } }: On): Promise<{ kept: Row; counted: Row }[]> {
  const rows = await db
    .selectFrom('grants')
    .select(['owner_id', 'license_id', 'client_id'])
    .distinct()
    .execute()
  const ofOwners = [...Map.groupBy(rows, ({ owner_id }) => owner_id)].map(async ([owner, own]) => {
    const licenses = own.flatMap(({ license_id }) => license_id ?? [])
    const clients = own.flatMap(({ client_id }) => client_id ?? [])
    return [
      ...(await readHolders(db, allApps(owner), { licenses })),
      ...(await readHolders(db, allApps(owner), { clients })),
    ]
  })
  return (await Promise.all(ofOwners)).flat().map((holder) => {
    const counted = foldedOf(holder, 0)
    return { kept: endsOf(holder), counted: endsOf(counted) }
  })
}

/** Without the rights that have ended, which leave their column with the next change. */
const endsOf = ({ id, license, client }: Holder) => ({
  ...{ id, license },
  client: client && { ...client, added_rights: null },
})
