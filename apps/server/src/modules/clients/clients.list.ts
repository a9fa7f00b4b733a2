import { type ClientStatus, limits } from '@keyward/contract'
import { type RawBuilder, sql } from 'kysely'
import { hour } from '../../core/clock.ts'
import type { OwnerScope } from '../../core/ctx.ts'
import { orderOf, type Page, type Pagination, type Sort, seek, toPagination } from '../../core/paging.ts'
import type { Database } from '../../db/open.ts'
import { afterPrefix, anywhere, type SearchTerm, trigramQuery } from '../../db/search.ts'

/** Which end users: an owner's, or of one app that is known to be the owner's. */
export interface ClientFilter {
  scope: OwnerScope
  appId?: string | undefined
  status?: ClientStatus | undefined
  now: number
}

export interface ClientStats {
  total: number
  active: number
  banned: number
  expired: number
}

// In every query below `c` is the table of end users, or of their counts.
const within = ({ scope, appId }: ClientFilter): RawBuilder<unknown> =>
  appId === undefined ? sql`c.owner_id = ${scope.ownerId}` : sql`c.app_id = ${appId}`

function withStatus({ status, now }: ClientFilter): RawBuilder<unknown> {
  switch (status) {
    case 'active':
      return sql`and c.banned = 0 and c.expires_at > ${now}`
    case 'expired':
      return sql`and c.banned = 0 and c.expires_at <= ${now}`
    case 'banned':
      return sql`and c.banned = 1`
    default:
      return sql``
  }
}

const blockHours = 256

/** Counted as licenses are: by blocks of hours, by hours, and row by row in the hour that is running. */
export async function countByStatus({ lists }: Database, filter: ClientFilter): Promise<ClientStats> {
  const lastHour = Math.floor(filter.now / hour)
  const running = Math.floor(lastHour / blockHours)
  const { rows } = await sql<Record<'total' | 'banned' | 'expired', number>>`
    select coalesce(sum(n), 0) as total, coalesce(sum(n * banned), 0) as banned,
      coalesce(sum(past * (1 - banned)), 0) as expired
    from (
      select c.n as n, c.banned as banned, case when c.block < ${running} then c.n else 0 end as past
      from client_blocks c where ${within(filter)}
      union all
      select 0, c.banned, c.n from client_counts c
      where ${within(filter)} and c.bucket >= ${running * blockHours} and c.bucket <= ${lastHour}
      union all
      select 0, 0, 1 from clients c
      where ${within(filter)} and c.banned = 0
        and c.expires_at > ${lastHour * hour} and c.expires_at <= ${filter.now}
    ) parts`.execute(lists)
  const { total = 0, banned = 0, expired = 0 } = rows[0] ?? {}
  return { total, active: total - banned - expired, banned, expired }
}

const fewMatches = 20_000

interface Found {
  /** In no particular order. */
  seqs: number[]
  pagination: Pagination
}

/** The end users on a page; their number is known from the counts. */
export async function pageOfClients(
  database: Database,
  filter: ClientFilter,
  page: Page & { sort: Sort },
  stats: ClientStats,
): Promise<Found> {
  const total = filter.status === undefined ? stats.total : stats[filter.status]
  const pagination = toPagination({ page: page.page, limit: page.limit }, total, false)
  const target = seek(page, total, page.sort)
  if (!target) return { seqs: [], pagination }
  const { rows } = await sql<{ seq: number }>`
    select c.seq as seq from clients c ${indexHint(database, filter, total)}
    where ${within(filter)} ${withStatus(filter)}
    order by c.seq ${sql.raw(target.order)} limit ${target.limit} offset ${target.offset}`.execute(
    database.lists,
  )
  return { seqs: rows.map((row) => row.seq), pagination }
}

/**
 * Looks at the next end users before a `seq`, at most `count` of them, newest first, and tells which the status
 * lets through: a step of a long walk that never scans far.
 */
