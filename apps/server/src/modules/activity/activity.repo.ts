import { type RawBuilder, sql } from 'kysely'
import type { OwnerScope } from '../../core/actor.ts'
import type { Page } from '../../core/paging.ts'
import { type Database, type Db, foundInScope, inScope, isOneOf, prepared, type Tx } from '../../db/index.ts'
import { countUpTo } from '../../db/lists/pages.ts'
import type { ActivityRow } from '../../db/tables.ts'
import { type EventMatches, matchingAny } from './activity.search.ts'

type Sql = RawBuilder<unknown>

export type NewActivity = Omit<ActivityRow, 'seq'>

/** Repetitions of a row that is stored already. */
export interface Repeat {
  reference: string
  times: number
  last_at: number
  app_id: string
  share: NewActivity['share']
}

/** Inserts events of all owners and adds them to the counts of their apps' shares. */
export async function insertActivity(
  tx: Tx,
  rows: readonly NewActivity[],
  repeats: readonly Repeat[],
): Promise<void> {
  if (rows.length > 0) {
    // A reference that is taken is as likely as a guessed one; losing an event is better than a failed batch.
    await prepared.insert(tx, 'activity', rows, 'reference').execute()
    const counts = new Map<string, Pick<NewActivity, 'app_id' | 'share' | 'owner_id'> & { n: number }>()
    for (const { app_id, share, owner_id } of rows) {
      const key = `${app_id} ${share}`
      counts.set(key, { app_id, share, owner_id, n: (counts.get(key)?.n ?? 0) + 1 })
    }
    // Sorted, so that two nodes lock the counts in the same order.
    const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count)
    await tx
      .insertInto('activity_shares')
      .values(sorted)
      .onConflict((conflict) =>
        conflict.columns(['app_id', 'share']).doUpdateSet({ n: sql`activity_shares.n + excluded.n` }),
      )
      .execute()
  }
  for (const { reference, times, last_at } of repeats) {
    await tx
      .updateTable('activity')
      .set({ times: sql`times + ${times}`, last_at })
      .where('reference', '=', reference)
      .execute()
  }
}

export interface ActivityFilter {
  app?: string | undefined
  client?: string | undefined
  /** The events of a license, and what a search looks for: an event is in each of these. */
  among?: readonly EventMatches[]
  kinds?: readonly string[] | undefined
  code?: string | undefined
  from?: number | undefined
  to?: number | undefined
}

/** An event with the names of its app and end user, as far as they still exist. */
export interface ActivityView extends ActivityRow {
  app_name: string | null
  app_public_id: string | null
  username: string | null
}

