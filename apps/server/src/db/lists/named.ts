import { limits } from '@keyward/contract'
import { sql } from 'kysely'
import { byName, type NameSort, toPagination } from '../../core/paging.ts'
import { invalid } from '../../core/problem.ts'
import { type Database, syntaxOf } from '../engine.ts'
import { appInScope, inScope } from '../scope.ts'
import {
  type Found,
  indexed,
  type List,
  type ListFilter,
  type SortedPage,
  type Sql,
  toIndex,
  within,
  withStatus,
} from './list-filters.ts'

/** So many apps or types are read at once. */
const atOnce = 8

/** A page sorted by names, the newest of each first; of more rows than a search counts, the first ones of the apps or types. */
export async function namedPage<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  page: SortedPage<NameSort>,
  total: number,
): Promise<Found> {
  const pagination = toPagination(page, total, true)
  const from = (page.page - 1) * page.limit
  if (pagination.capped && byName[page.sort].by === 'user')
    throw invalid('sort', `Lists of more than ${limits.searchCountMax} rows cannot be sorted by user.`)
  if (from >= pagination.total) return { seqs: [], pagination }
  const seqs =
    total <= limits.searchCountMax
      ? await sortAll(database, list, filter, page.sort)
      : await walkNamed(database, list, filter, page.sort, { total, most: from + page.limit })
  return { seqs: seqs.slice(from, from + page.limit), pagination }
}

const columns = { app: sql.ref('t.app_id'), type: sql.ref('t.type_id') }

const { compare } = new Intl.Collator('en', { numeric: true })

/** The ids of the apps or types in their order, regardless of case. */
async function readGroups(
  { lists }: Database,
  { scope, appId }: ListFilter<string>,
  sort: NameSort,
): Promise<string[]> {
  const { by, order } = byName[sort]
  const ofApp = appId === undefined ? sql`` : sql`and a.id = ${appId}`
  const found =
    by === 'app'
      ? sql`select id, name, '' as app from apps a where ${appInScope(scope)}`
      : sql`select t.id, t.name, a.name as app from license_types t join apps a on a.id = t.app_id
        where ${inScope(scope, 't')}`
  const { rows } = await sql<{ id: string; name: string; app: string }>`${found} ${ofApp}`.execute(lists)
  const ids = rows
    .sort((a, b) => compare(a.name, b.name) || compare(a.app, b.app) || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id)
  return order === 'asc' ? ids : ids.reverse()
}

/** Few rows are read whole; those without a name come last. */
async function sortAll<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  sort: NameSort,
): Promise<number[]> {
  const { by, order } = byName[sort]
  const found = sql`${indexed(database, list.table, filter, toIndex(filter, 0))}
    where ${within(filter)} ${withStatus(database, list, filter)}`
  if (by === 'user') {
    const names = list.byUser(sql.raw(order), database, filter)
    const byUser = sql<{ seq: number }>`select t.seq as seq from ${found} order by ${names}, t.seq desc`
    return (await byUser.execute(database.lists)).rows.map(({ seq }) => seq)
  }
  const groups = await readGroups(database, filter, sort)
  const rankOf = new Map(groups.map((id, rank) => [id, rank]))
  const { rows } = await sql<{ seq: number; id: string | null }>`
    select t.seq as seq, ${columns[by]} as id from ${found}`.execute(database.lists)
  return rows
    .map(({ seq, id }) => ({ seq, rank: rankOf.get(id ?? '') ?? groups.length }))
    .sort((a, b) => a.rank - b.rank || b.seq - a.seq)
    .map(({ seq }) => seq)
}

/** The first rows, group by group: the index of each has its rows in their order. */
export async function walkNamed<Status extends string>(
  database: Database,
  list: List<Status>,
  filter: ListFilter<Status>,
  sort: NameSort,
  { total, most }: { total: number; most: number },
): Promise<number[]> {
  const { by } = byName[sort]
  const groups = await readGroups(database, filter, sort)
  const seqs: number[] = []
  const read = async (parts: Sql[]) => {
    const found = parts.map(
      (part, rank) => sql`select ${sql.lit(rank)} as rank, part.seq as seq
        from (${part} order by t.seq desc limit ${most - seqs.length}) part`,
    )
    const { rows } = await sql<{
      seq: number
    }>`select rank, seq from (${sql.join(found, sql` union all `)}) parts
      order by rank, seq desc limit ${most - seqs.length}`.execute(database.lists)
    for (const { seq } of rows) seqs.push(seq)
  }
  const selectOf = (
    part: ListFilter<Status>,
    rows: Sql,
    condition: Sql,
  ) => sql`select t.seq as seq from ${rows}
    where ${condition} ${withStatus(database, list, part)}`
  const ofGroup = (id: string) => {
    if (by === 'type') {
      const rows = sql.raw(syntaxOf(database.lists).indexed('licenses', 't', 'licenses_type'))
      return selectOf(filter, rows, sql`t.type_id = ${id}`)
    }
    const part = { ...filter, appId: id }
    return selectOf(part, indexed(database, list.table, part, toIndex(filter, total)), within(part))
  }
  for (let at = 0; at < groups.length && seqs.length < most; at += atOnce) {
    await read(groups.slice(at, at + atOnce).map(ofGroup))
  }
  if (by === 'type' && seqs.length < most) {
    const rows = indexed(database, list.table, filter, toIndex(filter, total))
    await read([selectOf(filter, rows, sql`${within(filter)} and ${columns.type} is null`)])
  }
  return seqs
}
