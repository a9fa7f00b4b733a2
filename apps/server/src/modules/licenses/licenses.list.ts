import { type LicenseStatus, limits } from '@keyward/contract'
import { type RawBuilder, sql } from 'kysely'
import { hour } from '../../core/clock.ts'
import type { OwnerScope } from '../../core/ctx.ts'
import { orderOf, type Page, type Pagination, type Sort, seek, toPagination } from '../../core/paging.ts'
import type { Database } from '../../db/open.ts'
import { afterPrefix, anywhere, type SearchTerm, trigramQuery } from '../../db/search.ts'

/** Which licenses: an owner's, or of one app that is known to be the owner's. */
export interface LicenseFilter {
  scope: OwnerScope
  appId?: string | undefined
  status?: LicenseStatus | undefined
  now: number
}

export interface LicenseStats {
  total: number
  active: number
  unused: number
  expired: number
  banned: number
}

// In every query below `l` is the table of licenses, or of their counts.
const within = ({ scope, appId }: LicenseFilter): RawBuilder<unknown> =>
  appId === undefined ? sql`l.owner_id = ${scope.ownerId}` : sql`l.app_id = ${appId}`

function withStatus({ status, now }: LicenseFilter): RawBuilder<unknown> {
  switch (status) {
    case 'unused':
      return sql`and l.used = 0 and l.expires_at > ${now}`
    case 'active':
      return sql`and l.used = 1 and l.expires_at > ${now}`
    case 'expired':
      return sql`and l.used in (0, 1) and l.expires_at <= ${now}`
    case 'banned':
      return sql`and l.banned = 1`
    default:
      return sql``
  }
}

const blockHours = 256

/**
 * Counts that triggers keep: of blocks of hours, of the hours of the block that is running, and row by row of the hour
 * that is running. One pass without groups, because SQLite sorts for a group.
 */
export async function countByStatus({ lists }: Database, filter: LicenseFilter): Promise<LicenseStats> {
  const lastHour = Math.floor(filter.now / hour)
  const running = Math.floor(lastHour / blockHours)
  const { rows } = await sql<Record<'total' | 'used' | 'banned' | 'past' | 'past_used', number>>`
    select coalesce(sum(n), 0) as total, coalesce(sum(n * used), 0) as used, coalesce(sum(n * banned), 0) as banned,
      coalesce(sum(past), 0) as past, coalesce(sum(past * used), 0) as past_used
    from (
      select l.n as n, l.used as used, l.banned as banned, case when l.block < ${running} then l.n else 0 end as past
      from license_blocks l where ${within(filter)}
      union all
      select 0, l.used, 0, l.n from license_counts l
      where ${within(filter)} and l.bucket >= ${running * blockHours} and l.bucket <= ${lastHour}
      union all
      select 0, l.used, 0, 1 from licenses l
      where ${within(filter)} and l.used in (0, 1)
        and l.expires_at > ${lastHour * hour} and l.expires_at <= ${filter.now}
    ) parts`.execute(lists)
  const { total = 0, used = 0, banned = 0, past = 0, past_used: pastUsed = 0 } = rows[0] ?? {}
  return { total, active: used - pastUsed, unused: total - used - (past - pastUsed), expired: past, banned }
}

/** Below this many matches they are gathered and sorted; above, the list is walked until a page is full. */
const fewMatches = 20_000

interface Found {
  /** In no particular order. */
  seqs: number[]
  pagination: Pagination
}

/** The licenses on a page; their number is known from the counts. */
export async function pageOfLicenses(
  database: Database,
  filter: LicenseFilter,
  page: Page & { sort: Sort },
  stats: LicenseStats,
): Promise<Found> {
  const total = filter.status === undefined ? stats.total : stats[filter.status]
  const pagination = toPagination({ page: page.page, limit: page.limit }, total, false)
  const target = seek(page, total, page.sort)
  if (!target) return { seqs: [], pagination }
  const { rows } = await sql<{ seq: number }>`
    select l.seq as seq from licenses l ${indexHint(database, filter, total)}
    where ${within(filter)} ${withStatus(filter)}
    order by l.seq ${sql.raw(target.order)} limit ${target.limit} offset ${target.offset}`.execute(
    database.lists,
  )
  return { seqs: rows.map((row) => row.seq), pagination }
}

/**
 * Looks at the next licenses before a `seq`, at most `count` of them, newest first, and tells which the status
 * lets through: a step of a long walk that never scans far.
 */
export async function windowOfLicenses(
  database: Database,
  filter: LicenseFilter,
  before: number,
  count: number,
): Promise<{ seq: number; hit: 0 | 1 }[]> {
  const banned = filter.status === 'banned'
  const hint = indexHint(database, { ...filter, status: banned ? 'banned' : undefined }, 0)
  const { rows } = await sql<{ seq: number; hit: 0 | 1 }>`
    select l.seq as seq, case when 1 = 1 ${withStatus(filter)} then 1 else 0 end as hit from licenses l ${hint}
    where ${within(filter)} and l.seq < ${before} ${banned ? withStatus(filter) : sql``}
    order by l.seq desc limit ${count}`.execute(database.db)
  return rows
}

