import { type ActionName, limits } from '@keyward/contract'
import { type RawBuilder, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import type { Page } from '../../core/paging.ts'
import { type Database, syntaxOf } from '../engine.ts'
import { isOneOf } from '../scope.ts'

type Sql = RawBuilder<unknown>
/** A query of the numbers and times of records. */
export type Found = Sql

export interface About {
  id: string
  related: readonly string[]
  /** The last record whose objects are in the index; undefined if all are. */
  linked: number | undefined
}

export interface RecordFilter {
  scope: OwnerScope
  actor?: string | undefined
  actors?: 'people' | 'programs' | undefined
  action?: ActionName | undefined
  /** A few actions, each of them rare. */
  actions?: readonly ActionName[] | undefined
  subject?: string | undefined
  /** An object or an actor, and what belongs to it. */
  about?: About | undefined
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

interface WalkOptions {
  also?: Sql
  count: number
}

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
  if (filter.actors) {
    const isPerson = sql.join(peoplesRanges(column('actor_id')), sql` or `)
    conditions.push(filter.actors === 'people' ? sql`(${isPerson})` : sql`not (${isPerson})`)
  }
  if (filter.actions) conditions.push(sql`${column('action')} in (${sql.join(filter.actions)})`)
  if (filter.about) conditions.push(isAbout(filter.about, column))
  if (from !== undefined) conditions.push(sql`t.created_at >= ${from}`)
  if (to !== undefined) conditions.push(sql`t.created_at <= ${to}`)
  return sql.join(conditions, sql` and `)
}

const isAbout = ({ id, related, linked }: About, column: Column): Sql => {
  const ids = [id, ...related]
  const recent = linked === undefined ? sql`` : sql`or t.seq in (${listedSince(linked, ids)})`
  return sql`(${column('target_id')} in (${sql.join(ids)}) or ${column('actor_id')} = ${id}
    or t.seq in (select o.seq from audit_objects o where o.object_id in (${sql.join(ids)})) ${recent})`
}

/**
 * What the ids of people begin with in the audit log, and those of people without an id; all others are programs. The account of
 * an early owner has the id of its vendor.
 */
const peoplesIds = {
  prefixes: ['acc_', 'cus_', 'lic_', 'own_', 'res_', 'usr_'],
  others: ['anonymous', 'command line'],
}

/** Ids are hexadecimal after their prefix, so that these ranges are the same in every order of texts. */
const peoplesRanges = (actor: Sql): Sql[] => [
  ...peoplesIds.prefixes.map((prefix) => sql`${actor} >= ${prefix} and ${actor} < ${`${prefix}g`}`),
  ...peoplesIds.others.map((id) => sql`${actor} = ${id}`),
]

/** Records whose lists are not in the index yet and have one of the ids. */
const listedSince = (linked: number, ids: readonly string[]): Sql => {
  const hasOne = ids.map((id) => sql`instr(l.objects, ${JSON.stringify(id)}) > 0`)
  return sql`select l.seq from audit_lists l where l.seq > ${linked} and (${sql.join(hasOne, sql` or `)})`
}

/** The newest `count` records that match, read by an index in their order. */
export const newest = (
  { lists }: Database,
  filter: RecordFilter,
  by: Narrowing | 'owner',
  { also = sql``, count }: WalkOptions,
): Sql => {
  const index = by === 'owner' ? 'audit_owner' : indexes[by][0]
  return sql`select * from (select t.seq as seq, t.created_at as created_at
    from ${sql.raw(syntaxOf(lists).indexed('audit', 't', index))}
    where ${matches(filter)} ${also} order by t.created_at desc, t.seq desc limit ${count}) part`
}

/** A query of the newest records that match a filter. */
export type Walk = (options: WalkOptions) => Sql

/** Up to so many records of people are read and sorted; of more, all records are walked until enough are theirs. */
const fewOfPeople = 100_000

/** The same records, read from the index of actors by the ranges of people's ids; of each range `most` in any order. */
const rangesOfPeople = (
  { lists }: Database,
  { actors: _, ...filter }: RecordFilter,
  { also = sql``, most }: Pick<WalkOptions, 'also'> & { most: number },
): Sql[] =>
  peoplesRanges(plain('actor_id')).map(
    (isOne) => sql`select * from (select t.seq as seq, t.created_at as created_at
      from ${sql.raw(syntaxOf(lists).indexed('audit', 't', 'audit_actor'))}
      where ${matches(filter)} and ${isOne} ${also} limit ${most}) part`,
  )

/** Whether enough of the newest records are of people: a page is read in their order then, like one of all records. */
const hasNewOfPeople = async (
  database: Database,
  { actors: _, ...filter }: RecordFilter,
): Promise<boolean> => {
  const index = syntaxOf(database.lists).indexed('audit', 't', 'audit_owner')
  const recent = sql`select t.actor_id from ${sql.raw(index)} where ${matches(filter)}
    order by t.created_at desc, t.seq desc limit ${2 * enough}`
  const isPerson = sql.join(peoplesRanges(plain('actor_id')), sql` or `)
  return (
    (await countFound(database, sql`select 1 from (${recent}) t where ${isPerson} limit ${enough}`)) ===
    enough
  )
}

interface WalkedBy {
  mostOfPeople?: number | undefined
  /** Whether no more than `enough` records are walked. */
  isPage?: boolean
}

/** Chooses the index with the fewest records. Several actions or apps are read one by one: the index of one has their order. */
export async function toWalk(
  database: Database,
  filter: RecordFilter,
  { mostOfPeople = fewOfPeople, isPage = false }: WalkedBy = {},
): Promise<Walk> {
  if (filter.about) return walkAbout(database, filter, filter.about)
  const present = narrowings.filter((name) => filter[name] !== undefined)
  const { apps } = filter.scope
  const { actions, action, subject } = filter
  if (actions && action === undefined && subject === undefined) {
    const alone = { ...filter, actions: undefined }
    return (options) =>
      newestOf(
        actions.map((one) => newest(database, { ...alone, action: one }, 'action', options)),
        options.count,
      )
  }
  const isOfSome = apps !== null && filter.app === undefined
  if (filter.actors === 'people' && subject === undefined) {
    const all = { ...filter, scope: { ...filter.scope, apps: null }, action: undefined, app: undefined }
    const countTo = (most: number) => {
      const ranges = sql.join(rangesOfPeople(database, all, { most }), sql` union all `)
      return countFound(database, sql`select * from (${ranges}) parts limit ${most}`)
    }
    const isAll = isPage && present.length === 0 && !isOfSome
    if (isAll && (await countTo(enough)) === enough && (await hasNewOfPeople(database, filter)))
      return (options) => newest(database, filter, 'owner', options)
    const found = await countTo(mostOfPeople + 1)
    if (found <= mostOfPeople)
      return ({ also, count }) =>
        newestOf(rangesOfPeople(database, filter, { also, most: fewOfPeople + 1 }), count)
  }
  const single = present.length === 1 && !isOfSome ? present[0] : undefined
  const narrowest = single ?? (await findNarrowest(database, filter, present, isOfSome))
  if (narrowest) return (options) => newest(database, filter, narrowest, options)
  if (!isOfSome) return (options) => newest(database, filter, 'owner', options)
  return (options) =>
    newestOf(
      [...apps].map((app) => newest(database, { ...filter, app }, 'app', options)),
      options.count,
    )
}

function newestOf(parts: Sql[], count: number): Sql {
  if (parts.length === 0) return sql`select seq, created_at from audit where 1 = 0`
  return sql`select * from (${sql.join(parts, sql` union all `)}) parts ${byTime} limit ${count}`
}

/** As subject, as one of several objects, and as actor; each through an index of its own. */
async function walkAbout(
  database: Database,
  { about: _, ...filter }: RecordFilter,
  { id, related, linked }: About,
): Promise<Walk> {
  const isFree = (name: 'actor' | 'subject', one: string) =>
    filter[name] === undefined || filter[name] === one
  const ids = [id, ...related]
  const byActor = isFree('actor', id) ? await toWalk(database, { ...filter, actor: id }) : undefined
  return (options) => {
    const linkedTo = (one: string) => sql`select o.seq from audit_objects o where o.object_id = ${one}`
    const parts = ids.map((one) => ofObjects(filter, linkedTo(one), options))
    if (linked !== undefined) parts.push(ofObjects(filter, listedSince(linked, ids), options))
    for (const subject of ids.filter((one) => isFree('subject', one))) {
      parts.push(newest(database, { ...filter, subject }, 'subject', options))
    }
    if (byActor) parts.push(sql`select * from (${byActor(options)}) acted`)
    return sql`select * from (${sql.join(parts, sql` union `)}) parts ${byTime} limit ${options.count}`
  }
}

/** Numbers are nearly in the order of time. */
const ofObjects = (filter: RecordFilter, seqs: Sql, { also = sql``, count }: WalkOptions): Sql =>
  sql`select * from (select t.seq as seq, t.created_at as created_at
    from (${seqs}) o join audit t on t.seq = o.seq
    where ${matches(filter, wrapped)} ${also} order by o.seq desc limit ${count}) part`

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
