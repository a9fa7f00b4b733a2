import { syntaxOf } from './engine.ts'
import type { Db, Tx } from './tables.ts'

// Where transactions run one after the other, no row needs a lock.

/**
 * Locks the row that a query returns until the transaction ends. Others can still insert rows that refer to it, which FOR
 * UPDATE would prevent.
 */
export const lock = <Query extends { forNoKeyUpdate(): Query }>(tx: Db, query: Query): Query =>
  syntaxOf(tx).locksRows ? query.forNoKeyUpdate() : query

/** Keeps the row that a query returns from changing until the transaction ends. */
export const lockShared = <Query extends { forShare(): Query }>(tx: Db, query: Query): Query =>
  syntaxOf(tx).locksRows ? query.forShare() : query

/** Locks the rows that a query returns, in the order of their ids: callers would deadlock otherwise. */
export const lockAll = <Query extends { orderBy(column: 'id'): { forUpdate(): Query } }>(
  tx: Db,
  query: Query,
): Query => (syntaxOf(tx).locksRows ? query.orderBy('id').forUpdate() : query)

/** Does work that only locks rows, if rows need locks. */
export async function takeLocks(tx: Tx, work: () => Promise<unknown>): Promise<void> {
  if (syntaxOf(tx).locksRows) await work()
}
