import { type Compilable, type RawBuilder, type SqlBool, sql } from 'kysely'
import { allApps, type OwnerScope } from '../../core/actor.ts'
import { isByEnd, isByName, type NameSort, orderOf, type Sort } from '../../core/paging.ts'
import { syntaxOf } from '../engine.ts'
import { foundInScope } from '../scope.ts'
import { prepared, rowsOf } from '../statements.ts'
import type { Db } from '../tables.ts'

interface Sorted {
  seq: number
  expires_at: number
}

/**
 * Reads the rows of a page, sorted like the list; by names, in the order of `seqs`. `view` makes their query from a condition on the table with that alias;
 * for callers with all apps it is built once.
 */
export function pageRows<Row extends Sorted>(
  alias: string,
  view: (db: Db, scope: OwnerScope, isOfPage: RawBuilder<SqlBool>) => Compilable<Row>,
): (db: Db, scope: OwnerScope, seqs: readonly number[], sort: Sort | NameSort) => Promise<Row[]> {
  const build = (db: Db, scope: OwnerScope, seqs: string) => {
    const isOfPage = syntaxOf(db).isAmong(`${alias}.seq`, seqs, 'bigint')
    return view(db, scope, sql`${isOfPage} and ${foundInScope(scope, alias)}`)
  }
  const ofAllApps = prepared((db, { ownerId, seqs }: { ownerId: string; seqs: string }) =>
    build(db, allApps(ownerId), seqs),
  )
  return async (db, scope, numbers, sort) => {
    if (numbers.length === 0) return []
    const seqs = JSON.stringify(numbers)
    const statement =
      scope.apps === null
        ? ofAllApps.with(db, { ownerId: scope.ownerId, seqs })
        : build(db, scope, seqs).compile()
    return (await rowsOf(db, statement)).toSorted(
      isByName(sort) ? (a, b) => numbers.indexOf(a.seq) - numbers.indexOf(b.seq) : inOrderOf(sort),
    )
  }
}

function inOrderOf(sort: Sort): (a: Sorted, b: Sorted) => number {
  const sign = orderOf[sort] === 'asc' ? 1 : -1
  if (!isByEnd(sort)) return (a, b) => sign * (a.seq - b.seq)
  return (a, b) => sign * (a.expires_at - b.expires_at || a.seq - b.seq)
}
