import { limits } from '@keyward/contract'
import type { Ctx, OwnerScope } from '../../core/ctx.ts'
import type { Page, Pagination, Sort } from '../../core/paging.ts'
import { invalid } from '../../core/problem.ts'
import type { Database } from '../../db/open.ts'
import { type SearchTerm, toSearchTerm } from '../../db/search.ts'
import { getApp } from '../apps/apps.service.ts'
import { inSlices, type Seen, walkDown } from './export.walk.ts'

interface Filter<Status> {
  scope: OwnerScope
  appId: string | undefined
  status: Status | undefined
  now: number
}

/** What can be exported: how its rows are counted, searched, walked through and read. */
interface Source<Status extends string, Row> {
  countByStatus(database: Database, filter: Filter<Status>): Promise<Record<Status | 'total', number>>
  search(
    database: Database,
    filter: Filter<Status>,
    page: Page & { sort: Sort },
    term: SearchTerm,
  ): Promise<{ seqs: number[]; pagination: Pagination }>
  window(database: Database, filter: Filter<Status>, before: number, count: number): Promise<Seen[]>
  read(ctx: Ctx, scope: OwnerScope, seqs: readonly number[], now: number): Promise<Row[]>
}

export interface ExportQuery<Status> {
  app?: string | undefined
  status?: Status | undefined
  search?: string | undefined
}

/**
 * All rows that the filters let through, newest first, in slices. Refuses before the first slice when there
 * are more than can be exported, so that no file is cut short.
 */
export async function exportRows<Status extends string, Row>(
  ctx: Ctx,
  scope: OwnerScope,
  source: Source<Status, Row>,
  query: ExportQuery<Status>,
): Promise<AsyncGenerator<Row[]>> {
  const now = ctx.clock.now()
  const appId = query.app === undefined ? undefined : (await getApp(ctx.db, scope, query.app)).id
  const filter = { scope, appId, status: query.status, now }
  const seqs = await findSeqs(ctx, source, filter, toSearchTerm(query.search))
  return (async function* () {
    for await (const slice of seqs) yield await source.read(ctx, scope, slice, now)
  })()
}

async function findSeqs<Status extends string, Row>(
  ctx: Ctx,
  source: Source<Status, Row>,
  filter: Filter<Status>,
  term: SearchTerm | undefined,
): Promise<AsyncGenerator<number[]>> {
  if (term) {
    const page = { page: 1, limit: limits.searchCountMax, sort: 'newest' } as const
    const found = await source.search(ctx.database, filter, page, term)
    if (found.pagination.capped) throw tooMany('search', limits.searchCountMax)
    return inSlices(found.seqs)
  }
  const counts = await source.countByStatus(ctx.database, filter)
  if (counts[filter.status ?? 'total'] > limits.exportRowsMax) throw tooMany('app', limits.exportRowsMax)
  return walkDown((before, count) => source.window(ctx.database, filter, before, count))
}

const tooMany = (path: string, max: number) =>
  invalid(path, `More than ${max.toLocaleString('en-US')} rows match. Narrow the filters to export them.`)