/** SQLite keeps no statistics that would tell it which way is short; PostgreSQL finds out by itself. */
function indexHint(database: Database, filter: LicenseFilter, total: number): RawBuilder<unknown> {
  if (database.dialect !== 'sqlite') return sql``
  const by = filter.appId === undefined ? 'owner' : 'app'
  if (filter.status === 'banned') return sql.raw(`indexed by licenses_${by}_banned`)
  const gather = filter.status !== undefined && total <= fewMatches
  return sql.raw(`indexed by licenses_${by}${gather ? '_expiry' : ''}`)
}

/** The licenses on a page of a search, which counts no further than `limits.searchCountMax`. */
export async function searchLicenses(
  database: Database,
  filter: LicenseFilter,
  page: Page & { sort: Sort },
  term: SearchTerm,
): Promise<Found> {
  const offset = (page.page - 1) * page.limit
  const { rows } = await sql<{ seq: number | null; total: number }>`
    with hits as (${searchHits(database, filter, term, page.sort)}),
      shown as (select seq from hits order by seq ${sql.raw(orderOf[page.sort])} limit ${page.limit} offset ${offset})
    select shown.seq as seq, counted.total as total
    from (select count(*) as total from hits) counted left join shown on 1 = 1`.execute(database.lists)
  const seqs = rows.map((row) => row.seq).filter((seq) => seq !== null)
  return { seqs, pagination: toPagination({ page: page.page, limit: page.limit }, rows[0]?.total ?? 0, true) }
}

function searchHits(
  database: Database,
  filter: LicenseFilter,
  term: SearchTerm,
  sort: Sort,
): RawBuilder<unknown> {
  const mine = sql`${ofOwner(database, filter)}
    ${filter.appId === undefined ? sql`` : sql`and l.app_id = ${filter.appId}`} ${withStatus(filter)}`
  if (/^lic_[0-9a-f]{32}$/.test(term.text)) {
    return sql`select l.seq from licenses l where l.id = ${term.text} and ${mine}`
  }
  if (term.short) return byBeginning(filter, term, mine)
  return database.dialect === 'sqlite' ? bySqliteIndex(term, mine, sort) : byPostgresIndex(term, mine)
}

/** The plus keeps SQLite from walking the owner's index from end to end: searches come by a shorter way. */
const ofOwner = ({ dialect }: Database, { scope }: LicenseFilter): RawBuilder<unknown> =>
  dialect === 'sqlite' ? sql`+l.owner_id = ${scope.ownerId}` : sql`l.owner_id = ${scope.ownerId}`

const enough = limits.searchCountMax + 1

const either = (one: RawBuilder<unknown>, other: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select seq from (${one} limit ${enough}) a union select seq from (${other} limit ${enough}) b`

const keyOrNote = (
  inKey: RawBuilder<unknown> | undefined,
  inNote: RawBuilder<unknown>,
): RawBuilder<unknown> => (inKey === undefined ? inNote : sql`(${inKey} or ${inNote})`)

/** In the order of the list, so that of more hits than are counted the ones to be shown first are found. */
function bySqliteIndex(term: SearchTerm, mine: RawBuilder<unknown>, sort: Sort): RawBuilder<unknown> {
  const inOrder = sql`order by s.rowid ${sql.raw(orderOf[sort])}`
  const inKey = term.key === undefined ? undefined : sql`instr(l.key_normalized, ${term.key}) > 0`
  return either(
    sql`select l.seq from license_search s cross join licenses l on l.seq = s.rowid
      where s.license_search match ${trigramQuery(term.text, term.key)} and ${mine}
        and ${keyOrNote(inKey, sql`instr(lower_unicode(l.note), ${term.text}) > 0`)} ${inOrder}`,
    sql`select l.seq from client_search s cross join clients c on c.seq = s.rowid
        cross join licenses l on l.client_id = c.id
      where s.client_search match ${trigramQuery(term.text)} and ${mine}
        and instr(c.username_normalized, ${term.text}) > 0 ${inOrder}`,
  )
}

function byPostgresIndex(term: SearchTerm, mine: RawBuilder<unknown>): RawBuilder<unknown> {
  const inKey = term.key === undefined ? undefined : sql`l.key_normalized like ${anywhere(term.key)}`
  return either(
    sql`select l.seq from licenses l
      where ${mine} and ${keyOrNote(inKey, sql`lower(l.note) like ${anywhere(term.text)}`)}`,
    sql`select l.seq from clients c join licenses l on l.client_id = c.id
      where ${mine} and c.username_normalized like ${anywhere(term.text)}`,
  )
}

function byBeginning(
  filter: LicenseFilter,
  term: SearchTerm,
  mine: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const byKey =
    term.key === undefined
      ? sql`select l.seq from licenses l where 1 = 0`
      : sql`select l.seq from apps a cross join licenses l
          where a.owner_id = ${filter.scope.ownerId} and l.app_id = a.id and l.key_normalized >= ${term.key}
            and l.key_normalized < ${afterPrefix(term.key)} and ${mine}`
  return either(
    byKey,
    sql`select l.seq from apps a cross join clients c cross join licenses l
      where a.owner_id = ${filter.scope.ownerId} and c.app_id = a.id and c.username_normalized >= ${term.text}
        and c.username_normalized < ${afterPrefix(term.text)} and l.client_id = c.id and ${mine}`,
  )
}
