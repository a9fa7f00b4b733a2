import { limits, type SecurityFix } from '@keyward/contract'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import { day as dayMs } from '../../core/clock.ts'
import { versionOrder } from '../../core/version-order.ts'
import { type Db, inScope } from '../../db/index.ts'
import type { ReleaseRow } from '../../db/tables.ts'

// Callers have checked that the app is the owner's.

/** The devices that a security fix is about. */
export interface Affected {
  appId: string
  ranges: SecurityFix['affects']
}

export const findRelease = (db: Db, scope: OwnerScope, id: string): Promise<ReleaseRow | undefined> =>
  db.selectFrom('releases').selectAll().where('id', '=', id).where(inScope(scope)).executeTakeFirst()

/** Whether the version of a row is in one of the ranges. */
function isIn(row: string, ranges: Affected['ranges']): RawBuilder<SqlBool> {
  const order = sql.ref(`${row}.version_order`)
  const conditions = ranges.map(({ from, before }) => {
    const [first, end] = [from && versionOrder(from), before && versionOrder(before)]
    // Numbers too long to be compared are newer than every version.
    if (from !== null && first === null) return sql`1 = 0`
    const since = first === null ? sql`${order} is not null` : sql`${order} >= ${first}`
    return end === null ? since : sql`(${since} and ${order} < ${end})`
  })
  return conditions.length === 0 ? sql`1 = 0` : sql`(${sql.join(conditions, sql` or `)})`
}

const bound = (appId: string) => sql`d.app_id = ${appId} and d.freed_until is null`

interface VersionRow {
  version: string
  devices: number
  last_seen_at: number
}

/** The versions on most devices that were seen, newest first; those that a fix is about, or all. */
export async function listVersions(
  db: Db,
  { appId, ranges }: Pick<Affected, 'appId'> & Partial<Affected>,
  since: number,
): Promise<VersionRow[]> {
  const wanted = ranges ? isIn('d', ranges) : sql`d.version is not null`
  const { rows } = await sql<VersionRow>`
    select version, devices, last_seen_at from (
      select d.version, d.version_order, count(*) as devices, max(d.last_seen_at) as last_seen_at from devices d
      where ${bound(appId)} and ${wanted} and d.last_seen_at >= ${since}
      group by d.version, d.version_order order by 3 desc limit ${limits.versionsMax}
    ) used
    order by coalesce(version_order, '') desc, version`.execute(db)
  return rows.map((row) => ({ ...row, devices: Number(row.devices), last_seen_at: Number(row.last_seen_at) }))
}

/** The older versions that bound devices run. */
export async function listOlder(
  db: Db,
  appId: string,
  minimumVersion: string,
): Promise<{ version: string; devices: number }[]> {
  const { rows } = await sql<{ version: string; devices: number }>`
    select d.version, count(*) as devices from devices d
    where ${bound(appId)} and ${isIn('d', [{ from: null, before: minimumVersion }])}
    group by d.version`.execute(db)
  return rows.map(({ version, devices }) => ({ version, devices: Number(devices) }))
}

/** Computes `updatesUntil` in SQL. */
const updatesEnd = sql`coalesce(l.updates_until,
  case when l.term = 'first_use' then l.started_at else l.created_at end
    + l.updates_for_days * cast(86400000 as bigint))`

