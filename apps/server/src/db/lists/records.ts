import { type ActionName, limits } from '@keyward/contract'
import { type RawBuilder, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import type { Page } from '../../core/paging.ts'
import { type Database, syntaxOf } from '../engine.ts'
import { isOneOf } from '../scope.ts'

type Sql = RawBuilder<unknown>
/** A query of the numbers and times of records. */
export type Found = Sql

export interface RecordFilter {
  scope: OwnerScope
  actor?: string | undefined
  action?: ActionName | undefined
  subject?: string | undefined
  /** An app in the scope. */
  app?: string | undefined
  /** Both in milliseconds since 1970, inclusive. */
  from?: number | undefined
  to?: number | undefined
}

/** The columns that narrow a list, each with an index in the order of the list. */
const indexes = {
  subject: ['audit_subject', 'target_id'],
  actor: ['audit_actor', 'actor_id'],
  action: ['audit_action', 'action'],
  app: ['audit_app', 'app_id'],
} as const
type Narrowing = keyof typeof indexes
const narrowings = Object.keys(indexes) as Narrowing[]

/** One more than is counted, which shows that there are more. */
export const enough = limits.searchCountMax + 1

export const byTime = sql`order by created_at desc, seq desc`

type Column = (name: string) => Sql

const plain: Column = (name) => sql.ref(`t.${name}`)

/** For records that are found by another column: SQLite keeps no statistics to choose its index. */
export const wrapped: Column = (name) => sql`coalesce(${plain(name)}, '')`

/** Whether a record is in the scope and matches the filters. */
export function matches(filter: RecordFilter, column: Column = plain): Sql {
  const { scope, from, to } = filter
  const conditions = [sql`${column('owner_id')} = ${scope.ownerId}`]
  if (scope.apps && filter.app === undefined) conditions.push(isOneOf(scope.apps, column('app_id')))
  for (const name of narrowings) {
    if (filter[name] !== undefined) conditions.push(sql`${column(indexes[name][1])} = ${filter[name]}`)
  }
  if (from !== undefined) conditions.push(sql`t.created_at >= ${from}`)
  if (to !== undefined) conditions.push(sql`t.created_at <= ${to}`)
  return sql.join(conditions, sql` and `)
}

/** The newest `count` records that match, read by an index in their order. */
export const newest = (
  { lists }: Database,
  filter: RecordFilter,
  by: Narrowing | 'owner',
  { also = sql``, count }: { also?: Sql; count: number },
): Sql => {
  const index = by === 'owner' ? 'audit_owner' : indexes[by][0]
  return sql`select * from (select t.seq as seq, t.created_at as created_at
    from ${sql.raw(syntaxOf(lists).indexed('audit', 't', index))}
    where ${matches(filter)} ${also} order by t.created_at desc, t.seq desc limit ${count}) part`
}

/** A query of the newest records that match a filter. */
export type Walk = (options: { also?: Sql; count: number }) => Sql

/** Chooses the index with the fewest records. Some apps are read app by app, because the index of one has their order. */
export async function toWalk(database: Database, filter: RecordFilter): Promise<Walk> {
  const present = narrowings.filter((name) => filter[name] !== undefined)
  const { apps } = filter.scope
  const isOfSome = apps !== null && filter.app === undefined
  const single = present.length === 1 && !isOfSome ? present[0] : undefined
  const narrowest = single ?? (await findNarrowest(database, filter, present, isOfSome))
  if (narrowest) return (options) => newest(database, filter, narrowest, options)
  if (!isOfSome) return (options) => newest(database, filter, 'owner', options)
  return (options) => {
    const parts = [...apps].map((app) => newest(database, { ...filter, app }, 'app', options))
    if (parts.length === 0) return sql`select seq, created_at from audit where 1 = 0`
    return sql`select * from (${sql.join(parts, sql` union all `)}) parts ${byTime} limit ${options.count}`
  }
}

async function findNarrowest(
  { lists }: Database,
  filter: RecordFilter,
  present: Narrowing[],
  isOfSome: boolean,
): Promise<Narrowing | undefined> {
  if (present.length === 0) return undefined
  const { scope, from, to } = filter
  const counts = present.map((name) => {
    const [index] = indexes[name]
    const alone = { scope: { ...scope, apps: null }, [name]: filter[name], from, to }
    return sql`select ${name} as name, (select count(*) from (
      select 1 from ${sql.raw(syntaxOf(lists).indexed('audit', 't', index))}
      where ${matches(alone)} limit ${enough}) counted) as n`
  })
  const { rows } = await sql<{ name: Narrowing; n: number }>`${sql.join(counts, sql` union all `)}`.execute(
    lists,
  )
  const [narrowest] = rows.toSorted((a, b) => Number(a.n) - Number(b.n))
  return isOfSome && Number(narrowest?.n) >= enough ? undefined : narrowest?.name
}

/** How many records a query finds. */
export async function countFound({ lists }: Database, found: Sql): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from (${found}) found`.execute(lists)
  return Number(rows[0]?.n)
}

/** The numbers of a page of the records that a query finds, and how many it finds. */
export async function findRecords(
  { lists }: Database,
  found: Found,
  { page, limit }: Page,
): Promise<{ seqs: number[]; total: number }> {
  const { rows } = await sql<{ seq: number | null; n: number }>`
    with hits as materialized (${found}),
      shown as (select seq, created_at from hits ${byTime} limit ${limit} offset ${(page - 1) * limit})
    select shown.seq as seq, counted.n as n
    from (select count(*) as n from hits) counted left join shown on 1 = 1
    ${byTime}`.execute(lists)
  return { seqs: rows.map(({ seq }) => seq).filter((seq) => seq !== null), total: Number(rows[0]?.n) }
}

/** The next records of a walk after one of them, newest first. */
export async function nextSeqs(
  { lists }: Database,
  walk: Walk,
  last: { seq: number; created_at: number } | undefined,
  count: number,
): Promise<{ seq: number; created_at: number }[]> {
  const also = last
    ? sql`and t.created_at <= ${last.created_at} and (t.created_at < ${last.created_at} or t.seq < ${last.seq})`
    : sql``
  const { rows } = await sql<{ seq: number; created_at: number }>`
    select seq, created_at from (${walk({ also, count })}) next ${byTime}`.execute(lists)
  return rows
}