/** A page of an owner's events, newest first, and their number up to `most` + 1. */
export async function pageActivity(
  { lists }: Database,
  scope: OwnerScope,
  filter: ActivityFilter,
  { page, limit }: Page,
  most: number,
): Promise<{ rows: ActivityView[]; total: number }> {
  const total = await countUpTo(lists, eventsOf(lists, scope, filter, most + 1).select('t.seq'), most)
  const offset = (page - 1) * limit
  if (offset >= Math.min(total, most)) return { rows: [], total }
  const rows = await eventsOf(lists, scope, filter, offset + limit)
    .leftJoin('apps as a', 'a.id', 't.app_id')
    .leftJoin('clients as c', 'c.id', 't.client_id')
    .selectAll('t')
    .select(['a.name as app_name', 'a.app_id as app_public_id', 'c.username'])
    .orderBy('t.created_at', 'desc')
    .orderBy('t.seq', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  return { rows, total }
}

/** The newest events that match a filter, at least `count` of them. */
function eventsOf(lists: Db, scope: OwnerScope, filter: ActivityFilter, count: number) {
  if (filter.among && filter.among.length > 0) {
    const mine = matchesFilter(scope, filter)
    return filter.among.reduce(
      (found, any) =>
        found.where('t.seq', 'in', sql<number>`(${matchingAny(lists, mine, scope.ownerId, any, count)})`),
      lists.selectFrom('activity as t'),
    )
  }
  const isWide = filter.app === undefined && filter.client === undefined
  const apps = isWide && scope.apps ? [...scope.apps] : [filter.app]
  const kinds = filter.kinds ?? [undefined]
  const parts = apps.flatMap((app) => kinds.map((kind) => ({ ...filter, app, kind })))
  const [first, ...others] = parts
  if (first === undefined || parts.length === 1) return matching(lists, scope, first ?? filter)
  // Part by part, because the index of an app, and that of a kind, yields its events in order.
  const newest = (part: Part) =>
    lists
      .selectFrom(
        matching(lists, scope, part)
          .select('t.seq')
          .orderBy('t.created_at', 'desc')
          .orderBy('t.seq', 'desc')
          .limit(count)
          .as('part'),
      )
      .select('part.seq')
  const seqs = others.reduce((union, part) => union.unionAll(newest(part)), newest(first))
  return lists.selectFrom('activity as t').where('t.seq', 'in', seqs)
}

type Part = Omit<ActivityFilter, 'kinds'> & { kind?: string | undefined }

function matching(lists: Db, scope: OwnerScope, filter: Part) {
  const narrowest =
    filter.client !== undefined ? 'client_id' : filter.app !== undefined ? 'app_id' : 'owner_id'
  // Only this column may choose an index: without statistics SQLite would prefer the owner's and scan it.
  const of = (column: 'owner_id' | 'app_id' | 'client_id') =>
    column === narrowest
      ? sql.ref<string>(`t.${column}`)
      : sql<string>`coalesce(${sql.ref(`t.${column}`)}, '')`
  let found = lists.selectFrom('activity as t').where(of('owner_id'), '=', scope.ownerId)
  if (scope.apps) found = found.where(isOneOf(scope.apps, of('app_id')))
  if (filter.app !== undefined) found = found.where(of('app_id'), '=', filter.app)
  if (filter.client !== undefined) found = found.where(of('client_id'), '=', filter.client)
  if (filter.kind !== undefined) found = found.where('t.kind', '=', filter.kind).where('t.code', 'is', null)
  if (filter.code === 'any') found = found.where('t.code', 'is not', null)
  else if (filter.code !== undefined) found = found.where('t.code', '=', filter.code)
  if (filter.from !== undefined) found = found.where('t.created_at', '>=', filter.from)
  if (filter.to !== undefined) found = found.where('t.created_at', '<=', filter.to)
  return found
}

/** The conditions of a filter for rows that are found by another column: none of these may choose an index. */
function matchesFilter(scope: OwnerScope, filter: ActivityFilter): Sql {
  const column = (name: string): Sql => sql`coalesce(${sql.ref(`t.${name}`)}, '')`
  const conditions = [sql`${column('owner_id')} = ${scope.ownerId}`]
  if (scope.apps) conditions.push(isOneOf(scope.apps, column('app_id')))
  const { app, client, kinds, code, from, to } = filter
  if (app !== undefined) conditions.push(sql`${column('app_id')} = ${app}`)
  if (client !== undefined) conditions.push(sql`${column('client_id')} = ${client}`)
  if (kinds) conditions.push(isOneOf(new Set(kinds), column('kind')))
  if (code === 'any') conditions.push(sql`${column('code')} <> ''`)
  else if (code !== undefined) conditions.push(sql`${column('code')} = ${code}`)
  if (from !== undefined) conditions.push(sql`t.created_at >= ${from}`)
  if (to !== undefined) conditions.push(sql`t.created_at <= ${to}`)
  return sql.join(conditions, sql` and `)
}

/** Whether the owner has this end user, in the app if one is named. */
export async function hasEndUser(
  db: Db,
  scope: OwnerScope,
  id: string,
  appId: string | undefined,
): Promise<boolean> {
  let found = db.selectFrom('clients as c').select('c.id').where('c.id', '=', id)
  if (appId !== undefined) found = found.where(sql`coalesce(c.app_id, '')`, '=', appId)
  return (await found.where(foundInScope(scope, 'c')).executeTakeFirst()) !== undefined
}

/** The key and the end user of a license. */
export const findLicense = (
  db: Db,
  scope: OwnerScope,
  id: string,
  appId: string | undefined,
): Promise<{ key: string; client_id: string | null } | undefined> => {
  const found = db.selectFrom('licenses as l').select(['l.key', 'l.client_id']).where('l.id', '=', id)
  const ofApp = appId === undefined ? found : found.where(sql`coalesce(l.app_id, '')`, '=', appId)
  return ofApp.where(foundInScope(scope, 'l')).executeTakeFirst()
}

export const findActivity = (
  db: Db,
  scope: OwnerScope,
  reference: string,
): Promise<ActivityView | undefined> =>
  db
    .selectFrom('activity as t')
    .leftJoin('apps as a', 'a.id', 't.app_id')
    .leftJoin('clients as c', 'c.id', 't.client_id')
    .selectAll('t')
    .select(['a.name as app_name', 'a.app_id as app_public_id', 'c.username'])
    .where('t.reference', '=', reference)
    .where(inScope(scope, 't'))
    .executeTakeFirst()

/** The last refusal of each end user since a time. */
export async function listLastRefusals(
  db: Db,
  scope: OwnerScope,
  clientIds: readonly string[],
  since: number,
): Promise<ActivityRow[]> {
  const [first, ...others] = clientIds.map((id) =>
    db
      .selectFrom(
        matching(db, scope, { client: id, code: 'any', from: since })
          .selectAll('t')
          .orderBy('t.created_at', 'desc')
          .orderBy('t.seq', 'desc')
          .limit(1)
          .as('last'),
      )
      .selectAll('last'),
  )
  return first ? others.reduce((union, one) => union.unionAll(one), first).execute() : []
}

/** The last refusal of each subject since a time, or one in each way that it matches. */
export const listRefusalsOf = (
  db: Db,
  scope: OwnerScope,
  subjects: EventMatches,
  since: number,
): Promise<ActivityRow[]> =>
  eventsOf(db, scope, { code: 'any', from: since, among: [subjects] }, 1)
    .selectAll('t')
    .execute()

/** The shares of all apps with events, across all owners; without days when the app was deleted. */
export const listShares = (db: Db) =>
  db
    .selectFrom('activity_shares as n')
    .leftJoin('apps as a', 'a.id', 'n.app_id')
    .select(['n.app_id', 'n.share', 'n.n', 'a.activity_days'])
    .execute()

type ShareOfApp = Pick<NewActivity, 'app_id' | 'share'>

/** Deletes up to `count` of the oldest events of a share, those before `before` or all, and returns how many. */
export async function deleteOldest(
  tx: Tx,
  { app_id, share }: ShareOfApp,
  before: number | undefined,
  count: number,
): Promise<number> {
  let oldest = tx.selectFrom('activity').select('seq').where('app_id', '=', app_id).where('share', '=', share)
  if (before !== undefined) oldest = oldest.where('created_at', '<', before)
  const deleted = await tx
    .deleteFrom('activity')
    .where('seq', 'in', oldest.orderBy('created_at').orderBy('seq').limit(count))
    .returning('seq')
    .execute()
  if (deleted.length > 0) {
    await tx
      .updateTable('activity_shares')
      .set({ n: sql`n - ${deleted.length}` })
      .where('app_id', '=', app_id)
      .where('share', '=', share)
      .execute()
  }
  return deleted.length
}

export async function deleteShare(tx: Tx, { app_id, share }: ShareOfApp): Promise<void> {
  await tx.deleteFrom('activity_shares').where('app_id', '=', app_id).where('share', '=', share).execute()
}
