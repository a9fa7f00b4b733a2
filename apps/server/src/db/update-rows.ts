import { CompiledQuery, type Updateable } from 'kysely'
import { needsLocks, runBeforeNext } from './open.ts'
import type { Db, Tables, Tx } from './tables.ts'

interface Place {
  id: string
  owner_id?: string
}

/** An update that sets those columns which are not undefined. */
export function updateOf<Table extends keyof Tables & string>(
  db: Db,
  table: Table,
  change: Updateable<Tables[Table]>,
  where: Place,
): CompiledQuery {
  const isPostgres = needsLocks(db)
  const parameters: unknown[] = []
  const equal = ([column, value]: [string, unknown]): string => {
    parameters.push(value)
    return `"${column}" = ${isPostgres ? `$${parameters.length}` : '?'}`
  }
  const set = Object.entries(change).filter(([, value]) => value !== undefined)
  const text = `update "${table}" set ${set.map(equal).join(', ')} where ${Object.entries(where).map(equal).join(' and ')}`
  return CompiledQuery.raw(text, parameters)
}

/** Updates a row, on PostgreSQL together with the transaction's next query. */
export const updateRows = <Table extends keyof Tables & string>(
  tx: Tx,
  table: Table,
  change: Updateable<Tables[Table]>,
  where: Place,
): Promise<void> => runBeforeNext(tx, [updateOf(tx, table, change, where)])
