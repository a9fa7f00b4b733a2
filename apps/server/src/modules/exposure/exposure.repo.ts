import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import type { Db } from '../../db/index.ts'

// Callers have checked that the app is the owner's.

interface VersionRow {
  version: string
  devices: number
  last_seen_at: number
}

/** The versions on most devices, newest first. */
export async function listVersions(db: Db, appId: string, since: number): Promise<VersionRow[]> {
  const { rows } = await sql<VersionRow>`
    select version, devices, last_seen_at from (
      select version, version_order, count(*) as devices, max(last_seen_at) as last_seen_at from devices
      where app_id = ${appId} and freed_until is null and version is not null and last_seen_at >= ${since}
      group by version, version_order order by 3 desc limit ${limits.versionsMax}
    ) used
    order by coalesce(version_order, '') desc, version`.execute(db)
  return rows.map((row) => ({ ...row, devices: Number(row.devices), last_seen_at: Number(row.last_seen_at) }))
}

/** Bound devices of no known version, and those that were not seen. */
export async function countRest(
  db: Db,
  appId: string,
  since: number,
): Promise<{ unknown: number; unseen: number }> {
  const { rows } = await sql<{ unknown: number | null; unseen: number | null }>`
    select sum(case when last_seen_at >= ${since} and version is null then 1 else 0 end) as "unknown",
      sum(case when last_seen_at < ${since} then 1 else 0 end) as unseen
    from devices where app_id = ${appId} and freed_until is null`.execute(db)
  return { unknown: Number(rows[0]?.unknown ?? 0), unseen: Number(rows[0]?.unseen ?? 0) }
}