/** Bound devices of a version whose license has updates until some time from `from` on and before `before`. */
export async function countCovered(
  db: Db,
  { appId, version }: { appId: string; version: string },
  { from, before }: { from: number; before: number | null },
): Promise<number> {
  const isWithin =
    before === null
      ? sql`coalesce(${updatesEnd} >= ${from}, 1 = 1)`
      : sql`${updatesEnd} >= ${from} and ${updatesEnd} < ${before}`
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from devices d
    join clients c on c.id = d.client_id left join licenses l on l.id = c.license_id
    where ${bound(appId)} and d.version = ${version} and ${isWithin}`.execute(db)
  return Number(rows[0]?.n)
}

const countIf = (condition: RawBuilder<SqlBool>) =>
  sql`coalesce(sum(case when ${condition} then 1 else 0 end), 0)`

/** Bound devices of no known version, and those that were not seen. */
export async function countRest(
  db: Db,
  appId: string,
  since: number,
): Promise<{ unknown: number; unseen: number }> {
  const { rows } = await sql<{ unknown: number; unseen: number }>`
    select ${countIf(sql`d.last_seen_at >= ${since} and d.version is null`)} as "unknown",
      ${countIf(sql`d.last_seen_at < ${since}`)} as unseen
    from devices d where ${bound(appId)}`.execute(db)
  return { unknown: Number(rows[0]?.unknown), unseen: Number(rows[0]?.unseen) }
}

/** Affected devices that were seen, and those that were not. */
export async function countAffected(
  db: Db,
  { appId, ranges }: Affected,
  since: number,
): Promise<{ devices: number; unseen: number }> {
  const { rows } = await sql<{ devices: number; unseen: number }>`
    select ${countIf(sql`d.last_seen_at >= ${since}`)} as devices, ${countIf(sql`d.last_seen_at < ${since}`)} as unseen
    from devices d where ${bound(appId)} and ${isIn('d', ranges)}`.execute(db)
  return { devices: Number(rows[0]?.devices), unseen: Number(rows[0]?.unseen) }
}

/** Devices that were seen with a version that cannot be compared, or with none. */
export async function countUnknown(db: Db, appId: string, since: number): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from devices d
    where ${bound(appId)} and d.version_order is null and d.last_seen_at >= ${since}`.execute(db)
  return Number(rows[0]?.n)
}

/** Devices that ran an affected version at this time or later, and run another one now. */
export async function countRepaired(db: Db, { appId, ranges }: Affected, since: number): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(distinct f.device_id) as n from former_versions f join devices d on d.id = f.device_id
    where f.app_id = ${appId} and ${isIn('f', ranges)} and f.until >= ${since}
      and ${bound(appId)} and d.version_order is not null and not ${isIn('d', ranges)}`.execute(db)
  return Number(rows[0]?.n)
}

export const listDays = (db: Db, releaseId: string) =>
  db.selectFrom('release_days').selectAll().where('release_id', '=', releaseId).orderBy('day').execute()

/**
 * Security fixes of all vendors, listed by the end of a day, whose exposure on it is not known yet. Left out are old ones,
 * and those for which no device was exposed or notified for days.
 */
export const listUncounted = (db: Db, day: number) =>
  db
    .selectFrom('releases as r')
    .leftJoin('release_days as d', (join) => join.onRef('d.release_id', '=', 'r.id').on('d.day', '=', day))
    .select(['r.id', 'r.app_id', 'r.security', 'r.released_at'])
    .where('r.security', 'is not', null)
    .where('r.created_at', '<', (day + 1) * dayMs)
    .where('r.created_at', '>=', (day - limits.exposureDaysMax) * dayMs)
    .where('d.exposed', 'is', null)
    .where(
      sql<SqlBool>`(r.created_at >= ${(day - limits.quietDays) * dayMs} or exists (
        select 1 from release_days x where x.release_id = r.id and x.day >= ${day - limits.quietDays}
          and (x.exposed > 0 or x.told_devices > 0)) or coalesce((
        select x.exposed from release_days x where x.release_id = r.id and x.exposed is not null
          order by x.day desc limit 1), 1) > 0)`,
    )
    .execute()

/** How many affected devices of an app were seen, for each of several fixes. */
export async function countEach(
  db: Db,
  appId: string,
  fixes: readonly Affected['ranges'][],
  since: number,
): Promise<number[]> {
  const counts = fixes.map((ranges, at) => sql`${countIf(isIn('d', ranges))} as ${sql.id(`n${at}`)}`)
  const { rows } = await sql<Record<string, number>>`select ${sql.join(counts)} from devices d
    where ${bound(appId)} and d.version_order is not null and d.last_seen_at >= ${since}`.execute(db)
  return fixes.map((_, at) => Number(rows[0]?.[`n${at}`]))
}

/** Affected devices with the customers of their end users, and of the licenses that these use. */
const withCustomers = ({ appId, ranges }: Affected) => {
  const affected = sql`${bound(appId)} and ${isIn('d', ranges)}`
  return sql`(
    select c.customer_id, d.id, d.last_seen_at from devices d join clients c on c.id = d.client_id
      where ${affected} and c.customer_id is not null
    union select l.customer_id, d.id, d.last_seen_at from devices d join licenses l on l.client_id = d.client_id
      where ${affected} and l.customer_id is not null)`
}

interface ExposedRow {
  seq: number
  id: string
  devices: number
  last_seen_at: number
  told_at: number | null
}

/** The customers who have affected devices, newest first, from one on. */
export async function listCustomers(
  db: Db,
  affected: Affected,
  { releaseId, before, limit, offset }: { releaseId: string; before?: number; limit: number; offset: number },
): Promise<ExposedRow[]> {
  const { rows } = await sql<ExposedRow>`
    select c.seq, c.id, count(*) as devices, max(x.last_seen_at) as last_seen_at,
      (select t.at from told_customers t where t.release_id = ${releaseId} and t.customer_id = c.id) as told_at
    from ${withCustomers(affected)} x join customers c on c.id = x.customer_id
    where ${before === undefined ? sql`1 = 1` : sql`c.seq < ${before}`}
    group by c.seq, c.id order by c.seq desc limit ${limit} offset ${offset}`.execute(db)
  return rows.map(({ seq, id, devices, last_seen_at, told_at }) => ({
    ...{ id, seq: Number(seq), devices: Number(devices), last_seen_at: Number(last_seen_at) },
    told_at: told_at === null ? null : Number(told_at),
  }))
}

export async function countCustomers(db: Db, affected: Affected): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(distinct x.customer_id) as n from ${withCustomers(affected)} x`.execute(db)
  return Number(rows[0]?.n)
}