export async function windowOfClients(
  database: Database,
  filter: ClientFilter,
  before: number,
  count: number,
): Promise<{ seq: number; hit: 0 | 1 }[]> {
  const banned = filter.status === 'banned'
  const hint = indexHint(database, { ...filter, status: banned ? 'banned' : undefined }, 0)
  const { rows } = await sql<{ seq: number; hit: 0 | 1 }>`
    select c.seq as seq, case when 1 = 1 ${withStatus(filter)} then 1 else 0 end as hit from clients c ${hint}
    where ${within(filter)} and c.seq < ${before} ${banned ? withStatus(filter) : sql``}
    order by c.seq desc limit ${count}`.execute(database.db)
  return rows
}

function indexHint(database: Database, filter: ClientFilter, total: number): RawBuilder<unknown> {
  if (database.dialect !== 'sqlite') return sql``
  const by = filter.appId === undefined ? 'owner' : 'app'
  if (filter.status === 'banned') return sql.raw(`indexed by clients_${by}_banned`)
  const gather = filter.status !== undefined && total <= fewMatches
  return sql.raw(`indexed by clients_${by}${gather ? '_expiry' : ''}`)
}

/** The end users on a page of a search, which counts no further than `limits.searchCountMax`. */
export async function searchClients(
  database: Database,
  filter: ClientFilter,
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

const enough = limits.searchCountMax + 1

function searchHits(
  database: Database,
  filter: ClientFilter,
  term: SearchTerm,
  sort: Sort,
): RawBuilder<unknown> {
  // The plus keeps SQLite from walking the owner's index from end to end: searches come by a shorter way.
  const mine = sql`${sql.raw(database.dialect === 'sqlite' ? '+' : '')}c.owner_id = ${filter.scope.ownerId}
    ${filter.appId === undefined ? sql`` : sql`and c.app_id = ${filter.appId}`} ${withStatus(filter)}`
  if (/^usr_[0-9a-f]{32}$/.test(term.text)) {
    return sql`select c.seq from clients c where c.id = ${term.text} and ${mine}`
  }
  const inOrder = sql`order by s.rowid ${sql.raw(orderOf[sort])}`
  const byName = nameHits(database, filter, term, mine, inOrder)
  if (term.key === undefined) return sql`select seq from (${byName} limit ${enough}) a`
  const byKey = keyHits(database, filter, { ...term, key: term.key }, mine, inOrder)
  return sql`select seq from (${byName} limit ${enough}) a union select seq from (${byKey} limit ${enough}) b`
}

const apps = (filter: ClientFilter) => sql`(select id from apps where owner_id = ${filter.scope.ownerId})`

function nameHits(
  database: Database,
  filter: ClientFilter,
  term: SearchTerm,
  mine: RawBuilder<unknown>,
  inOrder: RawBuilder<unknown>,
) {
  if (term.short) {
    return sql`select c.seq from clients c
      where c.app_id in ${apps(filter)} and c.username_normalized >= ${term.text}
        and c.username_normalized < ${afterPrefix(term.text)} and ${mine}`
  }
  if (database.dialect === 'sqlite') {
    return sql`select c.seq from client_search s cross join clients c on c.seq = s.rowid
      where s.client_search match ${trigramQuery(term.text)} and ${mine}
        and instr(c.username_normalized, ${term.text}) > 0 ${inOrder}`
  }
  return sql`select c.seq from clients c where ${mine} and c.username_normalized like ${anywhere(term.text)}`
}

function keyHits(
  database: Database,
  filter: ClientFilter,
  term: SearchTerm & { key: string },
  mine: RawBuilder<unknown>,
  inOrder: RawBuilder<unknown>,
) {
  if (term.key.length < 3) {
    return sql`select c.seq from licenses l join clients c on c.id = l.client_id
      where l.app_id in ${apps(filter)} and l.key_normalized >= ${term.key}
        and l.key_normalized < ${afterPrefix(term.key)} and ${mine}`
  }
  if (database.dialect === 'sqlite') {
    return sql`select c.seq from license_search s cross join licenses l on l.seq = s.rowid
        cross join clients c on c.id = l.client_id
      where s.license_search match ${trigramQuery(term.key)} and ${mine} and instr(l.key_normalized, ${term.key}) > 0
      ${inOrder}`
  }
  return sql`select c.seq from licenses l join clients c on c.id = l.client_id
    where ${mine} and l.key_normalized like ${anywhere(term.key)}`
}
