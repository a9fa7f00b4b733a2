import { limits } from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { invalid } from '../../core/problem.ts'
import { readPatiently } from '../../db/index.ts'
import { countOf, type List, type ListFilter, type ListQuery } from '../../db/lists/list-filters.ts'
import { searchPage } from '../../db/lists/list-search.ts'
import { nextWindow } from '../../db/lists/lists.ts'
import { type SearchTerm, toSearchTerm } from '../../db/lists/search.ts'
import type { Ctx } from '../../service/ctx.ts'
import { toListFilter } from '../licenses/licenses.origins.ts'
import { toSlices, walkDown } from './export.walk.ts'

/** An exportable list and how its rows are read. */
interface Source<Status extends string, Row> {
  list: List<Status>
  read(ctx: Ctx, scope: OwnerScope, seqs: readonly number[], now: number): Promise<Row[]>
}

/**
 * All rows that match the filters, newest first, in slices. Rejects before the first slice if there are too many, so
 * that no file is cut short.
 */
export async function exportRows<Status extends string, Row>(
  ctx: Ctx,
  actor: VendorActor,
  source: Source<Status, Row>,
  query: Pick<ListQuery<Status>, 'app' | 'status' | 'type' | 'reseller' | 'search'>,
): Promise<AsyncGenerator<Row[]>> {
  const now = ctx.clock.now()
  const filter = await toListFilter(ctx.db, actor, query, now)
  const seqs = await findSeqs(ctx, source.list, filter, toSearchTerm(query.search))
  return (async function* () {
    for await (const slice of seqs) yield await readPatiently(() => source.read(ctx, actor, slice, now))
  })()
}

async function findSeqs<Status extends string>(
  ctx: Ctx,
  list: List<Status>,
  filter: ListFilter<Status>,
  term: SearchTerm | undefined,
): Promise<AsyncGenerator<number[]>> {
  if (term) {
    const page = { page: 1, limit: limits.searchCountMax, sort: 'newest' } as const
    const found = await searchPage(ctx.database, list, filter, page, term)
    if (found.pagination.capped) throw tooMany('search', limits.searchCountMax)
    return toSlices(found.seqs)
  }
  const counts = await list.count(ctx.database, filter)
  if ((await countOf(ctx.database, list, filter, counts)) > limits.exportRowsMax)
    throw tooMany('app', limits.exportRowsMax)
  return walkDown((before, count) => nextWindow(ctx.database, list, filter, before, count))
}

const tooMany = (path: string, max: number) =>
  invalid(path, `More than ${max.toLocaleString('en-US')} rows match. Narrow the filters to export them.`)