/** The customers who have affected devices and were not mailed yet, newest first. */
export async function listToNotify(
  db: Db,
  affected: Affected,
  releaseId: string,
): Promise<{ seq: number; id: string; devices: number }[]> {
  const { rows } = await sql<{ seq: number; id: string; devices: number }>`
    select c.seq, c.id, count(*) as devices
    from ${withCustomers(affected)} x join customers c on c.id = x.customer_id
    where not exists (select 1 from told_customers t where t.release_id = ${releaseId} and t.customer_id = c.id)
    group by c.seq, c.id order by c.seq desc`.execute(db)
  return rows.map(({ seq, id, devices }) => ({ id, seq: Number(seq), devices: Number(devices) }))
}

/** Affected devices that no customer is known of. */
export async function countUnreachable(db: Db, { appId, ranges }: Affected): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from devices d join clients c on c.id = d.client_id
    where ${bound(appId)} and ${isIn('d', ranges)} and c.customer_id is null and not exists (
      select 1 from licenses l where l.client_id = d.client_id and l.customer_id is not null)`.execute(db)
  return Number(rows[0]?.n)
}

/** The devices that were told last. */
export const listToldDevices = (db: Db, releaseId: string) =>
  db
    .selectFrom('told_devices')
    .select(['device_id', 'version', 'at'])
    .where('release_id', '=', releaseId)
    .orderBy('at', 'desc')
    .orderBy('device_id')
    .limit(limits.evidenceRowsMax)
    .execute()

/** The customers who were mailed last, with what became of the mail; null if it is unknown. */
export const listToldCustomers = (db: Db, releaseId: string) =>
  db
    .selectFrom('told_customers as t')
    .leftJoin('customer_mails as m', (join) =>
      join.on('m.subject', '=', sql`t.release_id || ' ' || t.customer_id`).on('m.kind', '=', 'security'),
    )
    .select(['t.customer_id', 't.devices', 't.at', 'm.state'])
    .where('t.release_id', '=', releaseId)
    .orderBy('t.at', 'desc')
    .orderBy('t.customer_id')
    .limit(limits.evidenceRowsMax)
    .execute()
